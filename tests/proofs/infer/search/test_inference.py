"""Invariants are found again, a false statement ends in a run, and nothing is called proved that the prover did not."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.find import specification
from thence.dsl.load import load_bytes
from thence.dsl.write.show import show_expression
from thence.proofs.infer.budget import OutOfTime
from thence.proofs.infer.search import inference
from thence.proofs.infer.search.goals import hidden
from thence.proofs.infer.search.inference import infer
from thence.proofs.infer.search.outcome import Inference, Limits
from thence.proofs.machine.inductive_set import InductiveSet
from thence.proofs.prove import solver_pool
from thence.proofs.solving.assessment import Assessment
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict


def inferred(machine: ir.Machine, seconds: float = 240.0) -> Inference:
    options = Options(workers=1)
    with solver_pool(options) as pool:
        return infer(ProofSession(pool, options), machine, Limits(seconds), lambda _: None)


def test_a_machine_without_its_invariants_is_proved_again() -> None:
    machine = specification("synchronous").machines[0]
    found = inferred(hidden(machine, ["all"]))
    assert found.proved and found.reason == ""
    assert not found.machine.invariants and found.conjuncts
    assert {name: each.verdict for name, each in found.assessments.items()} == dict.fromkeys(
        found.assessments, Verdict.PROVED
    )
    names = [each.formula.name for each in found.conjuncts]
    assert set(names) <= set(found.assessments) and {"causal", "fifo", "csps", "at_most_once"} <= set(found.assessments)
    assert all(each.without for each in found.conjuncts)  # none of them is superfluous


@pytest.mark.long
def test_no_conjunct_is_superfluous_that_the_prover_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no step is found that is possible without it, and the prover says nothing else."""
    prove = inference.prove_machine

    def silent(session: ProofSession, machine: ir.Machine) -> tuple[dict[str, Assessment], InductiveSet | None]:
        judged, inductive = prove(session, machine)
        return {name: replace(each, text="") for name, each in judged.items()}, inductive

    monkeypatch.setattr(inference, "prove_machine", silent)
    for search in ("lost_in_small", "lost"):
        monkeypatch.setattr(inference, search, lambda *_: "")
    found = inferred(hidden(specification("synchronous").machines[0], ["all"]))
    assert found.proved and found.conjuncts
    assert {each.verdict for each in found.assessments.values()} == {Verdict.PROVED}


def test_a_false_statement_ends_in_a_run() -> None:
    (mutant,) = [each for each in specification("synchronous").mutants if each.name == "acknowledged_unseen"]
    assert isinstance(mutant.mutated, ir.Machine)
    machine = hidden(mutant.mutated, ["all"])
    found = inferred(ir_without_expectations(machine))
    assert found.refuted is not None and not found.proved and not found.conjuncts
    assert "causal_send" in found.refuted.text and "is now false" in found.refuted.text


@pytest.mark.parametrize("place", ["refusal", "GoalRuns"])
def test_an_interrupt_before_anything_is_found_is_said(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inference, place, interrupt)
    found = inferred(hidden(specification("synchronous").machines[0], ["all"]))
    assert (found.reason, found.proved, found.refuted) == (inference.INTERRUPTED, False, None)


def test_a_run_that_is_found_survives_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown as it is, if not as small."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inference, "without_detours", interrupt)
    (mutant,) = [each for each in specification("synchronous").mutants if each.name == "acknowledged_unseen"]
    assert isinstance(mutant.mutated, ir.Machine)
    found = inferred(ir_without_expectations(hidden(mutant.mutated, ["all"])))
    assert found.reason == inference.INTERRUPTED and not found.proved
    assert found.refuted is not None and "is now false" in found.refuted.text


def ir_without_expectations(machine: ir.Machine) -> ir.Machine:
    from dataclasses import replace

    return replace(machine, expects=())


def test_time_that_is_over_is_said() -> None:
    machine = specification("tree").machines[0]
    found = inferred(hidden(machine, ["all"]), 3.0)
    assert not found.proved and "time" in found.reason


@pytest.mark.long
@pytest.mark.parametrize("name", ["mf", "hybrid_remembering"])
def test_more_machines(name: str) -> None:
    assert inferred(hidden(specification(name).machines[0], ["all"])).proved


