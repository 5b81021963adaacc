"""Random certificates, changed at random in structure and in bytes: none is confirmed that says anything more.

An attacker changes the files of an honest certificate and computes everything anew that can be computed. A changed
certificate may be confirmed only where everything that it says was said by the honest one, at no higher level.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from thence.proofs.certificate.build import derived_files
from thence.proofs.certificate.forms.json_form import compact
from thence.proofs.certificate.manifest import BadManifest, manifest_of
from thence.proofs.certificate.reading import NotACertificate
from thence.proofs.certificate.recheck import Recheck, recheck
from thence.proofs.solving.discharge import Options

Manifest = dict[str, Any]
Step = Callable[[Any, Manifest, random.Random], None]

# --- random sources ----------------------------------------------------------------------------

GUARDS = ("pass", "require forall a. sent(a) and src(a) = src(m) implies delivered(a)", "require forall a. not sent(a)")
INVARIANTS = (
    "forall m. delivered(m) implies sent(m)",
    "forall p, a. past(p, a) and src(a) != p implies delivered(a)",
    "forall m. not delivered(m)",
    "forall a, b. hb(a, b) implies sent(b)",
    "exists p: process. p = p",
)
REACHABLE = (
    "exists m. delivered(m)",
    "forall p: process. p != p",
    "exists a, b. sent(a) and sent(b) and a != b",
    "exists m. delivered(m) and not sent(m)",
)
PROPERTIES = (
    "forall a, b. good(a) and edge(a, b) implies good(b)",
    "forall a, b. good(a) and reach(a, b) implies good(b)",
    "forall a. good(a)",
    "forall a, b. reach(a, b) implies edge(a, b)",
    "forall a. good(a) or not good(a)",
)


def machine_text(chance: random.Random) -> str:
    """A machine with invariants and reachable formulas, some of them false."""
    lines = [
        "machine simple:",
        "  transition causal_send(m):",
        f"    {chance.choice(GUARDS)}",
        "  transition deliver(m):",
    ]
    lines.append("    require sent(m) and not delivered(m)")
    for number, body in enumerate(chance.sample(INVARIANTS, 2)):
        lines.append(f"  invariant i{number}: {body}")
    for number, body in enumerate(chance.sample(REACHABLE, 2)):
        lines.append(f"  reachable r{number}: {body}")
    lines.append(f"  prove {chance.choice(('no_creation', 'at_most_once', 'causal', 'fifo'))}")
    return "\n".join(lines) + "\n"


def theory_text(chance: random.Random) -> str:
    """A theory with theorems about reachability, some of them false."""
    lines = ["theory spread:", "  sort node", "  relation good: node", "  relation edge(a: node, b: node)"]
    lines += [
        "  inductive reach(a, b):",
        "    direct: edge(a, b)",
        "    further: exists x. reach(a, x) and reach(x, b)",
    ]
    lines += [f"  property p{number}: {body}" for number, body in enumerate(PROPERTIES)]
    for number in range(3):
        assumed, proved = chance.sample(range(len(PROPERTIES)), 2)
        lines += ["", f"theorem t{number} in spread:", f"  assume p{assumed}", f"  prove p{proved}"]
    return "\n".join(lines) + "\n"


# --- changes of structure ----------------------------------------------------------------------


def two(items: Sequence[Any], chance: random.Random) -> tuple[Any, Any]:
    first, second = chance.sample(range(len(items)), 2) if len(items) > 1 else (0, 0)
    return items[first], items[second]


def turn_verdict(forged: Any, value: Manifest, chance: random.Random) -> None:
    statement = chance.choice(value["statements"])
    statement["verdict"] = "refuted" if statement["verdict"] == "proved" else "proved"
    if chance.random() < 0.5:
        for each in statement["evidence"]:
            each |= chance.choice(({"shows": "refuted", "name": ""}, {"shows": "happens", "name": "witness"}))


def swap_fields(forged: Any, value: Manifest, chance: random.Random) -> None:
    one, other = two(value["statements"], chance)
    for name in chance.sample(sorted(one), chance.randint(1, 5)):
        one[name], other[name] = other[name], one[name]


def other_level(forged: Any, value: Manifest, chance: random.Random) -> None:
    chance.choice(value["statements"])["level"] = chance.choice(["L2", "L3", "L4"])


def other_results(forged: Any, value: Manifest, chance: random.Random) -> None:
    if value["obligations"]:
        chance.choice(value["obligations"])["results"] = chance.choice(
            [{"z3": "unsat"}, {}, {"z3": "unknown", "cvc5": "unsat"}]
        )


def drop_statement(forged: Any, value: Manifest, chance: random.Random) -> None:
    statement = chance.choice(value["statements"])
    value["statements"].remove(statement)
    if chance.random() < 0.5:
        value["omitted"].append({name: statement[name] for name in ("kind", "subject", "name")})
    tidy(forged, value)


def copy_statement(forged: Any, value: Manifest, chance: random.Random) -> None:
    one, other = two(value["statements"], chance)
    copied = json.loads(json.dumps(one))
    for each in copied["evidence"]:
        content = (forged.directory / each["file"]).read_bytes()
        each["file"] = f"evidence/{chance.randint(5000, 9999)}.json"
        (forged.directory / each["file"]).write_bytes(content)
    copied["name"] = chance.choice([other["name"], "more", "fifo", "total_order", "causal", "ghost_past_closed"])
    value["statements"].append(copied)


def drop_obligation(forged: Any, value: Manifest, chance: random.Random) -> None:
    statement = chance.choice(value["statements"])
    if statement["obligations"]:
        statement["obligations"].remove(chance.choice(statement["obligations"]))
        tidy(forged, value)


def no_obligations(forged: Any, value: Manifest, chance: random.Random) -> None:
    chance.choice(value["statements"])["obligations"] = []
    tidy(forged, value)


def no_evidence(forged: Any, value: Manifest, chance: random.Random) -> None:
    statement = chance.choice(value["statements"])
    statement["evidence"] = [each for each in statement["evidence"] if chance.random() < 0.4]
    tidy(forged, value)


def swap_files(forged: Any, value: Manifest, chance: random.Random) -> None:
    folder = chance.choice(["obligations", "evidence", "proofs"])
    files = sorted((forged.directory / folder).iterdir()) if (forged.directory / folder).is_dir() else []
    if len(files) > 1:
        first, second = chance.sample(files, 2)
        kept = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(kept)


def renumber(forged: Any, value: Manifest, chance: random.Random) -> None:
    if not value["obligations"]:
        return
    each = chance.choice(value["obligations"])
    new = f"obligations/{chance.randint(5000, 9999)}.smt2"
    (forged.directory / each["file"]).rename(forged.directory / new)
    for statement in value["statements"]:
        statement["obligations"] = [new if file == each["file"] else file for file in statement["obligations"]]
    each["file"] = new


def change_evidence(forged: Any, value: Manifest, chance: random.Random) -> None:
    files = [each["file"] for statement in value["statements"] for each in statement["evidence"]]
    if not files:
        return
    path = forged.directory / chance.choice(files)
    evidence = json.loads(path.read_text(encoding="utf-8"))
    match chance.randrange(6):
        case 0:
            evidence["universe"] = dict.fromkeys(evidence["universe"], 0)
            evidence["tables"] = {name: [] for name in evidence["tables"]}
            evidence |= {"steps": []} if "steps" in evidence else {}
        case 1:
            evidence["universe"][chance.choice(sorted(evidence["universe"]))] += chance.choice([-1, 1, 300])
        case 2 if evidence.get("steps"):
            evidence["steps"].pop(chance.randrange(len(evidence["steps"])))
        case 3 if evidence.get("steps"):
            evidence["steps"].append(chance.choice(evidence["steps"]))
        case 4:
            rows = evidence["tables"][chance.choice(sorted(evidence["tables"]))]
            if rows:
                row = chance.choice(rows)
                row[-1] = not row[-1] if isinstance(row[-1], bool) else 1 - row[-1]
        case _:
            evidence["universe"]["more"] = 1
    path.write_bytes(compact(evidence))


LINES = ("(assert false)", "(assert false) ; x", "(push 1)", '(echo "unsat")', "(assert true) ; x \r(assert false)")


def change_obligation(forged: Any, value: Manifest, chance: random.Random) -> None:
    if not value["obligations"]:
        return
    each = chance.choice(value["obligations"])
    lines = forged.text(each["file"]).split("\n")
    place = chance.randrange(2, len(lines) - 1)
    match chance.randrange(4):
        case 0:
            lines.insert(place, chance.choice(LINES))
        case 1:
            lines.pop(place)
        case 2:
            lines[place] = lines[place].partition(" ; ")[0] + " ; something else"
        case _:
            goal = next(number for number, line in enumerate(lines) if "; the goal" in line)
            lines[goal] = "(assert (not true)) ; the goal " + lines[goal].partition("; the goal ")[2]
    (forged.directory / each["file"]).write_text("\n".join(lines), encoding="utf-8", newline="")
    if chance.random() < 0.5:
        forged.remove(*each["proofs"].values())
        each["proofs"] = {}


WORDS = (("forall", "exists"), ("and", "or"), ("not ", ""), ("sent(m)", "true"), ("delivered", "sent"), (" != ", " = "))


def change_source(forged: Any, value: Manifest, chance: random.Random) -> None:
    path = forged.directory / value["source"]
    old, new = chance.choice(WORDS)
    parts = path.read_text(encoding="utf-8").split(old)
    if len(parts) > 1:
        place = chance.randrange(1, len(parts))
        path.write_text(old.join(parts[:place]) + new + old.join(parts[place:]), encoding="utf-8")


def change_words(forged: Any, value: Manifest, chance: random.Random) -> None:
    statement = chance.choice(value["statements"])
    match chance.randrange(6):
        case 0:
            statement["says"] = ["P equals NP"]
        case 1:
            statement["id"] = chance.choice(value["statements"])["id"]
        case 2:
            statement["kind"] = chance.choice(["theorem", "machine", "mutant"])
        case 3:
            statement["subject"] = "another"
        case 4:
            value["omitted"].append({"kind": "theorem", "subject": "another", "name": "more"})
        case _:
            value["thence"] = "0.0.1"


STEPS: tuple[Step, ...] = (
    turn_verdict,
    swap_fields,
    other_level,
    other_results,
    drop_statement,
    copy_statement,
    drop_obligation,
    no_obligations,
    no_evidence,
    swap_files,
    renumber,
    change_evidence,
    change_obligation,
    change_source,
    change_words,
)


def tidy(forged: Any, value: Manifest) -> None:
    """Removes the obligations and files that nothing refers to any more."""
    used = {file for statement in value["statements"] for file in statement["obligations"]}
    value["obligations"] = [each for each in value["obligations"] if each["file"] in used]
    proofs = {file for each in value["obligations"] for file in each["proofs"].values()}
    shown = {each["file"] for statement in value["statements"] for each in statement["evidence"]}
    for folder, kept in (("obligations", used), ("proofs", proofs), ("evidence", shown)):
        for path in list((forged.directory / folder).glob("*")):
            if f"{folder}/{path.name}" not in kept:
                path.unlink()


def levels(value: Manifest) -> None:
    """The levels that the recorded results give, as far as an attacker can know."""
    results = {each["file"]: each["results"] for each in value["obligations"]}
    for statement in value["statements"]:
        listed = [results.get(file, {}) for file in statement["obligations"]]
        twice = listed and all(sum(status == "unsat" for status in each.values()) >= 2 for each in listed)
        statement["level"] = "L3" if twice else "L2"


# --- the claim ---------------------------------------------------------------------------------


def claims(value: Manifest) -> dict[tuple[str, ...], int]:
    """Everything that a manifest says about statements, with the level."""
    return {
        (*(each[name] for name in ("kind", "subject", "name", "verdict", "id")), *each["says"]): int(each["level"][1])
        for each in value["statements"]
    }


def assert_says_nothing_more(forged: Any, honest: Manifest, done: Sequence[str]) -> None:
    value = forged.manifest()
    said = claims(honest)
    for claim, level in claims(value).items():
        assert claim in said and level <= said[claim], (done, claim)
    listed = {
        tuple(sorted(each.items()))
        for each in (*value["statements"], *value["omitted"])
        for each in [{name: each[name] for name in ("kind", "subject", "name")}]
    }
    assert len(listed) == len(honest["statements"]) + len(honest["omitted"]), done
    for file, content in derived_files(manifest_of(value)).items():
        assert (forged.directory / file).read_bytes() == content, (done, file)


def confirmed(directory: Path) -> bool:
    """Whether a recheck confirms anything, without its checker: the certificates here have no checked proof object."""
    try:
        found: Recheck = recheck(directory, Options(workers=1), None)
    except NotACertificate:
        return False
    return any(each.confirmed for each in found.confirmations)


def try_forgeries(forge: Callable[[Path], Any], original: Path, chance: random.Random, count: int) -> int:
    """Forges the certificate `count` times; how many of these said no more than it and were confirmed."""
    honest = json.loads((original / "manifest.json").read_text(encoding="utf-8"))
    harmless = 0
    for _ in range(count):
        forged = forge(original)
        value = forged.manifest()
        steps = chance.choices(STEPS, k=chance.choice([1, 1, 2, 3]))
        done = [step.__name__ for step in steps]
        try:
            for step in steps:
                step(forged, value, chance)
            if chance.random() < 0.5:
                levels(value)
            forged.sign(lambda manifest, value=value: manifest.update(value))
        except (BadManifest, OSError, IndexError, KeyError, UnicodeDecodeError):
            shutil.rmtree(forged.directory)
            continue  # no certificate comes of it that could be sent
        if confirmed(forged.directory):
            assert_says_nothing_more(forged, honest, done)
            harmless += 1
        shutil.rmtree(forged.directory)
    return harmless


@pytest.mark.long(but=("theory-0",), share=2)
@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("kind", [theory_text, machine_text], ids=["theory", "machine"])
def test_no_random_forgery_says_more(
    certify: Callable[..., Any], forge: Callable[[Path], Any], kind: Callable[[random.Random], str], number: int
) -> None:
    chance = random.Random(number)
    original = certify(f"random{number}", kind(chance), checked=False)[1]
    assert confirmed(original)
    count = 8 if number == 0 else 40
    assert try_forgeries(forge, original, chance, count) < count


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("number", range(4), ids=str)
def test_no_random_byte_is_overlooked(certify: Callable[..., Any], forge: Callable[[Path], Any], number: int) -> None:
    """A byte is changed anywhere, and the sums are written anew: only an unchecked proof object of cvc5 may differ."""
    chance = random.Random(number)
    original = certify("bytes", theory_text(chance), checked=False)[1]
    files = [path.relative_to(original) for path in sorted(original.rglob("*")) if path.is_file()]
    for _ in range(10 if number == 0 else 60):
        forged = forge(original)
        path = forged.directory / chance.choice(files)
        content = path.read_bytes()
        place = chance.randrange(len(content))
        path.write_bytes(content[:place] + bytes([content[place] ^ chance.randrange(1, 256)]) + content[place + 1 :])
        if path.name != "SHA256SUMS":
            forged.sum()
        if path.suffix != ".alethe":
            assert not confirmed(forged.directory) or says_the_same(forged.directory, original), path.name
        shutil.rmtree(forged.directory)


def says_the_same(directory: Path, original: Path) -> bool:
    """Whether two certificates differ in nothing but the recorded time limits, and in what no statement depends on."""
    one, other = (json.loads((each / "manifest.json").read_text(encoding="utf-8")) for each in (directory, original))
    for each in (one, other):
        for name in ("authors", "programs"):
            each.pop(name)
    return bool(one == other)
