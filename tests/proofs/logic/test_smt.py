"""SMT-LIB2 text: canonical, deterministic, the same problem for both solvers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, Sort
from thence.proofs.logic.formula import TRUE, conj, forall, holds, implies, local
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.smt import smt_text
from thence.proofs.solving.solver import Check, SolverName, SolverPool
from thence.proofs.theory.obligations import theorem_scheme

A, B, C = (ir.Variable(name, MESSAGE) for name in "abc")
TIME = Sort("time")
SOLVERS: tuple[SolverName, ...] = ("z3", "cvc5")


def transitivity(first: str, second: str, third: str, relation: str) -> ir.Expr:
    x, y, z = (ir.Variable(name, MESSAGE) for name in (first, second, third))
    chain = conj([holds(relation, local(x), local(y)), holds(relation, local(y), local(z))])
    return forall([x, y, z], implies(chain, holds(relation, local(x), local(z))))


def obligation(relation: str = "r", names: tuple[str, str, str] = ("a", "b", "c")) -> Obligation:
    symbol = ir.Symbol(relation, (A, B), BOOL)
    hypothesis = ir.NamedFormula("transitive", transitivity(*names, relation))
    return Obligation(
        "closed", Signature((MESSAGE,), (), (symbol,)), (hypothesis,), ir.NamedFormula("goal", hypothesis.body)
    )


def without_comments(text: str) -> str:
    return "\n".join(line.partition(";")[0].rstrip() for line in text.splitlines())


def test_renaming_changes_nothing_but_comments() -> None:
    one, other = smt_text(obligation()), smt_text(obligation("follows", ("x", "y_1", "f0")))
    assert one != other
    assert without_comments(one) == without_comments(other)


def test_the_same_text_every_time(library: Callable[[str], ir.Specification]) -> None:
    theorem = library("execution").theorems[0]
    first = [smt_text(each) for each in theorem_scheme(theorem).obligations]
    assert first == [smt_text(each) for each in theorem_scheme(theorem).obligations]
    assert all(text.endswith("(check-sat)\n") and text.count("(check-sat)") == 1 for text in first)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_goal_that_is_a_hypothesis_is_proved(pool: SolverPool, solver: SolverName) -> None:
    assert obligation().by_frame
    answer = pool.ask(Check(solver, smt_text(obligation()), 5_000, 0))
    assert answer.status == "unsat"


def order(goal: ir.Expr, *constants: ir.Variable) -> str:
    return smt_text(
        Obligation("order", Signature((TIME,), ("time",), ()), (), ir.NamedFormula("goal", goal), constants)
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_ordered_sort_is_totally_and_strictly_ordered(pool: SolverPool, solver: SolverName) -> None:
    s, t = ir.Variable("s", TIME), ir.Variable("t", TIME)
    less = ir.Comparison(BOOL, "<", local(s), local(t))
    at_most = ir.Comparison(BOOL, "<=", local(t), local(s))
    either = ir.Connective(BOOL, "iff", less, ir.Not(BOOL, at_most))
    assert pool.ask(Check(solver, order(either, s, t), 5_000, 0)).status == "unsat"
    assert pool.ask(Check(solver, order(less, s, t), 1_000, 0)).status in ("sat", "unknown")


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_nat_is_not_negative_wherever_it_comes_from(pool: SolverPool, solver: SolverName) -> None:
    n = ir.Variable("n", NAT)
    number = ir.Symbol("number", (A,), NAT)
    zero = ir.Literal_(NAT, 0)
    terms: list[ir.Expr] = [local(n), ir.Apply(NAT, "number", (local(A),))]
    goals: list[ir.Expr] = [ir.Comparison(BOOL, "<=", zero, term) for term in terms]
    goals.append(forall([ir.Variable("k", NAT)], ir.Comparison(BOOL, "<=", zero, ir.Local(NAT, "k"))))
    for goal in goals:
        stated = Obligation("nat", Signature((MESSAGE,), (), (number,)), (), ir.NamedFormula("goal", goal), (n, A))
        assert pool.ask(Check(solver, smt_text(stated), 5_000, 0)).status == "unsat"


def test_counts_are_functions_of_what_is_free_in_them() -> None:
    count = ir.Quantified(NAT, "count", (ir.Bound(MESSAGE, "m"),), TRUE)
    goal = ir.NamedFormula("goal", ir.Comparison(BOOL, "=", count, ir.Literal_(NAT, 0)))
    text = smt_text(Obligation("counted", Signature((MESSAGE,), (), ()), (), goal))
    assert "(declare-fun f0 () Int) ; count 1" in text
    assert "(assert (<= 0 f0))" in text and "; count 1 is zero" in text
