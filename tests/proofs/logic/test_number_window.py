"""Quantifiers over all numbers: the instances that stand for all of them do; machines over numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT
from thence.proofs.logic.formula import Unsupported, forall, holds, negation
from thence.proofs.logic.ground import Grounding, Term, literal
from thence.proofs.logic.number_window import instances_of_numbers, speaks_of_all_numbers
from thence.proofs.logic.structure import Structure, Value, evaluate
from thence.proofs.machine.prover import prove_machine
from thence.proofs.machine.transitions import actions, step
from thence.proofs.machine.vacuity import check_vacuity
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

K, N = ir.Local(NAT, "k"), ir.Local(NAT, "n")
SYMBOLS = (ir.Symbol("used", (ir.Variable("n", NAT),), BOOL), ir.Symbol("index", (ir.Variable("n", NAT),), NAT))
FAR = 120
"""Farther out than anything in these formulas can see."""

names = st.sampled_from([K, N])
bases: st.SearchStrategy[ir.Expr] = st.one_of(names, names.map(lambda n: ir.Apply(NAT, "index", (n,))))
numbers: st.SearchStrategy[ir.Expr] = st.one_of(
    bases,
    st.integers(0, 3).map(lambda n: ir.Literal_(NAT, n)),
    st.tuples(bases, st.integers(0, 2)).map(lambda pair: ir.Arithmetic(NAT, "+", pair[0], ir.Literal_(NAT, pair[1]))),
)
orders: st.SearchStrategy[Literal["=", "<", "<="]] = st.sampled_from(["=", "<", "<="])
atoms: st.SearchStrategy[ir.Expr] = st.one_of(
    numbers.map(lambda n: holds("used", n)),
    st.tuples(orders, numbers, numbers).map(lambda part: ir.Comparison(BOOL, *part)),
)
operators: st.SearchStrategy[Literal["and", "or", "implies", "iff"]] = st.sampled_from(["and", "or", "implies", "iff"])
matrices = st.recursive(
    atoms,
    lambda inner: st.one_of(
        inner.map(negation), st.tuples(operators, inner, inner).map(lambda part: ir.Connective(BOOL, *part))
    ),
    max_leaves=5,
)
kinds: st.SearchStrategy[Literal["forall", "exists"]] = st.sampled_from(["forall", "exists"])


def quantified(kind: Literal["forall", "exists"], name: str, body: ir.Expr) -> ir.Quantified:
    return ir.Quantified(BOOL, kind, (ir.Bound(NAT, name),), body)


sentences = st.tuples(kinds, kinds, matrices).map(
    lambda part: quantified(part[0], "k", quantified(part[1], "n", part[2]))
)
tables = st.tuples(st.lists(st.booleans(), min_size=3, max_size=3), st.lists(st.integers(0, 3), min_size=3, max_size=3))


def structure_of(table: tuple[list[bool], list[int]]) -> Structure:
    used, index = table
    return Structure(
        {"nat": 3}, {"used": {(n,): v for n, v in enumerate(used)}, "index": {(n,): v for n, v in enumerate(index)}}
    )


def by_brute_force(expr: ir.Expr, structure: Structure, environment: dict[str, Value]) -> bool:
    if isinstance(expr, ir.Quantified):
        (bound,) = expr.variables
        values = (by_brute_force(expr.body, structure, {**environment, bound.name: n}) for n in range(FAR))
        return all(values) if expr.kind == "forall" else any(values)
    return bool(evaluate(expr, structure, environment))


@settings(derandomize=True, deadline=None, max_examples=150)
@given(sentences, tables)
def test_few_numbers_stand_for_all(sentence: ir.Quantified, table: tuple[list[bool], list[int]]) -> None:
    structure = structure_of(table)
    outermost = quantified("forall" if sentence.kind == "forall" else "exists", "k", sentence.body)
    # The inner quantifier sees the outer number: near the far end brute force has to look farther than that.
    truth = [by_brute_force(sentence.body, structure, {"k": k}) for k in range(FAR // 3)]
    assert evaluate(outermost, structure, {}) is (all(truth) if sentence.kind == "forall" else any(truth))


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=100)
@given(sentences, tables)
def test_grounding_agrees_with_evaluation(sentence: ir.Quantified, table: tuple[list[bool], list[int]]) -> None:
    structure = structure_of(table)
    cells: dict[str, dict[tuple[int, ...], Term]] = {
        name: {key: literal(value) for key, value in known.items()} for name, known in structure.tables.items()
    }
    assert Grounding(structure.universe).formula(sentence, cells, {}) == literal(evaluate(sentence, structure, {}))


def test_sums_of_two_bound_numbers_are_refused() -> None:
    total = ir.Comparison(BOOL, "=", ir.Arithmetic(NAT, "+", K, N), ir.Literal_(NAT, 3))
    formula = forall((ir.Variable("k", NAT), ir.Variable("n", NAT)), total)
    assert isinstance(formula, ir.Quantified) and speaks_of_all_numbers(formula)
    with pytest.raises(Unsupported, match="two numbers"):
        instances_of_numbers(formula, 3)


WINDOW = """
machine window:
  relation unacked(n: nat)
  function receiver(n: nat): process
  function first(): nat
  function next(): nat
  transition causal_send(m): pass
  transition add():
    next() := next() + 1
    forall k: unacked(k) := unacked(k) or k = next()
  transition ack(k):
    require unacked(k)
    unacked(k) := false
  transition remove():
    require first() < next() and not unacked(first())
    first() := first() + 1
  transition deliver(m):
    require sent(m) and not delivered(m)
  invariant bounds: first() <= next()
  invariant inside: forall k. unacked(k) implies first() <= k and k < next()
  invariant one_receiver: forall k. unacked(k) implies receiver(k) = receiver(first())
"""


def test_a_machine_over_numbers(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(WINDOW).machines
    findings, _ = prove_machine(ProofSession(pool, Options(timeout_ms=3_000)), machine)
    assert findings["bounds"].verdict is Verdict.PROVED
    assert findings["inside"].verdict is Verdict.PROVED
    assert findings["one_receiver"].verdict is Verdict.REFUTED
    assert findings["one_receiver"].facts["depth"] == 2
    assert check_vacuity(ProofSession(pool), machine, ()).verdict is Verdict.PROVED


def test_a_step_widens_the_window_and_refuses_infinite_changes(specify: Specify) -> None:
    (machine,) = specify(WINDOW).machines
    add = next(action for action in actions(machine) if action.name == "add")
    start = Structure(
        {"process": 1, "message": 1, "nat": 2},
        {"unacked": {(0,): True, (1,): True}, "receiver": {(0,): 0, (1,): 0}, "first": {(): 0}, "next": {(): 2}},
    )
    after = step(add, (), start)
    assert after.universe["nat"] == 3 and after.tables["unacked"] == {(0,): True, (1,): True, (2,): True}
    (endless,) = specify(WINDOW.replace("unacked(k) or k = next()", "not unacked(k)")).machines
    flip = next(action for action in actions(endless) if action.name == "add")
    with pytest.raises(Unsupported, match="infinitely many"):
        step(flip, (), start)
