"""Forgeries that were confirmed once, and others of their kinds: none is, whatever an attacker computes anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thence.proofs.certificate.forms.json_form import compact
from thence.proofs.certificate.recheck import Recheck, Thoroughness

Forge = Callable[[Path], Any]
Change = Callable[[dict[str, Any]], None]

SIMPLE = """\
machine simple:
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  invariant inhabited: exists p: process. p = p
  reachable got: exists m. delivered(m)
  reachable absurd: forall p: process. p != p
"""

THEORY = """\
theory things:
  sort thing
  relation good(x: thing)
  property first: exists a. good(a) or not good(a)

theorem something in things:
  prove first
"""


@pytest.fixture(scope="session")
def simple(certify: Callable[..., Any]) -> Path:
    directory: Path = certify("simple", SIMPLE, checked=False)[1]
    return directory


@pytest.fixture(scope="session")
def things(certify: Callable[..., Any]) -> Path:
    directory: Path = certify("things", THEORY, checked=False)[1]
    return directory


def named(value: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in value["statements"] if each["name"] == name)
    return found


def assert_not_confirmed(found: Recheck, told: str = "") -> None:
    assert not found.confirmed
    assert not any(each.confirmed for each in found.confirmations)
    assert found.faults
    assert any(told in fault for fault in found.faults), found.faults


def empty_run(forged: Any, of: str) -> bytes:
    """A run over no message and no process, made from that of a statement."""
    file = named(forged.manifest(), of)["evidence"][0]["file"]
    run = json.loads(forged.text(file))
    run |= {"universe": {"message": 0, "process": 0}, "steps": [], "tables": {name: [] for name in run["tables"]}}
    return compact(run)


def rest_on_evidence(forged: Any, name: str, verdict: str, shown: dict[str, str], content: bytes) -> None:
    """Lets a statement rest on one piece of evidence, with whatever else has to go then."""
    file = "evidence/0099.json"
    (forged.directory / "evidence").mkdir(exist_ok=True)
    (forged.directory / file).write_bytes(content)
    value = forged.manifest()
    statement = named(value, name)
    old = [each["file"] for each in statement["evidence"]]
    statement |= {"verdict": verdict, "obligations": [], "level": "L2", "evidence": [{**shown, "file": file}]}
    used = {each for other in value["statements"] for each in other["obligations"]}
    for each in [each for each in value["obligations"] if each["file"] not in used]:
        value["obligations"].remove(each)
        forged.remove(each["file"], *each["proofs"].values())
    forged.remove(*old)
    forged.sign(lambda manifest: manifest.update(value))


def test_honest_ones_are_confirmed(forge: Forge, simple: Path, things: Path) -> None:
    verdicts = {
        each["name"]: each["verdict"] for each in json.loads((simple / "manifest.json").read_text())["statements"]
    }
    assert (verdicts["got"], verdicts["absurd"], verdicts["inhabited"]) == ("proved", "refuted", "proved")
    assert forge(things).recheck().confirmed


@pytest.mark.parametrize(
    ("name", "verdict", "shown"),
    [
        ("absurd", "proved", {"shows": "happens", "name": "witness"}),
        ("inhabited", "refuted", {"shows": "refuted", "name": ""}),
    ],
)
def test_a_run_without_elements_shows_nothing(
    forge: Forge, simple: Path, name: str, verdict: str, shown: dict[str, str]
) -> None:
    forged = forge(simple)
    rest_on_evidence(forged, name, verdict, shown, empty_run(forged, "got"))
    assert_not_confirmed(forged.recheck(), "less than the minimum of 1")


def test_an_execution_without_elements_shows_nothing(forge: Forge, things: Path) -> None:
    forged = forge(things)
    model = {"kind": "model", "universe": {"thing": 0}, "tables": {"good": []}, "environment": {}}
    rest_on_evidence(forged, "something", "refuted", {"shows": "refuted", "name": ""}, compact(model))
    assert_not_confirmed(forged.recheck(), "less than the minimum of 1")


@pytest.mark.parametrize("empty", ["thing", "process", "message", "quorum"])
@pytest.mark.parametrize("kind", ["model", "run"])
def test_no_kind_of_evidence_has_an_empty_sort(empty: str, kind: str) -> None:
    from thence.proofs.certificate.evidence import FalseEvidence, model_of

    if kind == "run":
        from thence.proofs.certificate.evidence import _structure

        with pytest.raises(FalseEvidence, match="at least 1"):
            _structure({"universe": {"other": 2, empty: 0}, "tables": {}})
    else:
        content = compact({"kind": kind, "universe": {"other": 2, empty: 0}, "tables": {}, "environment": {}})
        with pytest.raises(FalseEvidence, match="at least 1"):
            model_of(content)


@pytest.mark.parametrize("shown", [("refuted", ""), ("happens", "witness"), ("refuted", "witness"), ("happens", "")])
def test_what_was_reached_is_not_refuted_by_the_same_run(forge: Forge, simple: Path, shown: tuple[str, str]) -> None:
    forged = forge(simple)

    def change(value: dict[str, Any]) -> None:
        got = named(value, "got")
        got["verdict"] = "refuted"
        got["evidence"][0] |= {"shows": shown[0], "name": shown[1]}

    forged.sign(change)
    assert_not_confirmed(forged.recheck(), "got")


def test_every_verdict_turned_round_is_found(forge: Forge, simple: Path) -> None:
    forged = forge(simple)
    honest = forged.manifest()
    for statement in honest["statements"]:
        turned = "refuted" if statement["verdict"] == "proved" else "proved"
        forged.sign(lambda value, name=statement["name"], turned=turned: named(value, name).update(verdict=turned))  # type: ignore[misc]
        assert_not_confirmed(forged.recheck(), statement["name"])
        forged.sign(lambda value: value.update(honest))
    assert forged.recheck().confirmed


CUBES = "(declare-const k0 Int)\n(declare-const k1 Int)\n(declare-const k2 Int)\n"
SUM = "(= (+ (+ k0 k1) k2) 42)"


@pytest.mark.parametrize(
    "line",
    [
        f"(assert {SUM}) ; x \r(assert false)",
        f"(assert {SUM}) ; x \x0b(assert false)",
        f"(assert {SUM}) ; x \u2028(assert false)",
        f"(assert {SUM}) ; x \x85(assert false)",
        f"(assert {SUM}) ; x \x00(assert false)",
        f"(assert {SUM}) ; |x (assert false)|",
        '(set-info :source "',
        "(define-fun true () Bool false)",
        "(declare-fun true () Bool)",
        "(assert (let ((k0 k1)) false))",
        "(push 1)",
        "(reset)",
        "(get-value (k0))",
        "(include-file)",
    ],
)
@pytest.mark.parametrize("rederived", [True, False], ids=["", "no-rederive"])
def test_no_text_is_read_in_two_ways(forge: Forge, things: Path, line: str, rederived: bool) -> None:
    forged = forge(things)
    text = f"; something follows\n(set-logic ALL)\n{CUBES}{line}\n(check-sat)\n"
    (forged.directory / "obligations" / "0001.smt2").write_bytes(text.encode())

    def change(value: dict[str, Any]) -> None:
        value["obligations"][0] |= {"name": "something follows", "proofs": {"resolute": "proofs/0001.resolute"}}
        value["statements"][0]["level"] = "L4"

    forged.remove(*forged.manifest()["obligations"][0]["proofs"].values())
    (forged.directory / "proofs" / "0001.resolute").write_text("unsat\n(res false (assume false) false-)\n")
    forged.sign(change)
    assert_not_confirmed(forged.recheck(Thoroughness(rederived=rederived)), "0001.smt2 is not an obligation")


SENTENCE = "P=NP is proved."


@pytest.mark.parametrize("file", ["citation.bib", "README.md", "TRUST.md", "CITATION.cff"])
@pytest.mark.parametrize("other_version", [False, True])
def test_no_sentence_is_written_into_a_file(forge: Forge, things: Path, file: str, other_version: bool) -> None:
    forged = forge(things)
    if other_version:
        forged.sign(lambda value: value.update(thence="0.0.1"))
    path = forged.directory / file
    path.write_text(path.read_text(encoding="utf-8") + SENTENCE + "\n", encoding="utf-8")
    forged.sum()
    found = forged.recheck()
    assert not found.confirmed
    assert not any(each.confirmed for each in found.confirmations)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.update(authors=[SENTENCE]),
        lambda value: value.update(authors=["A.\n" + "P equals NP"]),
        lambda value: value.update(authors=["A.}},\\n note = {x"]),
        lambda value: value.update(authors=["A\u2028B"]),
        lambda value: value.update(authors=["A \u202eB"]),
        lambda value: value.update(authors=["A" * 1000]),
        lambda value: value.update(thence=f"1.0. {SENTENCE}"),
        lambda value: value["programs"]["z3"].update(version=SENTENCE),
        lambda value: value["programs"]["z3"]["options"].update(note=SENTENCE),
        lambda value: value["programs"]["z3"]["options"].update(seed=SENTENCE),
        lambda value: value["statements"][0].update(name=SENTENCE),
        lambda value: value["statements"][0].update(says=[SENTENCE]),
        lambda value: value["statements"][0].update(says=[*value["statements"][0]["says"], SENTENCE]),
        lambda value: value["statements"][0].update(subject="P_equals_NP"),
        lambda value: value["statements"][0].update(kind="machine"),
        lambda value: value["statements"][0].update(level="L4"),
        lambda value: value["obligations"][0].update(name="P equals NP"),
        lambda value: value["omitted"].append({"kind": "theorem", "subject": "things", "name": "P_equals_NP"}),
        lambda value: value["statements"][0]["evidence"].append(
            {"shows": "happens", "name": "P", "file": "evidence/0001.json"}
        ),
    ],
)
def test_no_sentence_is_written_into_the_manifest(forge: Forge, things: Path, change: Change) -> None:
    from thence.proofs.certificate.manifest import BadManifest

    forged = forge(things)
    try:
        forged.sign(change)
    except BadManifest:
        return
    assert_not_confirmed(forged.recheck())


def test_the_name_of_the_source_says_nothing(forge: Forge, things: Path) -> None:
    forged = forge(things)
    (forged.directory / "sources" / "things.thence").rename(forged.directory / "sources" / "P-equals-NP.thence")
    forged.sign(lambda value: value.update(source="sources/P-equals-NP.thence"))
    assert "P-equals-NP" not in forged.text("citation.bib") + forged.text("CITATION.cff")


def test_authors_are_quoted_and_said_to_be_unverified(forge: Forge, things: Path) -> None:
    forged = forge(things)
    forged.sign(lambda value: value.update(authors=['{A} "B" & C_1', "\u00c9. O'Neill (Z\u00fcrich)"]))
    assert forged.recheck().confirmed
    assert "nobody checked them" in forged.text("CITATION.cff") and "nobody checked them" in forged.text("README.md")
    assert "as given, not checked" in forged.text("citation.bib")


def test_without_derivation_nothing_is_confirmed(forge: Forge, simple: Path) -> None:
    found = forge(simple).recheck(Thoroughness(rederived=False))
    assert found.faults == ()
    assert {(each.verdict.value, each.level.name) for each in found.confirmations} == {("unknown", "L2")}
    assert not found.confirmed
    assert found.decided == len(found.manifest.obligations)


def test_a_statement_that_is_left_out_is_listed_as_such(forge: Forge, simple: Path) -> None:
    forged = forge(simple)

    def drop(value: dict[str, Any]) -> None:
        forged.remove(*(each["file"] for each in named(value, "vacuity")["evidence"]))
        value["statements"].remove(named(value, "vacuity"))

    forged.sign(drop)
    assert_not_confirmed(forged.recheck(), "does not list exactly what its source states besides")
    forged.sign(lambda value: value["omitted"].append({"kind": "machine", "subject": "simple", "name": "vacuity"}))
    assert forged.recheck().confirmed
    assert "- machine simple: vacuity" in forged.text("README.md")
