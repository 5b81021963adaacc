"""Runs that end: a machine that comes to rest is searched like any other."""

from __future__ import annotations

from collections.abc import Callable

from thence.dsl import ir
from thence.dsl.check.stated.machine_formula import machine_formula
from thence.dsl.find import specification
from thence.proofs.infer.budget import Budget
from thence.proofs.infer.finite.runs import FiniteRuns
from thence.proofs.infer.finite.solver_process import SolverProcess

MACHINE = specification("fifo").machines[0]


def formula(text: str) -> ir.Expr:
    body, faults = machine_formula(MACHINE, text, "a test")
    assert body is not None and faults == ()
    return body


def test_a_short_run_is_found_at_any_depth() -> None:
    for depth in (2, 6, 12):
        with SolverProcess(Budget(120)) as process:
            runs = FiniteRuns(MACHINE, {"process": 2, "message": 1}, depth, process)
            found = runs.violation(formula("forall a. not sent(a)"))
            assert found is not None and [action.name for action, _ in found.steps] == ["causal_send"]
            assert runs.violation(formula("forall a. delivered(a) implies sent(a)")) is None
            if depth > 2:
                delivered = runs.violation(formula("forall a. not delivered(a)"))
                assert delivered is not None and delivered.steps[-1][0].name == "deliver"


COUNTING = """
machine counting:
  delivery off
  function total(p: process): nat
  transition add(p: process, k: nat):
    require k < 3
    total(p) := total(p) + k
  invariant low: forall p. total(p) < 4
  invariant lower: forall p. total(p) < 7
"""
"""In two steps of at most 2 each, `low` is lost, and `lower` is not."""


def test_transitions_take_numbers(specify: Callable[[str], ir.Specification]) -> None:
    (machine,) = specify(COUNTING).machines
    low, lower = (each.body for each in machine.invariants)
    with SolverProcess(Budget(120)) as process:
        runs = FiniteRuns(machine, {"process": 2, "message": 2}, 2, process)
        run = runs.violation(low, 60.0)
        assert run is not None and [arguments[1] for _, arguments in run.steps] == [2, 2]
        assert runs.violation(lower, 60.0) is None and not runs.late


def test_runs_anew_are_as_long_and_know_nothing_of_earlier_questions(
    specify: Callable[[str], ir.Specification],
) -> None:
    (machine,) = specify(COUNTING).machines
    low, lower = (each.body for each in machine.invariants)
    with SolverProcess(Budget(120)) as process:
        one = FiniteRuns(machine, {"process": 2, "message": 2}, 2, process)
        first = [one.violation(each, 60.0) for each in (low, lower)]
        again = one.anew()
        assert [again.violation(each, 60.0) for each in (low, lower)] == first and first[0] is not None
