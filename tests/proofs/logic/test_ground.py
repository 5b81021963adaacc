"""Grounding agrees with evaluation: over known cells a formula folds to its truth value."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.proofs.logic.drawn_formulas import SYMBOLS, TIME, UNIVERSE, formulas, structures

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT
from thence.proofs.logic.ground import Grounding, Term, literal
from thence.proofs.logic.structure import Structure, Value, evaluate


def cell(value: Value, symbol: ir.Symbol) -> Term:
    """A known value as the grounding writes it."""
    if symbol.result in (BOOL, NAT, TIME):
        return literal(value)
    return {int(value): "true"}


@settings(derandomize=True, deadline=None, max_examples=250)
@given(formulas, structures(), st.integers(0, 1), st.integers(0, 1), st.integers(0, 1))
def test_known_cells_fold_to_what_the_evaluator_says(
    formula: ir.Expr, structure: Structure, m: int, x: int, p: int
) -> None:
    import z3

    grounding = Grounding(UNIVERSE, frozenset({"time"}))
    state = {
        symbol.name: {key: cell(value, symbol) for key, value in structure.tables[symbol.name].items()}
        for symbol in SYMBOLS
    }
    environment: dict[str, Term] = {"m": {m: "true"}, "x": {x: "true"}, "p": {p: "true"}}
    text = grounding.formula(formula, state, environment)
    (parsed,) = z3.parse_smt2_string(f"(assert {text})") if text != "true" else (z3.BoolVal(True),)
    assert z3.is_true(z3.simplify(parsed)) == evaluate(formula, structure, {"m": m, "x": x, "p": p})


def test_a_fresh_choice_has_exactly_one_value() -> None:
    grounding = Grounding({"process": 3, "message": 1})
    cells = grounding.fresh_cells(SYMBOLS[2])
    assert set(grounding.constants) == {"src!0=0", "src!0=1", "src!0=2"}
    values = {"src!0=0": False, "src!0=1": True, "src!0=2": False}
    assert grounding.table(cells, values) == {(0,): 1}
    assert len(grounding.assertions) == 4
