"""Terms inside one another, over unknown cells: their text says what the evaluator says, and does not grow too fast."""

from __future__ import annotations

from random import Random

import pytest
import z3

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, Sort, Type
from thence.proofs.logic.ground import Cells, Grounding, Term
from thence.proofs.logic.structure import Structure, Value, evaluate, tuples

TIME = Sort("time")
UNIVERSE = {"message": 2, "time": 3, "nat": 4}
M = ir.Variable("m", MESSAGE)
SYMBOLS = (
    ir.Symbol("f", (M, ir.Variable("k", NAT)), NAT),
    ir.Symbol("g", (M, ir.Variable("k", NAT), ir.Variable("t", TIME)), MESSAGE),
    ir.Symbol("h", (ir.Variable("t", TIME), M), TIME),
    ir.Symbol("r", (M, ir.Variable("t", TIME)), BOOL),
)
LEAVES: dict[Type, tuple[ir.Expr, ...]] = {
    MESSAGE: (ir.Local(MESSAGE, "m"),),
    TIME: (ir.Local(TIME, "t"),),
    NAT: (ir.Literal_(NAT, 0), ir.Literal_(NAT, 2), ir.Literal_(NAT, 9)),
}


def drawn(chance: Random, type_: Type, depth: int) -> ir.Expr:
    """A term: one argument of each function is deep, so that there are long chains."""
    if depth == 0:
        return chance.choice(LEAVES[type_])
    if type_ == NAT and chance.random() < 0.2:
        return ir.Arithmetic(NAT, "+", drawn(chance, NAT, depth - 1), ir.Literal_(NAT, 1))
    symbol = next(each for each in SYMBOLS if each.result == type_)
    deep = chance.randrange(len(symbol.parameters))
    depths = [depth - 1 if at == deep else 0 for at in range(len(symbol.parameters))]
    types = [parameter.type for parameter in symbol.parameters]
    return ir.Apply(type_, symbol.name, tuple(map(drawn, [chance] * len(types), types, depths)))


def fixed(cells: Cells, table: dict[tuple[int, ...], Value]) -> list[str]:
    """The cells have the values of a table."""
    return [f"(= {_is(cells[key], value)} true)" for key, value in table.items()]


def _is(cell: Term, value: Value) -> str:
    if not isinstance(cell, str):
        return cell[int(value)]
    return f"(= {cell} {str(value).lower()})"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ordered", [frozenset[str](), frozenset({"time"})])
def test_the_text_over_unknown_cells_says_what_the_evaluator_says(seed: int, ordered: frozenset[str]) -> None:
    chance, told = Random(seed), set[bool]()
    for _ in range(12):
        term, depth = drawn(chance, TIME, 6), chance.choice((1, 3, 6))
        operators = ("=", "<=")
        numbers = ir.Comparison(BOOL, chance.choice(operators), drawn(chance, NAT, depth), drawn(chance, NAT, 2))
        messages = ir.Comparison(BOOL, "=", drawn(chance, MESSAGE, depth), drawn(chance, MESSAGE, 2))
        about = ir.Apply(BOOL, "r", (drawn(chance, MESSAGE, 2), term))
        formula = ir.Connective(BOOL, "iff", ir.Connective(BOOL, "iff", numbers, messages), about)
        grounding, tables = Grounding(UNIVERSE, ordered), dict[str, dict[tuple[int, ...], Value]]()
        state = {symbol.name: grounding.fresh_cells(symbol) for symbol in SYMBOLS}
        said: list[str] = []
        for symbol in SYMBOLS:
            keys = tuples([parameter.type for parameter in symbol.parameters], UNIVERSE)
            most = 2 if symbol.result == BOOL else UNIVERSE[str(symbol.result)]
            tables[symbol.name] = {
                key: bool(chance.randrange(2)) if symbol.result == BOOL else chance.randrange(most) for key in keys
            }
            said += fixed(state[symbol.name], tables[symbol.name])
        m, t = chance.randrange(2), chance.randrange(3)
        environment = {"m": grounding.element(m, MESSAGE), "t": grounding.element(t, TIME)}
        text = grounding.formula(formula, state, environment)
        declared = "".join(f"(declare-const |{name}| {sort})" for name, sort in grounding.constants.items())
        asserted = "".join(f"(assert {each})" for each in (*grounding.assertions, *said, text))
        solver = z3.Solver()
        solver.from_string(declared + asserted)
        true = bool(evaluate(formula, Structure(UNIVERSE, tables), {"m": m, "t": t}))
        told.add(true)
        assert str(solver.check()) == ("sat" if true else "unsat"), formula
    assert told == {True, False}


def test_a_chain_of_numbers_stays_short() -> None:
    """Each level adds as much as the one before."""

    def length(depth: int) -> int:
        term: ir.Expr = ir.Literal_(NAT, 0)
        for _ in range(depth):
            term = ir.Apply(NAT, "f", (ir.Local(MESSAGE, "m"), term))
        grounding = Grounding(UNIVERSE)
        state = {symbol.name: grounding.fresh_cells(symbol) for symbol in SYMBOLS}
        return len(str(grounding.term(term, state, {"m": grounding.element(0, MESSAGE)})))

    assert length(30) - length(20) == length(20) - length(10)
