"""What is suggested for misspelt names, and for words of other languages.

The generator takes names and keywords from the library's own files, puts a slip into one, and looks at the first
diagnostics: there is one, no exception, and a name that is proposed is of the kind that the place takes.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from thence.dsl.check.elaborate import elaborate
from thence.dsl.load import library
from thence.dsl.text.diagnostics import CODES, Diagnostic, nearest
from thence.dsl.text.parse import parse

HEAD = "protocol p:\n  message MSG(m: message) carries m\n  state:\n"
MACHINE = (
    "machine k:\n  delivery off\n  relation busy()\n  transition take():\n    require not busy()\n    busy() := true\n"
    "  invariant fine: busy() or not busy()\n"
)
STATE = ("last: option of message", "mode: nat", "box: queue of message", "clock: map process to nat")
USED = ("last := some(m)", "mode := 1", "box.push(m)", "clock[self] := 1")
END = "    send MSG(m) to m.dst\n  on receive MSG(m) from j:\n    deliver m\n"

FOREIGN = [
    ("if box subset box: return", "`forall x in a. x in b`"),
    ("if (box subset box): return", "`forall x in a. x in b`"),
    ("box := box union box", "`for x in b: a.add(x)`"),
    ("if mode mod 2 = 0: return", "no remainder"),
    ("mode := mode max 2", "`max(a, b)`"),
    ("if box contains m: return", "`x in box`"),
    ("last := None", "`none`"),
    ("if last is None: return", "`none`"),
    ("if last == null: return", "`=`"),
    ("for i in range(3): pass", "ranges"),
    ("self.mode := 2", "`mode`"),
    ("if self.mode = 1: return", "`mode`"),
    ("mode := mode // 2", "division"),
    ("mode *= 2", "`x := x * 2`"),
    ("mode := mode % 2", "remainder"),
    ("mode++", "`x := x + 1`"),
    ("mode += 1", "`x := x + 1`"),
    ("if mode = 0 && mode > 1: return", "`and`"),
    ("if mode = 0 || mode > 1: return", "`or`"),
    ("if mode = 0 /\\ mode > 1: return", "`and`"),
    ("if !(mode = 1): return", "`not`"),
    ("if mode <> 0: return", "`!=`"),
    ("if mode =/= 0: return", "`!=`"),
    ("if mode == 0: return", "`=`"),
    ("if mode = 0: return\n    elif mode = 1: return", "`else if`"),
    ("if mode = 0 then mode := 1", "`then`"),
    ("if (mode = 0) { mode := 1 }", "braces"),
    ("return mode", "gives no value"),
    ("while True: pass", "`true`"),
    ("break", "`return`"),
    ("skip", "`pass`"),
    ("len(box)", "`.size`"),
    ("mode := len(box)", "`.size`"),
    ("mode := box.size()", "`.size`"),
    ("box.append(m)", "`.push(x)`"),
    ("if box.empty(): return", "is empty"),
    ("box := []", "`empty`"),
    ("if box.contains(m): return", "in box"),
    ("for p in processes: pass", "`process`"),
    ("for each p in process: pass", "for p in process"),
    ("forall p in process: pass", "for x in e"),
    ("send(MSG(m), m.dst)", "send KIND"),
    ("await mode > 0", "never waits"),
    ("x = 1", "`:=`"),
    ("counter := 1", "`state:`"),
    ("int x = 1", "`let"),
    ("mode' = mode + 1", "primes"),
    ("mode := 1 if mode > 0 else 0", "then a else b"),
    ("if m.sender = self: return", "`.src`"),
    ("receive MSG(x) from q", "on receive"),
    ("if any(x.dst = self for x in box): return", "exists"),
    ("// a remark", "`#`"),
    ("-- a remark", "`#`"),
    ("retrun", "`return`"),
    ("snd MSG(m) to m.dst", "`send`"),
    ("for p in process: snd MSG(m) to p", "`send`"),
    ("whlie mode > 0: mode := 0", "`while`"),
]

MEMBERS = [
    ("inavriant x: true", "`invariant`"),
    ("on recieve MSG(m) from k:\n    deliver m", "`receive`"),
    ("on receive MSG(m) form k:\n    deliver m", "`from`"),
    ("on casual_send(m):\n    pass", "`causal_send`"),
    ("on timeout:\n    pass", "`periodically:`"),
    ("always x: true", "`invariant name: ...`"),
    ("variables:\n    a: nat", "`state:`"),
    ("record R: a: int", "`nat`"),
    ("record R: a: list of nat", "`queue of T`"),
    ("property casual", "`causal`"),
    ("function f(): nat", "`procedure"),
    ("record R: a: nat, b: nat", "separated by `;`"),
    ("property mine: forall p: process. mode@p < 3", "`invariant NAME: P`"),
]

OF_A_MACHINE = [
    ("init: busy()", "`initial: forall p: token(p) := p = first()`"),
    ("initially busy()", "did you mean `initial`?"),
    ("relation free() = true", "`initial: forall p: token(p) := p = first()`"),
    ("function f(): nat := 3", "`initial: forall p: token(p) := p = first()`"),
    ("state:\n    a: nat", "`relation r(p: process)`"),
    ("var a: nat", "`relation r(p: process)`"),
    ("on receive MSG(m) from j:\n    pass", "`transition name(...):`"),
    ("message MSG(m: message)", "`transition name(...):`"),
    ("periodically:\n    pass", "`transition name(...):`"),
    ("procedure f():\n    pass", "`transition name(...):`"),
    ("record R: a: nat", "a function for each field"),
    ("property causal", "`prove causal`"),
    ("prove exclusion: forall p, q. p = q", "`invariant NAME: P`"),
]


def diagnose(text: str) -> tuple[Diagnostic, ...]:
    tree, diagnostics = parse(text, "x")
    return diagnostics if tree is None else (*diagnostics, *elaborate(tree, "x")[1])


def in_a_handler(lines: str) -> str:
    states = "".join(f"    {state}\n" for state in STATE)
    return f"{HEAD}{states}  on causal_send(m):\n" + "".join(f"    {line}\n" for line in (*USED, lines)) + END


def errors(text: str) -> list[Diagnostic]:
    return [diagnostic for diagnostic in diagnose(text) if diagnostic.severity == "error"]


@pytest.mark.parametrize(("line", "word"), FOREIGN, ids=[line for line, _ in FOREIGN])
def test_words_of_other_languages_have_a_hint(line: str, word: str) -> None:
    first = errors(in_a_handler(line))[0]
    assert word in " ".join((first.message, *first.notes))


@pytest.mark.parametrize(("line", "word"), MEMBERS, ids=[line.partition("\n")[0] for line, _ in MEMBERS])
def test_lines_of_a_protocol_have_a_hint(line: str, word: str) -> None:
    first = errors(f"{in_a_handler('pass')}  {line}\n")[0]
    assert word in " ".join((first.message, *first.notes))


@pytest.mark.parametrize(("line", "word"), OF_A_MACHINE, ids=[line.partition("\n")[0] for line, _ in OF_A_MACHINE])
def test_lines_of_a_machine_have_a_hint(line: str, word: str) -> None:
    first = errors(f"{MACHINE}  {line}\n")[0]
    assert word in " ".join((first.message, *first.notes))


def test_a_machine_may_start_as_the_hint_says() -> None:
    first = "  constant function first(): process\n  relation token(p: process)\n"
    assert errors(f"{MACHINE}{first}  initial: forall p: token(p) := p = first()\n") == []


def test_no_type_is_proposed_for_an_unbound_variable() -> None:
    for name in ("n", "x", "nats", "procss", "messag", "bol", "noda", "proc"):
        for line in (f"{name} := 1", f"mode := {name}", f"if {name} = 1: return"):
            first = errors(in_a_handler(line))[0]
            assert first.code == "E0201"
            assert not TYPES & {near for note in first.notes for near in PROPOSED.findall(note)}, (line, first.notes)


def test_the_nearest_name_is_a_slip_away() -> None:
    assert nearest("recieve", ("receive", "reachable")) == "receive"
    assert nearest("CAUSAL", ("causal", "casual")) == "causal"
    assert nearest("x", ("box", "y")) is None
    assert nearest("sum", ("some", "min")) is None
    assert nearest("delete", ("let", "deliver")) is None
    assert nearest("causality", ("causal", "fifo")) == "causal"


# --- the generator ---------------------------------------------------------------------------------

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PROPOSED = re.compile(r"did you mean `([^`]+)`\?")
TYPES = {"process", "message", "bool", "nat"}
VALUE_CODES = {"E0201", "E0207"}


def slip(word: str, rng: random.Random) -> str:
    """The word with one slip: a letter left out, doubled or mistaken, or two exchanged."""
    at = rng.randrange(len(word) - 1)
    kind = rng.randrange(4)
    if kind == 0:
        return word[:at] + word[at + 1 :]
    if kind == 1:
        return word[:at] + word[at] + word[at:]
    if kind == 2:
        return word[:at] + rng.choice("aeiourstn") + word[at + 1 :]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def places(text: str) -> list[re.Match[str]]:
    """Words of the text that are no documentation and no remark."""
    plain = re.sub(r'"""[\s\S]*?"""|#[^\n]*', lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return [found for found in WORD.finditer(plain) if len(found[0]) > 3]


def check_a_slip(path: Path, text: str, rng: random.Random) -> tuple[str, bool]:
    """Puts one slip into the text. Returns its code, and whether the right word was proposed."""
    place = rng.choice(places(text))
    wrong = slip(place[0], rng)
    found = errors(text[: place.start()] + wrong + text[place.end() :])
    said = f"{path.stem}: {place[0]} -> {wrong}: {[(one.code, one.message, one.notes) for one in found[:3]]}"
    names = {word[0] for word in WORD.finditer(text)}
    for one in found:
        assert one.code in CODES
        for note in one.notes:
            for near in PROPOSED.findall(note):
                assert one.code not in VALUE_CODES or near not in TYPES, said
                assert near in names or near in KNOWN or near == wrong, said
    return (found[0].code if found else ""), any(f"`{place[0]}`" in " ".join(one.notes) for one in found)


KNOWN = {
    "at_most_once", "no_creation", "total_order", "deadlock_free", "completes", "delivered", "fault", "size", "first",
    "value", "push", "pop", "remove", "clear", "add", "next", "src", "dst", "dsts", "self", "max", "min", "some",
    "causal", "fifo", "csps", "sps", "window", "before", "sent", "fair", "return", "pass", "network_sent", "ordered",
}  # fmt: skip
"""Names that the language gives, which a file need not use."""


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.long] if seed > 0 else []) for seed in range(8)]
)
def test_slips_in_the_library_are_found_and_proposals_are_of_the_right_kind(seed: int) -> None:
    rng = random.Random(seed)
    files = [(path, path.read_text(encoding="utf-8")) for path in library()]
    small = [(path, text) for path, text in files if len(text) < 12_000]
    codes: dict[str, int] = {}
    helped = 0
    for _ in range(60 if seed == 0 else 300):
        path, text = rng.choice(small)
        code, right = check_a_slip(path, text, rng)
        codes[code] = codes.get(code, 0) + 1
        helped += right
    assert codes.get("", 0) <= 0.35 * sum(codes.values()), "a slip in a declaration that nothing uses is no error"
    assert helped >= 0.4 * sum(codes.values()), codes
