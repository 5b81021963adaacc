"""Grounding agrees with evaluation: over known cells a formula folds to its truth value."""

from __future__ import annotations

from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Sort
from thence.proofs.logic.formula import equal, holds
from thence.proofs.logic.ground import Grounding, Term, literal
from thence.proofs.logic.structure import Structure, Value, evaluate, tuples

TIME = Sort("time")
SYMBOLS = (
    ir.Symbol("sent", (ir.Variable("m", MESSAGE),), BOOL),
    ir.Symbol("past", (ir.Variable("p", PROCESS), ir.Variable("m", MESSAGE)), BOOL),
    ir.Symbol("src", (ir.Variable("m", MESSAGE),), PROCESS),
    ir.Symbol("next", (ir.Variable("m", MESSAGE),), MESSAGE),
    ir.Symbol("c", (ir.Variable("m", MESSAGE),), TIME),
    ir.Symbol("late", (ir.Variable("t", TIME),), BOOL),
    ir.Symbol("count_of", (ir.Variable("p", PROCESS),), NAT),
)
UNIVERSE = {"process": 2, "message": 2, "time": 3}

message_names = st.sampled_from([ir.Local(MESSAGE, "m"), ir.Local(MESSAGE, "x")])
messages: st.SearchStrategy[ir.Expr] = st.one_of(
    message_names, message_names.map(lambda m: ir.Apply(MESSAGE, "next", (m,)))
)
processes = st.one_of(st.just(ir.Local(PROCESS, "p")), messages.map(lambda m: ir.Apply(PROCESS, "src", (m,))))
times = messages.map(lambda m: ir.Apply(TIME, "c", (m,)))
numbers = st.one_of(
    st.integers(0, 3).map(lambda n: ir.Literal_(NAT, n)),
    processes.map(lambda p: ir.Apply(NAT, "count_of", (p,))),
    processes.map(lambda p: ir.Arithmetic(NAT, "+", ir.Apply(NAT, "count_of", (p,)), ir.Literal_(NAT, 1))),
)
orders: st.SearchStrategy[Literal["=", "<", "<="]] = st.sampled_from(["=", "<", "<="])
atoms: st.SearchStrategy[ir.Expr] = st.one_of(
    messages.map(lambda m: holds("sent", m)),
    st.tuples(processes, messages).map(lambda pair: holds("past", *pair)),
    times.map(lambda t: holds("late", t)),
    st.tuples(processes, processes).map(lambda pair: equal(*pair)),
    st.tuples(messages, messages).map(lambda pair: equal(*pair)),
    st.tuples(orders, times, times).map(lambda part: ir.Comparison(BOOL, *part)),
    st.tuples(orders, numbers, numbers).map(lambda part: ir.Comparison(BOOL, *part)),
)
operators: st.SearchStrategy[Literal["and", "or", "implies", "iff"]] = st.sampled_from(["and", "or", "implies", "iff"])
kinds: st.SearchStrategy[Literal["forall", "exists"]] = st.sampled_from(["forall", "exists"])
bounds = st.sampled_from([ir.Bound(MESSAGE, "m"), ir.Bound(MESSAGE, "x"), ir.Bound(PROCESS, "p")])
formulas: st.SearchStrategy[ir.Expr] = st.recursive(
    atoms,
    lambda inner: st.one_of(
        inner.map(lambda body: ir.Not(BOOL, body)),
        st.tuples(operators, inner, inner).map(lambda part: ir.Connective(BOOL, *part)),
        st.tuples(kinds, bounds, inner).map(lambda part: ir.Quantified(BOOL, part[0], (part[1],), part[2])),
        st.tuples(inner, inner, inner).map(lambda part: ir.Conditional(BOOL, *part)),
    ),
    max_leaves=8,
)


@st.composite
def structures(draw: st.DrawFn) -> Structure:
    tables: dict[str, dict[tuple[int, ...], Value]] = {}
    for symbol in SYMBOLS:
        values: st.SearchStrategy[Value]
        if symbol.result == BOOL:
            values = st.booleans()
        elif symbol.result == NAT:
            values = st.integers(0, 3)
        else:
            assert isinstance(symbol.result, Sort)
            values = st.integers(0, UNIVERSE[symbol.result.name] - 1)
        keys = tuples([parameter.type for parameter in symbol.parameters], UNIVERSE)
        tables[symbol.name] = {key: draw(values) for key in keys}
    return Structure(UNIVERSE, tables)


def cell(value: Value, symbol: ir.Symbol, ordered: frozenset[str]) -> Term:
    """A known value as the grounding writes it."""
    if symbol.result in (BOOL, NAT) or str(symbol.result) in ordered:
        return literal(value)
    return {int(value): "true"}


@settings(derandomize=True, deadline=None, max_examples=250)
@given(
    formulas,
    structures(),
    st.integers(0, 1),
    st.integers(0, 1),
    st.integers(0, 1),
    st.sampled_from([frozenset({"time"}), frozenset[str]()]),
)
def test_known_cells_fold_to_what_the_evaluator_says(
    formula: ir.Expr, structure: Structure, m: int, x: int, p: int, ordered: frozenset[str]
) -> None:
    """Elements of an ordered sort are compared as numbers, and as choices."""
    import z3

    grounding = Grounding(UNIVERSE, ordered)
    state = {
        symbol.name: {key: cell(value, symbol, ordered) for key, value in structure.tables[symbol.name].items()}
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
