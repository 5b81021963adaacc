"""Counts: the facts that solvers are told are true of all finite sets, and are enough where one element changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.proofs.logic.counting import Count, has_counts, with_symbols, without_counts
from thence.proofs.logic.formula import free_locals, holds, negation
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.structure import Structure, Table, Value, evaluate, tuples
from thence.proofs.machine.prover import prove_machine
from thence.proofs.prove import prove_specification
from thence.proofs.solving.discharge import Options, discharge_all
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

SYMBOLS = (
    ir.Symbol("src", (ir.Variable("m", MESSAGE),), PROCESS),
    ir.Symbol("open", (ir.Variable("m", MESSAGE), ir.Variable("p", PROCESS)), BOOL),
    ir.Symbol("near", (ir.Variable("p", PROCESS), ir.Variable("q", PROCESS)), BOOL),
)
SIGNATURE = Signature((PROCESS, MESSAGE), (), SYMBOLS)
UNIVERSE = {"process": 2, "message": 2}
CONSTANTS = (ir.Variable("k", MESSAGE), ir.Variable("p", PROCESS))  # `p` is bound in the formulas as well

processes = st.sampled_from(["p", "q"]).map(lambda name: ir.Local(PROCESS, name))
messages = st.sampled_from(["m", "k"]).map(lambda name: ir.Local(MESSAGE, name))
atoms: st.SearchStrategy[ir.Expr] = st.one_of(
    st.tuples(messages, processes).map(lambda pair: holds("open", *pair)),
    st.tuples(processes, processes).map(lambda pair: holds("near", *pair)),
    st.tuples(messages, processes).map(
        lambda pair: ir.Comparison(BOOL, "=", ir.Apply(PROCESS, "src", (pair[0],)), pair[1])
    ),
    st.tuples(messages, messages).map(lambda pair: ir.Comparison(BOOL, "=", *pair)),
)
operators: st.SearchStrategy[Literal["and", "or", "implies", "iff"]] = st.sampled_from(["and", "or", "implies", "iff"])
kinds: st.SearchStrategy[Literal["forall", "exists"]] = st.sampled_from(["forall", "exists"])
bounds = st.sampled_from([ir.Bound(MESSAGE, "m"), ir.Bound(PROCESS, "p"), ir.Bound(PROCESS, "q")])
bodies = st.recursive(
    atoms,
    lambda inner: st.one_of(
        inner.map(negation),
        st.tuples(operators, inner, inner).map(lambda part: ir.Connective(BOOL, *part)),
        st.tuples(kinds, bounds, inner).map(lambda part: ir.Quantified(BOOL, part[0], (part[1],), part[2])),
    ),
    max_leaves=3,
)
counts = st.tuples(bounds, bodies).map(lambda part: ir.Quantified(NAT, "count", (part[0],), part[1]))


def closed(count: ir.Expr) -> ir.Expr:
    """Some formula with the count, in which `m`, `p` and `q` are bound; `k` is the constant."""
    body = ir.Comparison(BOOL, "<=", count, ir.Literal_(NAT, 1))
    inner = ir.Quantified(BOOL, "exists", (ir.Bound(PROCESS, "q"),), body)
    return ir.Quantified(BOOL, "forall", (ir.Bound(MESSAGE, "m"), ir.Bound(PROCESS, "p")), inner)


structures = st.tuples(
    st.lists(st.integers(0, 1), min_size=2, max_size=2),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
)


def structure_of(values: tuple[list[int], list[bool], list[bool]]) -> Structure:
    tables: dict[str, Table] = {}
    for symbol, known in zip(SYMBOLS, values, strict=True):
        keys = tuples([parameter.type for parameter in symbol.parameters], UNIVERSE)
        tables[symbol.name] = dict(zip(keys, known, strict=True))
    return Structure(UNIVERSE, tables)


def counted(count: Count, structure: Structure, environment: dict[str, Value]) -> Table:
    """The true table of a count."""
    bounds = tuple(ir.Bound(variable.type, variable.name) for variable in count.counted)
    expr = ir.Quantified(NAT, "count", bounds, count.body)
    names = [variable.name for variable in count.free]
    return {
        key: evaluate(expr, structure, {**environment, **dict(zip(names, key, strict=True))})
        for key in tuples([variable.type for variable in count.free], structure.universe)
    }


@settings(derandomize=True, deadline=None, max_examples=120)
@given(st.lists(counts, min_size=1, max_size=3), structures, st.integers(0, 1), st.integers(0, 1))
def test_every_fact_is_true_of_true_counts(
    some: list[ir.Quantified], values: tuple[list[int], list[bool], list[bool]], k: int, p: int
) -> None:
    hypotheses = tuple(ir.NamedFormula(f"h{number}", closed(count)) for number, count in enumerate(some))
    goal = ir.NamedFormula("goal", ir.Comparison(BOOL, "=", some[0], ir.Literal_(NAT, 0)))
    bare = ir.NamedFormula("goal", closed(some[0])) if has_free(some[0]) else goal
    obligation = Obligation("any", SIGNATURE, hypotheses, bare, CONSTANTS)
    without, symbols = with_symbols(obligation)
    assert symbols and not any(has_counts(formula.body) for formula in (*without.hypotheses, without.goal))
    structure, environment = structure_of(values), {"k": k, "p": p}
    tables = {symbol.name: counted(count, structure, environment) for count, symbol in symbols.items()}
    full = structure.with_tables(tables)
    facts = without.hypotheses[len(hypotheses) :]
    assert len(facts) >= len(symbols)
    for fact in facts:
        assert evaluate(fact.body, full, environment) is True, fact.name
    for before, after in zip((*hypotheses, bare), (*without.hypotheses[: len(hypotheses)], without.goal), strict=True):
        assert evaluate(before.body, structure, environment) == evaluate(after.body, full, environment)


def has_free(count: ir.Quantified) -> bool:
    """Whether names other than the constants are free in it."""
    return not set(free_locals(count)) <= {"k", "p"}


def test_one_predicate_has_one_function_whatever_its_names() -> None:
    def counting(message: str, process: str) -> ir.Expr:
        body = holds("open", ir.Local(MESSAGE, message), ir.Local(PROCESS, process))
        count = ir.Quantified(NAT, "count", (ir.Bound(MESSAGE, message),), body)
        positive = ir.Comparison(BOOL, "<", ir.Literal_(NAT, 0), count)
        return ir.Quantified(BOOL, "forall", (ir.Bound(PROCESS, process),), positive)

    hypothesis, goal = ir.NamedFormula("h", counting("m", "p")), ir.NamedFormula("g", counting("x", "r"))
    _, symbols = with_symbols(Obligation("same", SIGNATURE, (hypothesis,), goal, CONSTANTS))
    assert len(symbols) == 1


def test_without_counts_nothing_changes() -> None:
    obligation = Obligation("none", SIGNATURE, (), ir.NamedFormula("g", holds("near", *[ir.Local(PROCESS, "p")] * 2)))
    assert without_counts(obligation) is obligation


MODES = """
machine modes:
  relation opened(m: message, p: process)
  function mode(p: process): nat
  function delivered_in_all(): nat
  transition causal_send(m): pass
  transition open(m, p):
    require sent(m) and not opened(m, p)
    opened(m, p) := true
    mode(p) := mode(p) + 1
  transition close(m, p):
    require opened(m, p) {and_more}
    opened(m, p) := false
    forall q: mode(q) := {after_close}
  transition deliver(m):
    require sent(m) and not delivered(m)
    delivered_in_all() := delivered_in_all() + 1
  invariant at_most: forall p. (count m. opened(m, p)) <= mode(p)
  invariant in_all: delivered_in_all() = count x: message. delivered(x)
  {more}
