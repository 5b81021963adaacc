"""The first k steps as an obligation: invalid exactly where a run of k steps violates, proved where none can."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.bounded.unrolling import unrolled
from thence.proofs.logic.formula import FALSE
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.machine.goals import Falsification
from thence.proofs.machine.prover import statement_formula
from thence.proofs.machine.reachability import SearchScope, search
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import Check, SolverPool

Library = Callable[[str], ir.Specification]

SCOPE = SearchScope({"process": 3, "message": 3}, 6)

MUTANTS = (
    ("mf", "does_not_wait", "fifo"),
    ("mf", "does_not_wait", "one_at_a_time"),
    ("mf", "posts_in_any_order", "output_order"),
    ("mf", "hands_over_again", "at_most_once"),
    ("hybrid_basic", "permit_too_early", "permit_ok"),
    ("hybrid_basic", "acknowledged_before_delivery", "life"),
    ("hybrid_basic", "delivered_in_any_order", "fifo"),
)


def status(pool: SolverPool, obligation: Obligation) -> str:
    return pool.ask(Check("z3", smt_text(obligation), 20_000, 0)).status


@pytest.mark.parametrize(("file", "mutant", "statement"), MUTANTS)
def test_a_violation_comes_with_the_step_that_a_run_shows(
    library: Library, pool: SolverPool, file: str, mutant: str, statement: str
) -> None:
    (machine,) = [
        each.mutated for each in library(file).mutants if each.name == mutant and isinstance(each.mutated, ir.Machine)
    ]
    formula = statement_formula(machine, statement)
    goals = {statement: Falsification(formula)}
    run = search(ProofSession(pool, Options(timeout_ms=20_000)), machine, goals, scopes=(SCOPE,)).runs[statement]
    obligations = unrolled(machine, formula, len(run.steps))
    assert [status(pool, each) for each in obligations[:-1]] == ["unsat"] * (len(obligations) - 1)
    assert status(pool, obligations[-1]) != "unsat"


def test_nothing_else_is_assumed(library: Library, pool: SolverPool) -> None:
    """The hypotheses are satisfiable: a contradiction among them would make everything hold."""
    (machine,) = library("mf").machines
    for obligation in unrolled(machine, ir.NamedFormula("false", FALSE), 3):
        assert status(pool, obligation) != "unsat"
