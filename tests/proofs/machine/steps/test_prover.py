"""Statements about steps: proved with their obligations, refuted by runs that are replayed, else unknown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.logic.structure import evaluate
from thence.proofs.machine.goals import Change, TransitionRun, changed_values
from thence.proofs.machine.prover import prove_machine
from thence.proofs.machine.steps.prover import WITNESS, prove_steps, refuted_steps, step_statements, waiting_for
from thence.proofs.machine.steps.statements import loss, no_deadlock, own_guards
from thence.proofs.machine.transitions import actions
from thence.proofs.prove import prove_specification
from thence.proofs.solving.assessment import REFUTATION, Assessment
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Level, Verdict

Specify = Callable[[str], ir.Specification]

RELAY = """
machine relay:
  relation network_sent(m: message)
  relation closed(p: process)
  transition causal_send(m): pass
  transition network_send(m):
    require sent(m) and not network_sent(m)
    require forall a. before(a, m) implies network_sent(a)
    {guard}
    network_sent(m) := true
  {more}
  transition deliver(m):
    require network_sent(m) and not delivered(m)
    forall p: closed(p) := closed(p)
  invariant posted: forall m. network_sent(m) implies sent(m)
  {statements}
"""


def relay(specify: Specify, statements: str, guard: str = "require true", more: str = "") -> ir.Machine:
    (machine,) = specify(RELAY.format(statements=statements, guard=guard, more=more)).machines
    return machine


def assessments(pool: SolverPool, machine: ir.Machine) -> dict[str, Assessment]:
    options = Options(timeout_ms=3_000)
    _, found = prove_machine(ProofSession(pool, options), machine)
    return prove_steps(ProofSession(pool, options), machine, step_statements(machine), found)


CLOSING = """transition close(p):
    closed(p) := true
  transition open(p):
    closed(p) := false"""


def test_what_is_stable(specify: Specify, pool: SolverPool) -> None:
    machine = relay(
        specify, "stable gone(m): network_sent(m)\n  stable all_sent: forall m. sent(m) iff network_sent(m)"
    )
    found = assessments(pool, machine)
    assert found["gone"].verdict is Verdict.PROVED and found["gone"].level is Level.L3
    assert found["gone"].facts["own_obligations"] == 3
    broken = found["all_sent"]
    assert broken.verdict is Verdict.REFUTED and broken.facts["depth"] == 1
    run = broken.runs[REFUTATION]
    stable = next(each for each in machine.stable if each.formula.name == "all_sent")
    before, after = run.states()[-2:]
    assert evaluate(stable.formula.body, before, {}) and not evaluate(stable.formula.body, after, {})


def test_an_instance_of_what_is_not_stable_is_named(specify: Specify, pool: SolverPool) -> None:
    found = assessments(pool, relay(specify, "stable quiet(m): not network_sent(m)"))["quiet"]
    assert found.verdict is Verdict.REFUTED
    assert found.facts["counterexample"]["violated"] == {"quiet": {"m": "m1"}}
    assert "the last step makes quiet false for m = m1" in found.text


def test_stable_rests_on_the_invariants(specify: Specify, pool: SolverPool) -> None:
    """What is stable only because of an invariant is not without it, nor is anything made of an invariant that fell."""
    once = "stable once(m): delivered(m) and {0}\n  invariant i: forall m. delivered(m) implies network_sent(m)"
    assert assessments(pool, relay(specify, once.format("network_sent(m)")))["once"].verdict is Verdict.PROVED
    wrong = relay(specify, "stable s(m): network_sent(m) implies closed(src(m))\n  invariant i: forall p. closed(p)")
    assert assessments(pool, wrong)["s"].verdict is Verdict.REFUTED


@pytest.mark.long
def test_what_is_reachable(specify: Specify, pool: SolverPool) -> None:
    statements = """reachable twice: exists a, b. before(a, b) and delivered(b)
  reachable unsent: exists m. network_sent(m) and not sent(m)
  reachable closed_up: exists p. closed(p)
  reachable many: exists a, b, c, d, e. a != b and before(a, b) and before(b, c) and before(c, d) and before(d, e)"""
    found = assessments(pool, relay(specify, statements))
    assert found["twice"].verdict is Verdict.PROVED
    assert isinstance(found["twice"].runs[WITNESS], TransitionRun)
    assert found["unsent"].verdict is Verdict.REFUTED and found["unsent"].discharges
    assert found["closed_up"].verdict is Verdict.REFUTED  # by induction: nothing follows from the invariants alone
    assert found["many"].verdict is Verdict.UNKNOWN and "no run of" in found["many"].text


def test_without_starvation(specify: Specify, pool: SolverPool) -> None:
    assert (
        assessments(pool, relay(specify, "prove without starvation network_send"))[
            "without starvation network_send"
        ].verdict
        is Verdict.PROVED
    )
    closing = relay(specify, "prove without starvation network_send", "require not closed(src(m))", CLOSING)
    found = assessments(pool, closing)["without starvation network_send"]
    assert found.verdict is Verdict.REFUTED
    assert found.facts["counterexample"]["steps"][-1]["step"].startswith("close(")
    assert "adds to what is waited for" in found.text


COUNTED = "relation seen(p: process, n: nat)"

ON_AND_ON = {
    "numbers have no end": (COUNTED, "tick(p, n: nat)", "not seen(p, n)", "seen(p, n) := true"),
    "nor have they at first": (COUNTED, "tick(p, n: nat)", "seen(p, n)", "seen(p, n) := false"),
    "nor have unsent messages": ("relation seen(m: message)", "tick(m: message)", "not seen(m)", "seen(m) := true"),
    "processes do": ("relation seen(p: process)", "tick(p)", "not seen(p)", "seen(p) := true"),
    "sent messages do": ("relation seen(m: message)", "tick(m)", "sent(m) and not seen(m)", "seen(m) := true"),
}  # fmt: skip


@pytest.mark.parametrize("case", ON_AND_ON)
def test_what_is_used_up_is_finite(specify: Specify, pool: SolverPool, case: str) -> None:
    """A transition that goes on for ever, each time at another number or at another message that nobody sends."""
    relation, ticks, guard, update = ON_AND_ON[case]
    more = f"transition {ticks}:\n    require {guard}\n    {update}"
    text = RELAY.format(statements="prove without starvation network_send", guard="require true", more=more)
    text = text.replace(
        "  relation closed", f"  {relation}\n  constant relation loud(p: process)\n  relation closed", 1
    )
    if "false" in update:
        text = text.replace(
            "  transition causal", "  initial: forall p, n: seen(p, n) := loud(p)\n  transition causal", 1
        )
    (machine,) = specify(text).machines
    found = assessments(pool, machine)["without starvation network_send"]
    assert (found.verdict is Verdict.PROVED) == case.endswith("do")
    assert case.endswith("do") or "tick happens only finitely often was not shown" in found.text


def test_another_message_that_must_go_first_is_not_starvation_but_a_new_one_is(
    specify: Specify, pool: SolverPool
) -> None:
    """Later messages overtake: what a message waits for grows with each of them."""
    overtaken = "require forall b. before(m, b) and sent(b) implies network_sent(b)"
    machine = relay(specify, "prove without starvation network_send", overtaken)
    found = assessments(pool, machine)["without starvation network_send"]
    assert found.verdict is Verdict.REFUTED
    assert found.facts["counterexample"]["steps"][-1]["step"].startswith("causal_send(")


def test_what_a_transition_waits_for(specify: Specify, pool: SolverPool) -> None:
    machine = relay(specify, "prove without starvation network_send")
    action = next(action for action in actions(machine) if action.name == "network_send")
    assert len(own_guards(action)) == 4  # sent, not network_sent, the queue, true
    state, ends = waiting_for(ProofSession(pool), machine, "network_send")
    assert len(ends) == 1  # `not network_sent(m)` alone
    assert [len(part.variables) for part in state.parts] == [0, 0, 0, 1]


def test_without_deadlock(specify: Specify, pool: SolverPool) -> None:
    found = assessments(pool, relay(specify, "prove without deadlock"))["without deadlock"]
    assert found.verdict is Verdict.PROVED
    assert "nothing is undelivered, by the first in hb" in found.text


WINDOW = """
machine window:
  # messages are acknowledged in any order, and leave a window in the order of their numbers
  function number(m: message): nat
  function last(p: process): nat
  function gone(p: process): nat
  relation acked(m: message)
  transition causal_send(m):
    number(m) := last(src(m)) + 1
    forall p: last(p) := if p = src(m) then last(p) + 1 else last(p)
  transition ack(m):
    require sent(m) and not acked(m)
    acked(m) := true
  transition slide(m):
    require acked(m) and {turn}
    forall p: gone(p) := if p = src(m) then gone(p) + 1 else gone(p)
  transition deliver(m):
    require sent(m) and number(m) <= gone(src(m)) and not delivered(m)
    forall p: gone(p) := gone(p)
  invariant known: forall m. acked(m) implies sent(m)
  invariant numbered: forall m. sent(m) implies 0 < number(m) and number(m) <= last(src(m))
  invariant newest: forall p. last(p) = 0 or exists x. sent(x) and src(x) = p and number(x) = last(p)
  invariant in_a_row: forall m. sent(m) implies number(m) = 1 or exists x. before(x, m) and number(m) = number(x) + 1
  prove without deadlock