"""
KEEPING = "if q = p then max(mode(q), 1) else mode(q)"


def test_what_changes_one_element_is_proved(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(MODES.format(and_more="", after_close=KEEPING, more="")).machines
    findings, _ = prove_machine(ProofSession(pool), machine)
    assert findings["at_most"].verdict is Verdict.PROVED
    assert findings["in_all"].verdict is Verdict.PROVED


def test_wrong_counts_are_refuted_by_runs_that_are_counted(specify: Specify) -> None:
    more = """invariant exact: forall p. mode(p) = count m. opened(m, p)
  invariant few: (count x: message. sent(x)) <= 2
  invariant all_there: forall p. (count m. opened(m, p)) = count m: message. sent(m)"""
    specification = specify(MODES.format(and_more="", after_close=KEEPING, more=more))
    results = {result.name: result for result in prove_specification(specification)}
    assert results["exact"].verdict is Verdict.REFUTED and results["exact"].facts["depth"] == 3
    assert results["few"].verdict is Verdict.REFUTED and results["few"].facts["depth"] == 3
    assert results["all_there"].verdict is Verdict.REFUTED and results["all_there"].facts["depth"] == 1
    assert results["at_most"].verdict is Verdict.PROVED


@pytest.mark.parametrize("after_close", ["0", "if q = p then 0 else mode(q)"])
def test_a_counter_that_drops_too_far_is_refuted(specify: Specify, after_close: str) -> None:
    specification = specify(MODES.format(and_more="", after_close=after_close, more=""))
    results = {result.name: result for result in prove_specification(specification)}
    assert results["at_most"].verdict is Verdict.REFUTED
    assert results["in_all"].verdict is Verdict.PROVED


def test_nothing_false_follows_from_the_facts(pool: SolverPool) -> None:
    """Two different sets may have one count, a set may be anything between none and all: none of it is excluded."""
    m, p, k = ir.Local(MESSAGE, "m"), ir.Local(PROCESS, "p"), ir.Local(MESSAGE, "k")
    count = ir.Quantified(NAT, "count", (ir.Bound(MESSAGE, "m"),), holds("open", m, p))
    every = ir.Quantified(NAT, "count", (ir.Bound(MESSAGE, "m"),), ir.Literal_(BOOL, True))
    claims = {
        "at most one": ir.Comparison(BOOL, "<=", count, ir.Literal_(NAT, 1)),
        "some": ir.Comparison(BOOL, "<", ir.Literal_(NAT, 0), count),
        "all": ir.Comparison(BOOL, "=", count, every),
        "not all": negation(ir.Comparison(BOOL, "=", count, every)),
        "k is one": ir.Connective(
            BOOL, "implies", ir.Comparison(BOOL, "<", ir.Literal_(NAT, 0), count), holds("open", k, p)
        ),
    }
    obligations = [
        Obligation(name, SIGNATURE, (), ir.NamedFormula(name, body), CONSTANTS) for name, body in claims.items()
    ]
    for discharge in discharge_all(pool, obligations, Options(timeout_ms=1_000)):
        assert discharge.failed and not discharge.proved, discharge.obligation.name


HELD = """
machine held:
  relation holds(p: process, m: message)
  relation got(p: process, m: message)
  transition causal_send(m):
    forall p: holds(p, m) := false
  transition deliver(m):
    require sent(m) and not delivered(m)
  transition change(p, m):
    require sent(m)
    forall x: holds(p, x) := x = m
  transition take(p, m):
    require forall x. got(p, x) implies x = m
    got(p, m) := true
  invariant once: forall p. (count m. holds(p, m)) <= 1
  invariant got_once: forall p. (count m. got(p, m)) < 2
  prove no_creation
"""


def test_a_count_of_at_most_one_is_proved_as_its_twin(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(HELD).machines
    found, _ = prove_machine(ProofSession(pool, Options(timeout_ms=20_000)), machine)
    assert {found[name].verdict for name in ("once", "got_once")} == {Verdict.PROVED}


def test_a_count_that_may_be_two_is_not_proved(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(HELD.replace(":= x = m", ":= x = m or holds(p, x)")).machines
    found, _ = prove_machine(ProofSession(pool, Options(timeout_ms=20_000)), machine)
    assert found["once"].verdict is Verdict.REFUTED
