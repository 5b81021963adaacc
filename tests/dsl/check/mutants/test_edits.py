"""Edits of mutants: the same IR as the whole part restated, and a place that is one statement or an error."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.parse import parse
from thence.dsl.write.format import format_source

PROTOCOL = """\
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  message NOTE(n: nat)
  state: k: nat; seen: set of process
  on causal_send(m):
    send MSG(m) to m.dst  # S.1
    for q in process: send NOTE(k) to q
  on receive MSG(m) from j:
    note(1)
    deliver m  # R.2
  on receive NOTE(n) from j:
    if n > k:
      k := n
      if k = 3: return
    else:
      seen.add(j)
      return
  periodically clean: seen.clear()
  procedure note(n: nat):
    k := k + n
  property at_most_once

"""
MACHINE = """\
machine idea:
  relation waits(m: message)
  transition causal_send(m):
    require not sent(m)
    waits(m) := true
  transition deliver(m):
    require sent(m)
    require waits(m)
  prove no_creation

"""


def typed(text: str) -> tuple[ir.Specification | None, tuple[Diagnostic, ...]]:
    tree, diagnostics = parse(text, "x.thence")
    assert tree is not None, diagnostics
    return elaborate(tree, "x.thence")


def mutated(subject: str, of: str, body: str) -> ir.Protocol | ir.Machine:
    specification, diagnostics = typed(f"{subject}mutant x of {of}:\n{body}\n  expect refuted no_creation{WHERE[of]}\n")
    assert specification is not None, diagnostics
    return specification.mutants[0].mutated


WHERE = {"p": " with processes 2, sends 1 per process", "idea": ""}


@pytest.mark.parametrize(
    ("change", "restated"),
    [
        ("on receive MSG: drop deliver m", "on receive MSG(m) from j: note(1)"),
        ("on receive MSG: drop deliver m", "on receive MSG(m) from j:\n    note(1)"),
        ("on receive MSG: replace note(1) by: pass", "on receive MSG(m) from j:\n    pass\n    deliver m"),
        ("on receive MSG: before note(1): k := 4", "on receive MSG(m) from j:\n    k := 4\n    note(1)\n    deliver m"),
        (
            "on receive MSG:\n    after deliver m:\n      k := 4\n      if k = 2: deliver m",
            "on receive MSG(m) from j:\n    note(1)\n    deliver m\n    k := 4\n    if k = 2: deliver m",
        ),
        ("on causal_send: drop for q in process", "on causal_send(m): send MSG(m) to m.dst"),
        (
            "on causal_send: inside for q in process: replace send NOTE(k) to q by: if k = 1: send NOTE(2) to q",
            "on causal_send(m):\n    send MSG(m) to m.dst\n    for q in process: if k = 1: send NOTE(2) to q",
        ),
        (
            "on causal_send: replace for q in process by for q in seen",
            "on causal_send(m):\n    send MSG(m) to m.dst\n    for q in seen: send NOTE(k) to q",
        ),
        (
            "on receive NOTE:\n    replace if n > k by if n >= k\n    inside if n >= k: drop if k = 3",
            "on receive NOTE(n) from j:\n    if n >= k: k := n\n    else: seen.add(j); return",
        ),
        (
            "on receive NOTE: inside if n > k: inside if k = 3: drop return",
            "on receive NOTE(n) from j:\n    if n > k:\n      k := n\n      if k = 3: pass\n"
            "    else: seen.add(j); return",
        ),
        (
            "on causal_send: replace for q in process by: send NOTE(k) to self",
            "on causal_send(m):\n    send MSG(m) to m.dst\n    send NOTE(k) to self",
        ),
        ("periodically clean: drop seen.clear()", "periodically clean: pass"),
        ("procedure note: replace k := k + n by: k := n", "procedure note(n: nat): k := n"),
        ("procedure note:\n    replace k   :=  (k + n) by:\n      k := n", "procedure note(n: nat): k := n"),
    ],
)
def test_an_edit_is_the_part_restated_with_the_change_in(change: str, restated: str) -> None:
    found = mutated(PROTOCOL, "p", f"  change {change}")
    assert found == mutated(PROTOCOL, "p", f"  {restated}")
    specification, _ = typed(PROTOCOL)
    assert specification is not None
    assert found != specification.protocols[0]


@pytest.mark.parametrize(
    ("change", "restated"),
    [
        ("transition deliver: drop require waits(m)", "transition deliver(m): require sent(m)"),
        (
            "transition causal_send: replace waits(m) := true by: forall x: waits(x) := false",
            "transition causal_send(m):\n    require not sent(m)\n    forall x: waits(x) := false",
        ),
        (
            "transition causal_send:\n    drop waits(m) := true\n    drop require not sent(m)",
            "transition causal_send(m): pass",
        ),
    ],
)
def test_transitions_are_edited(change: str, restated: str) -> None:
    assert mutated(MACHINE, "idea", f"  change {change}") == mutated(MACHINE, "idea", f"  {restated}")


def test_the_subject_edited_before_stays_as_it_is_elsewhere() -> None:
    found = mutated(PROTOCOL, "p", "  change on receive MSG: drop deliver m")
    specification, _ = typed(PROTOCOL)
    assert specification is not None and isinstance(found, ir.Protocol)
    original = specification.protocols[0]
    same = [one == other for one, other in zip(found.handlers, original.handlers, strict=True)]
    assert same.count(False) == 1 and found.procedures == original.procedures


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ("on receive MSG: drop deliver k", "E0628", "`deliver m` (line 11, R.2)"),
        ("on receive NOTE: drop return", "E0628", "line 15"),
        ("on receive MSK: drop deliver m", "E0629", "`MSG`"),
        ("procedure deliver: drop deliver m", "E0629", "`procedure note`"),
        ("on receive MSG: replace deliver m by: deliver k", "E0301", "in mutant `x` of `p`"),
    ],
)
def test_an_edit_that_fits_no_one_place_is_an_error(change: str, code: str, said: str) -> None:
    text = f"{PROTOCOL}mutant x of p:\n  change {change}\n  expect refuted causal{WHERE['p']}\n"
    specification, diagnostics = typed(text)
    errors = [one for one in diagnostics if one.severity == "error"]
    assert specification is None and [one.code for one in errors] == [code]
    assert any(said in note for note in errors[0].notes)


def test_an_edit_follows_its_subject_or_breaks() -> None:
    """The reason why there is no patch of text: once the subject is edited, the edit is an error."""
    change = "mutant x of p:\n  change procedure note: replace k := k + n by: k := n\n"
    text = f"{PROTOCOL}{change}  expect refuted causal{WHERE['p']}\n"
    specification, _ = typed(text)
    assert specification is not None
    _, found = typed(text.replace("    k := k + n\n", "    k := k + n + 1\n"))
    assert [one.code for one in found if one.severity == "error"] == ["E0628"]


def test_edits_are_formatted() -> None:
    text = (
        PROTOCOL + "mutant x of p:\n"
        "  change on receive MSG:   # a remark\n"
        "      drop   deliver m  # gone\n"
        "      replace note( 1 ) by:   k := 1 ;k := 2\n"
        "  change on receive NOTE: inside if n>k: before k := n:\n"
        "      k := 0\n"
    )
    expected = (
        PROTOCOL + "mutant x of p:\n"
        "  change on receive MSG:   # a remark\n"
        "    drop deliver m      # gone\n"
        "    replace note(1) by: k := 1; k := 2\n"
        "  change on receive NOTE:\n"
        "    inside if n > k:\n"
        "      before k := n:\n"
        "        k := 0\n"
    )
    once, faults = format_source(text, "x.thence")
    assert faults == () and once == expected
    assert format_source(expected, "x.thence") == (expected, ())
    assert parse(text, "x.thence")[0] == parse(expected, "x.thence")[0]
