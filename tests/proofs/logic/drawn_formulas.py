"""Formulas over processes, messages and an ordered sort, with numbers and counts; structures to evaluate them."""

from __future__ import annotations

from typing import Literal

from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Sort
from thence.proofs.logic.formula import equal, holds
from thence.proofs.logic.structure import Structure, Value, tuples

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
some_numbers: st.SearchStrategy[ir.Expr] = st.one_of(
    st.integers(0, 3).map(lambda n: ir.Literal_(NAT, n)),
    processes.map(lambda p: ir.Apply(NAT, "count_of", (p,))),
)
arithmetic: st.SearchStrategy[Literal["+", "-", "min", "max"]] = st.sampled_from(["+", "-", "min", "max"])
numbers: st.SearchStrategy[ir.Expr] = st.one_of(
    some_numbers,
    st.tuples(arithmetic, some_numbers, some_numbers).map(lambda part: ir.Arithmetic(NAT, *part)),
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
more_bounds = st.one_of(bounds.map(lambda bound: (bound,)), st.just((ir.Bound(MESSAGE, "x"), ir.Bound(PROCESS, "p"))))


def counted(part: tuple[tuple[ir.Bound, ...], ir.Expr]) -> ir.Expr:
    return ir.Quantified(NAT, "count", *part)


formulas: st.SearchStrategy[ir.Expr] = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(orders, st.tuples(more_bounds, inner).map(counted), some_numbers).map(
            lambda part: ir.Comparison(BOOL, *part)
        ),
        st.tuples(inner, numbers, numbers, numbers).map(
            lambda part: ir.Comparison(BOOL, "<=", ir.Conditional(NAT, *part[:3]), part[3])
        ),
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
