"""Finite structures and the evaluator: every operator, and least relations."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT
from thence.proofs.logic.formula import conj, forall, holds, local
from thence.proofs.logic.structure import Structure, Value, evaluate, least_relations, violations

M, X = ir.Variable("m", MESSAGE), ir.Variable("x", MESSAGE)
STRUCTURE = Structure({"message": 2}, {"sent": {(0,): True, (1,): False}, "number": {(0,): 3, (1,): 5}})


def nat(value: int) -> ir.Expr:
    return ir.Literal_(NAT, value)


def number(of: ir.Variable) -> ir.Expr:
    return ir.Apply(NAT, "number", (local(of),))


def test_connectives() -> None:
    for left in (True, False):
        for right in (True, False):
            a, b = ir.Literal_(BOOL, left), ir.Literal_(BOOL, right)
            results = {
                "and": left and right,
                "or": left or right,
                "implies": not left or right,
                "iff": left == right,
            }
            for operator in ("and", "or", "implies", "iff"):
                assert evaluate(ir.Connective(BOOL, operator, a, b), STRUCTURE, {}) is results[operator]


def test_arithmetic_and_order() -> None:
    environment = {"m": 0, "x": 1}
    assert evaluate(ir.Arithmetic(NAT, "+", number(M), nat(2)), STRUCTURE, environment) == 5
    assert evaluate(ir.Arithmetic(NAT, "-", number(X), number(M)), STRUCTURE, environment) == 2
    assert evaluate(ir.Arithmetic(NAT, "max", number(M), number(X)), STRUCTURE, environment) == 5
    assert evaluate(ir.Arithmetic(NAT, "min", number(M), number(X)), STRUCTURE, environment) == 3
    assert evaluate(ir.Comparison(BOOL, "<", number(M), number(X)), STRUCTURE, environment) is True
    assert evaluate(ir.Comparison(BOOL, "<=", number(X), number(M)), STRUCTURE, environment) is False
    assert evaluate(ir.Zero(NAT), STRUCTURE, {}) == 0


def test_quantifiers() -> None:
    sent = holds("sent", local(M))
    bound = (ir.Bound(MESSAGE, "m"),)
    assert evaluate(ir.Quantified(BOOL, "forall", bound, sent), STRUCTURE, {}) is False
    assert evaluate(ir.Quantified(BOOL, "exists", bound, sent), STRUCTURE, {}) is True
    assert evaluate(ir.Quantified(NAT, "count", bound, sent), STRUCTURE, {}) == 1


def test_violations_are_the_false_instances() -> None:
    formula = ir.NamedFormula("all_sent", forall([M], holds("sent", local(M))))
    assert list(violations(formula, STRUCTURE)) == [{"m": 1}]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_least_relation_is_the_transitive_closure(edges: set[tuple[int, int]]) -> None:
    a, b, x = (ir.Variable(name, MESSAGE) for name in "abx")
    step = ir.Quantified(
        BOOL,
        "exists",
        (ir.Bound(MESSAGE, "x"),),
        conj([holds("path", local(a), local(x)), holds("path", local(x), local(b))]),
    )
    rules = (ir.NamedFormula("edge", holds("edge", local(a), local(b))), ir.NamedFormula("step", step))
    table: dict[tuple[int, ...], Value] = {(i, j): (i, j) in edges for i in range(4) for j in range(4)}
    found = least_relations([ir.Inductive("path", (a, b), rules)], Structure({"message": 4}, {"edge": table}))["path"]
    closure = set(edges)
    while longer := {(i, k) for i, j in closure for j2, k in closure if j == j2} - closure:
        closure |= longer
    assert {key for key, value in found.items() if value} == closure