ELECTION = """
machine election:
  delivery off
  sort node, quorum
  sort epoch ordered
  constant relation member(n: node, q: quorum)
  relation candidate(n: node, e: epoch)
  relation voted(n: node, e: epoch, c: node)
  relation seen(n: node, e: epoch)
  relation leads(n: node, e: epoch)
  axiom meet: forall q, r. exists n. member(n, q) and member(n, r)
  transition stand(c: node, e: epoch):
    candidate(c, e) := true
  transition vote(n: node, e: epoch, c: node):
    require candidate(c, e) and not seen(n, e)
    voted(n, e, c) := true
    forall f: seen(n, f) := seen(n, f) or f < e
  transition win(c: node, e: epoch, q: quorum):
    require forall n. member(n, q) implies voted(n, e, c)
    leads(c, e) := true
  invariant one_leader: forall e, c, d. leads(c, e) and leads(d, e) implies c = d
"""
"""A node forgets its vote in this epoch. The run has six steps, over three sorts: few random runs meet it."""


@pytest.mark.long
def test_a_run_over_many_sorts_is_found_among_two_elements_of_each(specify: Callable[[str], ir.Specification]) -> None:
    (machine,) = specify(ELECTION).machines
    found = inferred(machine)
    assert found.refuted is not None and found.refuted.name == "one_leader"


def machine_of(text: str) -> ir.Machine:
    loaded = load_bytes(Path("machine.thence"), text.encode())
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification.machines[0]


SEQUENCER = """machine numbers:
  delivery broadcast
  relation numbered(m: message)
  function number(m: message): nat
  function next(): nat
  transition causal_send(m): pass
  transition assign(m):
    require sent(m) and not numbered(m)
    numbered(m) := true
    number(m) := next()
    next() := next() + 1
  transition deliver(m, p):
    require numbered(m) and to(m, p) and not delivered(m, p)
    require forall a. numbered(a) and to(a, p) and number(a) < number(m) implies delivered(a, p)
  prove total_order
"""


def test_that_deliveries_are_of_sent_messages_is_found_too() -> None:
    """Nothing that is to be proved speaks of `sent`; what the history rests on does."""
    machine = machine_of(SEQUENCER)
    found = inferred(machine)
    assert found.proved, found.reason
    assert found.goals == ("total_order",)


@pytest.mark.long
def test_a_machine_that_delivers_what_nobody_sent_is_judged_by_its_goals() -> None:
    found = inferred(machine_of(SEQUENCER.replace("sent(m) and ", "")))
    assert found.refuted is None and "history" in found.reason


BATON = """machine baton:
  delivery off
  sort proc
  relation goes(p: proc)
  relation fast(p: proc)
  relation inside(p: proc)
  transition go(p: proc):
    require not goes(p) and not fast(p)
    goes(p) := true
  transition hurry(p: proc):
    require goes(p) and forall q. not inside(q)
    require forall q. not goes(q) or not fast(q)
    fast(p) := true
  transition slow(p: proc):
    require not goes(p)
    fast(p) := false
  transition arrive(p: proc):
    require goes(p) and fast(p)
    goes(p) := false
    inside(p) := true
  transition leave(p: proc):
    require inside(p)
    inside(p) := false
  invariant exclusive: forall p, q. inside(p) and inside(q) implies p = q
"""
"""Exclusion rests on what is true of two different elements that no relation connects: one of them goes fast, the
other one is inside."""


def test_a_goal_that_is_stuck_is_not_without_what_two_different_elements_do() -> None:
    found = inferred(machine_of(BATON))
    assert found.proved and any("p != p2" in show_expression(each.formula.body) for each in found.conjuncts)


@pytest.mark.parametrize("seconds", [1.0, 4.0])
def test_a_limit_is_kept(seconds: float) -> None:
    """What it counts is what the processes took, and little more than it allows."""
    before = sum(os.times()[:4])
    found = inferred(hidden(specification("newtop").machines[0], ["all"]), seconds)
    took = sum(os.times()[:4]) - before
    assert not found.proved and found.reason.startswith("the time limit is over")
    assert seconds <= found.processor_seconds < seconds + 3
    assert took < found.processor_seconds + 5  # processes start, and some end while they work


def test_what_is_proved_stays_proved_where_the_time_ends_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of conjuncts that there was no time to do without."""

    def late(*_: object) -> str:
        raise OutOfTime

    monkeypatch.setattr(inference, "lost_in_small", late)
    found = inferred(hidden(specification("synchronous").machines[0], ["all"]))
    assert found.proved and found.conjuncts and all(each.without == "" for each in found.conjuncts)
    assert {each.verdict for each in found.assessments.values()} == {Verdict.PROVED}
