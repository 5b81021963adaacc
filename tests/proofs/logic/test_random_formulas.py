"""Random formulas: solvers and the finite search are given what the evaluator says, and substitution is evaluation."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from random import Random

import pytest
import z3
from tests.proofs.logic.drawn_formulas import (
    SYMBOLS,
    TIME,
    UNIVERSE,
    drawn_environment,
    drawn_formula,
    drawn_message,
    drawn_process,
    drawn_structure,
)
from tests.proofs.machine.against_execution.closed_smt import closed_text

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.proofs.logic.formula import TRUE, Unsupported, substitute
from thence.proofs.logic.ground import Grounding, Term, literal
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.structure import Value, evaluate
from thence.proofs.solving.finite_models import Problem, find_model
from thence.proofs.solving.solver import SolverPool

CONSTANTS = (ir.Variable("m", MESSAGE), ir.Variable("x", MESSAGE), ir.Variable("p", PROCESS))
SIGNATURE = Signature((PROCESS, MESSAGE, TIME), ("time",), SYMBOLS)
EFFORT = 500_000
"""A limit on each question, in the solver's own measure: a few, with counts in counts, have no end in sight."""

SEEDS = range(1, 6)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_text_for_solvers_says_what_the_evaluator_says(seed: int) -> None:
    chance, answers = Random(seed), Counter[str]()
    for number in range(40):
        hypothesis = drawn_formula(chance, 2) if number % 3 == 0 else TRUE
        goal = drawn_formula(chance, chance.choice((1, 2, 2, 3)))
        structure, environment = drawn_structure(chance), drawn_environment(chance)
        known = ir.NamedFormula("known", hypothesis)
        obligation = Obligation("drawn", SIGNATURE, (known,), ir.NamedFormula("goal", goal), CONSTANTS)
        solver = z3.Solver()
        solver.set("rlimit", EFFORT)
        solver.from_string(closed_text(obligation, structure, environment))
        try:
            lost = evaluate(hypothesis, structure, environment) and not evaluate(goal, structure, environment)
        except Unsupported:  # counts below quantifiers over all numbers
            continue
        answer = str(solver.check())
        assert answer in ("sat" if lost else "unsat", "unknown"), (hypothesis, goal, structure, environment)
        answers[answer] += 1
    assert answers["sat"] > 5 and answers["unsat"] > 5, answers


def cell(value: Value, symbol: ir.Symbol, ordered: frozenset[str]) -> Term:
    """A known value as the grounding writes it."""
    if symbol.result in (BOOL, NAT) or str(symbol.result) in ordered:
        return literal(value)
    return {int(value): "true"}


@pytest.mark.parametrize("seed", SEEDS)
def test_known_cells_fold_to_what_the_evaluator_says(seed: int) -> None:
    chance = Random(seed)
    for _ in range(60):
        formula, structure = drawn_formula(chance, chance.choice((1, 2, 3))), drawn_structure(chance)
        values = drawn_environment(chance)
        ordered = frozenset({"time"} if chance.random() < 0.5 else ())  # compared as numbers, or as choices
        grounding = Grounding(UNIVERSE, ordered)
        state = {
            symbol.name: {key: cell(value, symbol, ordered) for key, value in structure.tables[symbol.name].items()}
            for symbol in SYMBOLS
        }
        environment: dict[str, Term] = {name: {value: "true"} for name, value in values.items()}
        try:
            text = grounding.formula(formula, state, environment)
        except Unsupported:
            continue
        (parsed,) = z3.parse_smt2_string(f"(assert {text})") if text != "true" else (z3.BoolVal(True),)
        told = (formula, structure, values)
        assert z3.is_true(z3.simplify(parsed)) == evaluate(formula, structure, values), told


@pytest.mark.parametrize("seed", SEEDS)
def test_substitution_is_evaluation_with_other_values(seed: int) -> None:
    chance = Random(seed)
    for _ in range(100):
        formula, structure = drawn_formula(chance, chance.choice((1, 2, 3))), drawn_structure(chance)
        values = {"m": drawn_message(chance), "x": drawn_message(chance), "p": drawn_process(chance)}
        environment = drawn_environment(chance)
        others = {name: evaluate(term, structure, environment) for name, term in values.items()}
        with suppress(Unsupported):
            found = evaluate(substitute(formula, values), structure, environment)
            assert found == evaluate(formula, structure, others), (formula, values, structure, environment)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_model_is_found_where_there_is_one(seed: int, pool: SolverPool) -> None:
    """Every model is evaluated before it is returned; where there is none, drawn structures are none either."""
    chance, found = Random(seed), Counter[bool]()
    sizes = [{"process": 2, "message": 2}]
    for _ in range(8):
        formulas = [drawn_formula(chance, chance.choice((1, 1, 2))) for _ in range(3)]
        problem = Problem(
            SIGNATURE,
            tuple(ir.NamedFormula(f"f{number}", formula) for number, formula in enumerate(formulas)),
            constants=CONSTANTS,
        )
        try:
            outcome = find_model(pool, problem, timeout_ms=2_000, seed=0, sizes=sizes, least=False)
        except Unsupported:
            continue
        found[outcome.model is not None] += 1
        if outcome.model is None and not outcome.unknown:
            for _ in range(100):
                structure, environment = drawn_structure(chance), drawn_environment(chance)
                assert not all(evaluate(formula, structure, environment) for formula in formulas), problem
    assert found[True]