"""


@pytest.mark.parametrize("turn", ["number(m) = gone(src(m)) + 1", "gone(src(m)) + 1 = number(m)"])
def test_what_waits_for_its_turn_by_number(turn: str, specify: Specify, pool: SolverPool) -> None:
    """In a quiescent state the first message that has not left the window is the next one to leave it."""
    (machine,) = specify(WINDOW.replace("{turn}", turn)).machines
    found = assessments(pool, machine)["without deadlock"]
    assert (found.verdict, found.level) == (Verdict.PROVED, Level.L3)
    assert "nothing is waiting for its turn with slide" in found.text


@pytest.mark.parametrize("turn", ["number(m) = gone(src(m)) + 2", "number(m) = gone(dst(m)) + 1"])
def test_what_waits_for_a_turn_that_never_comes(turn: str, specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(WINDOW.replace("{turn}", turn)).machines
    found = assessments(pool, machine)["without deadlock"]
    assert found.verdict is Verdict.REFUTED
    assert not evaluate(no_deadlock(machine).body, found.runs[REFUTATION].states()[-1], {})


@pytest.mark.long(but=("require false-",))
@pytest.mark.parametrize(
    ("guard", "more"),
    [
        ("require not closed(src(m))", "transition close(p):\n    closed(p) := true"),
        ("require forall a. a != m and sent(a) and src(a) != src(m) implies delivered(a)", ""),
        ("require false", ""),
    ],
)
def test_deadlocks_are_found(specify: Specify, pool: SolverPool, guard: str, more: str) -> None:
    machine = relay(specify, "prove without deadlock", guard, more)
    found = assessments(pool, machine)["without deadlock"]
    assert found.verdict is Verdict.REFUTED
    assert not evaluate(no_deadlock(machine).body, found.runs[REFUTATION].states()[-1], {})


@pytest.mark.long
def test_a_circle_of_waiting_is_not_broken_by_a_relation_that_is_no_order(specify: Specify, pool: SolverPool) -> None:
    """`ahead` is no strict order here: no first element, no proof; and messages do wait in a circle."""
    more = """relation ahead(a: message, b: message)
  transition put(x, y):
    require sent(x) and sent(y)
    ahead(x, y) := true"""
    machine = relay(specify, "prove without deadlock", "require forall a. ahead(a, m) implies delivered(a)", more)
    assert assessments(pool, machine)["without deadlock"].verdict is Verdict.REFUTED


def test_mutants_state_steps_too(specify: Specify) -> None:
    text = RELAY.format(
        statements="stable gone(m): network_sent(m)\n  prove without deadlock", guard="require true", more=""
    )
    text += """
mutant forgets of relay:
  transition deliver(m):
    require network_sent(m) and not delivered(m)
    network_sent(m) := false
  expect refuted gone
  expect proved without deadlock

mutant dead of relay:
  transition deliver(m):
    require network_sent(m) and not delivered(m) and delivered(m)
  expect refuted without deadlock
"""
    results = {result.name: result for result in prove_specification(specify(text))}
    assert results["without deadlock"].verdict is Verdict.PROVED
    assert results["forgets: gone"].verdict is Verdict.REFUTED
    assert results["dead: without deadlock"].expected
    assert results["forgets: without deadlock"].verdict is Verdict.PROVED  # what is forgotten is sent again


def test_refuting_runs_alone(specify: Specify, pool: SolverPool) -> None:
    machine = relay(specify, "stable gone(m): network_sent(m)\n  stable quiet(m): not network_sent(m)")
    found = refuted_steps(ProofSession(pool), machine, ("gone", "quiet"))
    assert set(found) == {"quiet"}
    quiet = next(each for each in machine.stable if each.formula.name == "quiet")
    goal = loss(quiet)
    assert isinstance(goal, Change) and changed_values(goal, found["quiet"].runs[REFUTATION]) is not None
