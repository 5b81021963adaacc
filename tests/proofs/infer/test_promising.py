"""Which invariants are enough in a small universe, held against every set of them."""

from __future__ import annotations

import time
from itertools import combinations, pairwise

import pytest

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.find import specification
from thence.proofs.infer.finite_steps import FiniteSteps, Precondition
from thence.proofs.infer.inference import (
    INDUCTIVE,
    Aids,
    Limits,
    about_states,
    beginning,
    hidden,
    infer,
    stated_goals,
    with_conjuncts,
)
from thence.proofs.infer.promising import promising
from thence.proofs.infer.solver_process import SolverProcess
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool


def names_of(machine: ir.Machine) -> list[str]:
    return [each.name for each in machine.invariants]


def is_closed(steps: FiniteSteps, machine: ir.Machine) -> bool:
    """Whether a machine's statements keep each other in a small universe."""
    goals = stated_goals(machine)
    known = [goal for goal in goals if not isinstance(goal, Precondition)]
    return all(
        isinstance(
            steps.enabled_against(goal, known) if isinstance(goal, Precondition) else steps.lost_or_used(goal, known),
            set,
        )
        for goal in goals
    )


@pytest.mark.parametrize("name", ["two_phase_commit", pytest.param("fifo", marks=pytest.mark.long)])
def test_the_sets_shrink_and_each_is_enough_in_a_small_universe(name: str, pool: SolverPool) -> None:
    machine = specification(name).machines[0]
    names = [each for each in names_of(machine) if each not in ("agreement", "validity")]
    session = ProofSession(pool, Options(workers=1))
    found = promising(session, machine, names, Limits(240.0), lambda _: None)
    assert found and all(len(less.given) < len(more.given) for more, less in pairwise(found))
    with SolverProcess(time.monotonic() + 600) as process:
        facts = [fact.body for fact in built_in.history_facts(machine.delivery)]
        for guess in found:
            left = about_states(hidden(machine, [each for each in names if each not in guess.given]))
            known = [ir.NamedFormula(f"clause{at}", each) for at, each in enumerate(guess.clauses)]
            more = with_conjuncts(left, known)
            assert is_closed(FiniteSteps(more, INDUCTIVE[0], facts, process), more)


def test_none_of_the_first_set_can_be_left_out_in_the_small_universes(pool: SolverPool) -> None:
    machine = specification("two_phase_commit").machines[0]
    names = [each for each in names_of(machine) if each not in ("agreement", "validity")]
    found = promising(ProofSession(pool, Options(workers=1)), machine, names, Limits(240.0), lambda _: None)
    first = found[0].given
    assert not found[0].clauses
    with SolverProcess(time.monotonic() + 600) as process:
        facts = [fact.body for fact in built_in.history_facts(machine.delivery)]

        def closed(given: tuple[str, ...]) -> bool:
            left = about_states(hidden(machine, [each for each in names if each not in given]))
            return all(is_closed(FiniteSteps(left, universe, facts, process), left) for universe in INDUCTIVE)

        assert closed(first)
        assert not any(closed(less) for size in range(len(first)) for less in combinations(first, size))


def test_a_search_that_begins_with_clauses_rests_on_the_prover(pool: SolverPool) -> None:
    """A false clause to begin with is not taken; a true one is."""
    machine = hidden(specification("synchronous").machines[0], ["all"])
    session = ProofSession(pool, Options(workers=1))
    plain = infer(session, machine, Limits(240.0), lambda _: None)
    true = [each.formula.body for each in plain.conjuncts]
    false = specification("fifo").machines[0].invariants[0].body
    found = infer(session, machine, Limits(240.0), lambda _: None, Aids(beginning(machine, [*true, false])))
    assert found.proved and found.seconds < 240.0
    assert false not in [each.formula.body for each in found.conjuncts]
