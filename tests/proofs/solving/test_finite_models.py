"""Finite models: smallest first, minimal, and believed only after evaluation."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import permutations
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Sort
from thence.proofs.logic.formula import Unsupported, conj, equal, forall, holds, local, negation
from thence.proofs.logic.ground import Grounding
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.structure import CrossCheckError, Structure, evaluate
from thence.proofs.solving.finite_models import (
    Model,
    Problem,
    checked,
    describe_size,
    find_model,
    full_universe,
    negated_obligation,
)
from thence.proofs.solving.solver import Answer, SolverPool, SolverRequest

A, B, M = (ir.Variable(name, MESSAGE) for name in "abm")
TIME = Sort("time")
SENT = ir.Symbol("sent", (M,), BOOL)
HB = ir.Symbol("hb", (A, B), BOOL)
CLOCK = ir.Symbol("c", (M,), TIME)
SIGNATURE = Signature((PROCESS, MESSAGE, TIME), ("time",), (SENT, HB, CLOCK))


def exists(variables: list[ir.Variable], body: ir.Expr) -> ir.Expr:
    return ir.Quantified(BOOL, "exists", tuple(ir.Bound(v.type, v.name) for v in variables), body)


def test_the_smallest_universe_with_fewest_facts(pool: SolverPool) -> None:
    two = exists([A, B], conj([negation(equal(local(A), local(B))), holds("sent", local(A))]))
    outcome = find_model(pool, Problem(SIGNATURE, (ir.NamedFormula("two", two),)), timeout_ms=5_000, seed=0)
    assert outcome.model is not None
    assert outcome.model.structure.universe["message"] == 2
    assert sum(outcome.model.structure.tables["sent"].values()) == 1
    assert sum(outcome.model.structure.tables["hb"].values()) == 0
    assert [size["message"] for size in outcome.sizes] == [1, 1, 2]


def test_no_model_says_where_was_looked(pool: SolverPool) -> None:
    contradiction = ir.NamedFormula("never", conj([holds("sent", local(M)), negation(holds("sent", local(M)))]))
    problem = Problem(SIGNATURE, (contradiction,), (), (M,))
    outcome = find_model(pool, problem, timeout_ms=5_000, seed=0)
    assert outcome.model is None and not outcome.unknown
    assert {"message": 4, "process": 3} in outcome.sizes


def test_the_negated_obligation_has_values_for_the_constants(pool: SolverPool) -> None:
    goal = ir.NamedFormula("goal", holds("sent", local(M)))
    outcome = find_model(
        pool, negated_obligation(Obligation("all sent", SIGNATURE, (), goal, (M,))), timeout_ms=5_000, seed=0
    )
    assert outcome.model is not None
    assert evaluate(goal.body, outcome.model.structure, outcome.model.environment) is False


def test_what_is_kept_of_formulas_changes_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """Problems share closed formulas, one of them about all numbers, which bounds those of the problem, and with each
    other order. Each has the same question in a pool that knows the formulas as in a new one."""
    number, rank = ir.Variable("k", NAT), ir.Symbol("rank", (M,), NAT)
    signature = Signature((PROCESS, MESSAGE), (), (SENT, HB, rank))
    ranked = ir.Apply(NAT, "rank", (local(M),))
    named = [
        ir.NamedFormula("all sent", forall((M,), holds("sent", local(M)))),
        ir.NamedFormula("numbers", forall((M, number), negation(equal(ranked, local(number))))),
        ir.NamedFormula("open", negation(holds("sent", local(A)))),
    ]
    asked: list[SolverRequest] = []
    written: list[ir.Expr] = []
    formula = Grounding.formula

    def grounded(own: Grounding, expr: ir.Expr, *rest: Any) -> str:
        written.append(expr)
        return formula(own, expr, *rest)

    def ask(own: SolverPool, request: SolverRequest) -> Answer:
        asked.append(request)
        return Answer("done", "", 0.0)

    monkeypatch.setattr(Grounding, "formula", grounded)
    monkeypatch.setattr(SolverPool, "ask", ask)
    sizes = ({"message": 2, "process": 1},)
    with SolverPool(1) as kept:
        for some in [*permutations(named), *permutations(named, 2)]:
            problem = Problem(signature, some, (), (A,))
            for pool in (kept, SolverPool(1)):
                with pool if pool is not kept else nullcontext():
                    find_model(pool, problem, timeout_ms=5_000, seed=0, sizes=sizes)
    assert len(asked) == 24 and all(one == other for one, other in zip(asked[::2], asked[1::2], strict=True))
    times = [sum(each is one.body for each in written) for one in named]
    assert times[0] < times[1] and times[0] < times[2], "the first is known, and no other is"


def test_an_ordered_sort_has_room_for_every_event() -> None:
    assert full_universe(SIGNATURE, {"message": 3, "process": 2}) == {"message": 3, "process": 2, "time": 3}


def test_least_relations_are_exact(pool: SolverPool) -> None:
    """Closed under its rules is not enough: what no rule derives is not in it."""
    rule = ir.NamedFormula("base", holds("sent", local(A)))
    inductive = ir.Inductive("hb", (A, B), (rule,))
    underived = ir.NamedFormula(
        "underived", exists([A, B], conj([holds("hb", local(A), local(B)), negation(holds("sent", local(A)))]))
    )
    outcome = find_model(pool, Problem(SIGNATURE, (underived,), (inductive,)), timeout_ms=5_000, seed=0)
    assert outcome.model is None


def test_a_model_that_the_evaluator_rejects_is_an_error_of_ours() -> None:
    everything = ir.NamedFormula("all", forall([M], holds("sent", local(M))))
    structure = Structure({"process": 1, "message": 1, "time": 1}, {"sent": {(0,): False}})
    with pytest.raises(CrossCheckError, match="all"):
        checked(Problem(SIGNATURE, (everything,)), Model(structure, {}))
    empty = structure.with_tables({"sent": {(0,): True}, "hb": {(0, 0): False}})
    inductive = ir.Inductive("hb", (A, B), (ir.NamedFormula("base", holds("sent", local(A))),))
    with pytest.raises(CrossCheckError, match="least"):
        checked(Problem(SIGNATURE, (), (inductive,)), Model(empty, {}))


def test_sizes_in_words() -> None:
    assert describe_size({"process": 1, "message": 3}) == "1 process, 3 messages"


def test_a_relation_over_numbers_has_a_window(pool: SolverPool) -> None:
    """Where it is true somewhere beyond two numbers that it is false of."""
    number = ir.Symbol("of", (ir.Variable("n", NAT),), BOOL)
    n, two = ir.Local(NAT, "n"), ir.Literal_(NAT, 2)
    body = ir.Connective(BOOL, "iff", ir.Comparison(BOOL, "=", n, two), ir.Apply(BOOL, "of", (n,)))
    formula = ir.NamedFormula("only_two", ir.Quantified(BOOL, "forall", (ir.Bound(NAT, "n"),), body))
    found = find_model(pool, Problem(Signature((MESSAGE,), (), (number,)), (formula,)), timeout_ms=5_000, seed=0)
    assert found.model is not None
    assert [key for key, value in found.model.structure.tables["of"].items() if value] == [(2,)]


def test_what_has_no_finite_table_is_refused(pool: SolverPool) -> None:
    """Two bound numbers that are added."""
    n = ir.Local(NAT, "n")
    body = ir.Comparison(BOOL, "=", ir.Arithmetic(NAT, "+", n, n), ir.Literal_(NAT, 3))
    formula = ir.NamedFormula("odd", ir.Quantified(BOOL, "forall", (ir.Bound(NAT, "n"),), body))
    with pytest.raises(Unsupported):
        find_model(pool, Problem(Signature((MESSAGE,), (), ()), (formula,)), timeout_ms=5_000, seed=0)


def test_functions_between_ordered_sorts_have_models(pool: SolverPool) -> None:
    t = ir.Variable("t", TIME)
    later = ir.Symbol("later", (t,), TIME)
    problem = Problem(
        Signature((MESSAGE, TIME), ("time",), (CLOCK, later)),
        (
            ir.NamedFormula(
                "up",
                exists([t], ir.Comparison(BOOL, "<", local(t), ir.Apply(TIME, "later", (local(t),)))),
            ),
        ),
    )
    outcome = find_model(pool, problem, timeout_ms=5_000, seed=0)
    assert outcome.model is not None
    assert any(key[0] < value for key, value in outcome.model.structure.tables["later"].items())


def test_an_ordered_sort_has_the_size_that_is_given() -> None:
    assert full_universe(SIGNATURE, {"message": 3, "process": 1}) == {"message": 3, "process": 1, "time": 3}
    assert full_universe(SIGNATURE, {"message": 3, "process": 1, "time": 2})["time"] == 2
