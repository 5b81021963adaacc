"""Theorems: proved at L3, refuted by executions that an independent oracle rejects too, every assumption dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.finite_models import find_model
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.proofs.theory.countermodel import counterexample
from thence.proofs.theory.obligations import refutation_problem
from thence.proofs.theory.prover import prove_theorem
from thence.spec.events import Deliver, Send
from thence.spec.oracle import Oracle
from thence.spec.verdict import Level, Result, Verdict

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]


def theorem(library: Library, name: str) -> ir.Theorem:
    return next(each for each in library("execution").theorems if each.name == name)


@pytest.fixture
def proved(library: Library, pool: SolverPool) -> Callable[[str], Result]:
    return lambda name: prove_theorem(ProofSession(pool), theorem(library, name)).result


def test_fifo_and_sps_give_causal_delivery_and_need_no_self_sends(proved: Callable[[str], Result]) -> None:
    result = proved("fifo_sps_causal")
    assert (result.verdict, result.level, result.expected) == (Verdict.PROVED, Level.L3, True)
    assert result.facts["obligations"] == 5
    needed = {each["name"]: each["needed"] for each in result.facts["assumptions"]}
    assert needed == {"fifo": True, "sps": True, "no_self_sends": True}
    assert "linear form" in result.explanation


def test_the_hidden_assumption_comes_out_by_itself(proved: Callable[[str], Result]) -> None:
    result = proved("proposition_4_2_as_stated")
    assert (result.verdict, result.expected) == (Verdict.REFUTED, True)
    events = result.facts["counterexample"]["events"]
    sends = [event for event in events if event["event"] == "send"]
    assert len(sends) == 3
    assert any(send["destinations"] == [send["process"]] for send in sends)
    assert result.facts["counterexample"]["violated"].keys() == {"causal"}


def test_a_false_theorem_without_expectation_is_refuted_and_a_surprise(specify: Specify, pool: SolverPool) -> None:
    specification = specify(
        """
theory things:
  sort thing
  relation good: thing
  property all_good: forall x. good(x)
theorem wish in things:
  prove all_good
"""
    )
    result = prove_theorem(ProofSession(pool), specification.theorems[0]).result
    assert (result.verdict, result.expected) == (Verdict.REFUTED, False)
    assert result.facts["counterexample"]["violated"] == {"all_good": {"x": "thing0"}}


NEEDS = """
theory things:
  sort thing
  relation good, fine, bad: thing
  property all_good: forall x. good(x)
  property all_fine: forall x. fine(x)
  property good_or_bad: forall x. good(x) or bad(x)
theorem plain in things:
  assume all_good, all_fine
  prove good_or_bad
  needs {needs}
"""


@pytest.mark.parametrize(
    ("needs", "expected"), [("all_good", True), ("all_fine", False), ("all_good, all_fine", False)]
)
def test_needs_must_be_exactly_what_is_needed(specify: Specify, pool: SolverPool, needs: str, expected: bool) -> None:
    result = prove_theorem(ProofSession(pool), specify(NEEDS.format(needs=needs)).theorems[0]).result
    assert result.verdict is Verdict.PROVED
    assert result.expected is expected
    assert {each["name"]: each["needed"] for each in result.facts["assumptions"]} == {
        "all_good": True,
        "all_fine": False,
    }
    assert "all_fine is not needed" in result.explanation


def test_one_solver_is_level_two(library: Library, pool: SolverPool) -> None:
    result = prove_theorem(ProofSession(pool, Options(solvers=("cvc5",))), theorem(library, "csps_implies_sps")).result
    assert (result.verdict, result.level) == (Verdict.PROVED, Level.L2)


@pytest.mark.parametrize(
    ("name", "kind"), [("sps_alone", "fifo"), ("fifo_alone", "causal"), ("permission_for_one_step", "causal")]
)
def test_the_oracle_rejects_the_executions_too(library: Library, pool: SolverPool, name: str, kind: str) -> None:
    stated = theorem(library, name)
    outcome = find_model(pool, refutation_problem(stated, stated.assume), timeout_ms=10_000, seed=0)
    assert outcome.model is not None
    shown = counterexample(stated.theory, stated.prove, outcome.model, "model")
    assert shown.execution is not None
    oracle = Oracle(shown.execution.processes)
    kinds: set[str] = set()
    for event in shown.execution.events:
        match event:
            case Send():
                oracle.send(event.process, event.message, event.destinations)
            case Deliver():
                kinds |= {finding.kind for finding in oracle.deliver(event.process, event.message)}
    assert kind in kinds


def test_a_claim_that_is_not_kept_is_shown_with_the_step(library: Library, pool: SolverPool) -> None:
    stated = theorem(library, "fifo_sps_causal")
    [induction] = stated.inductions
    [part] = induction.parts
    [claim] = part.claims
    denied = replace(claim, body=ir.Not(claim.body.type, claim.body))
    weak = ir.Induction((replace(part, claims=(denied,)),))
    broken = ir.Theorem("broken", stated.theory, stated.assume, stated.prove, (weak,), (), ())
    result = prove_theorem(ProofSession(pool, Options(timeout_ms=1_500)), broken).result
    assert result.verdict is Verdict.UNKNOWN
    assert not result.expected
    assert "`base local` does not follow" in result.explanation
