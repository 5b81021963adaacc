"""Scenarios as results: a surprise in either direction is not as expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.proofs.scopes.scenarios import play_scenario
from thence.spec.verdict import Level, Result, Verdict

Specify: TypeAlias = Callable[[str], ir.Specification]

FORWARDS = """\
protocol forwards:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property causal, fifo
  eventually delivered under fair receive

scenario overtaken of forwards:
  processes Alice, Bob
  Alice sends a to Bob
  Alice sends b to Bob
  Bob receives MSG(b) from Alice
"""


def results(specify: Specify, *lines: str) -> dict[str, Result]:
    scenario = specify(FORWARDS + "".join(f"  {line}\n" for line in lines)).scenarios[0]
    return {result.name.partition(": ")[2]: result for result in play_scenario(scenario)}


def test_an_expected_violation_is_shown_and_confirmed(specify: Specify) -> None:
    found = results(specify, "expect refuted causal, fifo")
    assert [(name, one.verdict, one.expected) for name, one in found.items()] == [
        ("", Verdict.HOLDS, True),
        ("causal", Verdict.REFUTED, True),
        ("fifo", Verdict.REFUTED, True),
    ]
    causal = found["causal"]
    assert (causal.kind, causal.subject, causal.level) == ("scenario", "forwards", Level.L1)
    assert causal.facts["messages"] == {"a": "m0.1", "b": "m0.2"}
    assert "Bob delivers b before a" in causal.explanation
    assert 'class="offence"' in causal.picture
    assert causal.facts["counterexample"] == found[""].facts["steps"]


def test_a_violation_that_nobody_expects_refutes_the_scenario(specify: Specify) -> None:
    found = results(specify, "expect refuted fifo")
    assert found[""].verdict is Verdict.REFUTED
    assert not found[""].expected
    assert "Violated, and not expected to be: causal." in found[""].explanation


def test_an_expected_violation_that_does_not_come_is_a_surprise(specify: Specify) -> None:
    text = FORWARDS.replace("  Bob receives MSG(b) from Alice\n", "") + "  expect refuted causal\n  expect holds fifo\n"
    found = {result.name: result for result in play_scenario(specify(text).scenarios[0])}
    assert found["overtaken"].expected
    assert (found["overtaken: causal"].verdict, found["overtaken: causal"].expected) == (Verdict.HOLDS, False)
    assert found["overtaken: fifo"].expected


@pytest.mark.parametrize(("verdict", "expected"), [("holds", False), ("refuted", True)])
def test_a_scenario_that_is_not_possible_is_refuted(specify: Specify, verdict: str, expected: bool) -> None:
    found = results(specify, "Bob receives MSG(b) from Alice", f"expect {verdict}", "expect refuted causal, fifo")
    assert found[""].verdict is Verdict.REFUTED
    assert found[""].expected is expected
    assert found[""].facts["line"] == FORWARDS.count("\n") + 1
    assert not found["causal"].expected, "what comes after a step that is not possible was not seen"


def test_what_is_on_its_way_at_the_end_counts_only_where_it_is_asked_for(specify: Specify) -> None:
    ended = results(specify, "Bob receives MSG(a) from Alice", "expect refuted causal, fifo", "expect holds delivered")
    assert all(result.expected for result in ended.values())
    assert ended["delivered"].verdict is Verdict.HOLDS


def test_stuck_messages_are_found_at_the_end(specify: Specify) -> None:
    text = FORWARDS.replace("on receive MSG(m) from j: deliver m", "on receive MSG(m) from j: pass")
    text += "  Bob receives MSG(a) from Alice\n  expect refuted delivered\n"
    found = play_scenario(specify(text).scenarios[0])
    assert [(one.verdict, one.expected) for one in found] == [(Verdict.HOLDS, True), (Verdict.REFUTED, True)]
    assert "never delivers a" in found[1].explanation


def test_a_scenario_of_a_mutant_is_about_the_mutant(specify: Specify) -> None:
    text = FORWARDS.replace("scenario overtaken of forwards:", "scenario overtaken of forwards with drops:")
    text += "  assert not delivered(b)\n\nmutant drops of forwards:\n  on receive MSG(m) from j: pass\n"
    (found,) = play_scenario(specify(text).scenarios[0])
    assert (found.subject, found.verdict, found.expected) == ("forwards/drops", Verdict.HOLDS, True)
    assert found.facts["assertions"] == 1


VOTES = """\
protocol votes:
  network reliable, reordering
  message VOTE()
  state:
    voted: bool
    seen: nat
  on vote(v: nat) when v > 5 and not voted:
    voted := true
    for p in process: send VOTE() to p
  on receive VOTE() from j: seen := seen + 1
  at rest all_voted: forall p: process. voted@p
  at rest all_seen: forall p: process. seen@p = 4

scenario two of votes:
  processes Ann, Ben
  Ann does vote(7)
  Ann receives VOTE() from Ann
  Ben receives VOTE() from Ann
  Ben does vote(9)
  Ann receives VOTE() from Ben
"""


def test_a_scenario_is_at_rest_at_its_end_only(specify: Specify) -> None:
    """Before it, the next input is still to come, whatever its arguments are."""
    last = "  Ben receives VOTE() from Ben\n"
    expected = "  expect holds all_voted\n  expect refuted all_seen\n"
    for text, verdicts in (
        (VOTES + last + expected, ("holds", "holds", "refuted")),
        (VOTES + expected, ("holds", "unknown", "unknown")),
    ):
        found = play_scenario(specify(text).scenarios[0])
        assert tuple(result.verdict.value for result in found) == verdicts
