"""The induction principle is derived from the rules: its cases, its linear form, and when that form is not allowed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE
from thence.proofs.logic.formula import Unsupported, conj, free_locals, holds, local, negation, symbols_of
from thence.proofs.theory.obligations import closed_under_rules, is_transitivity, theorem_scheme

Specify = Callable[[str], ir.Specification]

GRAPH = """
theory graph:
  sort node
  relation edge, good: node, node
  inductive path(x, y):
    one: edge(x, y)
    more: {more}
  property all_good: forall a, b. path(a, b) implies good(a, b)

theorem everywhere in graph:
  prove all_good
  by induction on path(u, v) claim: good(u, v)
"""


def scheme_of(specify: Specify, more: str) -> tuple[list[str], str]:
    (theorem,) = specify(GRAPH.format(more=more)).theorems
    scheme = theorem_scheme(theorem)
    for obligation in scheme.obligations:
        declared = {constant.name for constant in obligation.constants}
        free = set().union(*(free_locals(each.body) for each in (*obligation.hypotheses, obligation.goal)))
        assert free <= declared, obligation.name
    return [obligation.name for obligation in scheme.obligations], scheme.principle


@pytest.mark.parametrize("more", ["exists z. path(x, z) and path(z, y)", "exists w. path(w, y) and path(x, w)"])
def test_transitivity_gives_the_linear_form_and_says_so(specify: Specify, more: str) -> None:
    names, principle = scheme_of(specify, more)
    assert names == ["base one", "step one", "claim gives all_good"]
    assert "linear form" in principle


@pytest.mark.parametrize(
    "more",
    [
        "exists z. path(x, z) and edge(z, y)",
        "exists z. path(x, z) and path(y, z)",
        "exists z. path(x, z) and path(z, y) and good(x, y)",
        "exists z. path(x, y) and path(z, y)",
    ],
)
def test_anything_else_gives_a_case_for_every_rule(specify: Specify, more: str) -> None:
    names, principle = scheme_of(specify, more)
    assert names == ["rule one", "rule more", "claim gives all_good"]
    assert "each rule" in principle


def test_the_claim_may_be_used_wherever_a_rule_uses_the_relation(specify: Specify) -> None:
    (theorem,) = specify(GRAPH.format(more="exists z. path(x, z) and edge(z, y)")).theorems
    case = theorem_scheme(theorem).obligations[1]
    premise = case.hypotheses[-1]
    assert symbols_of(premise.body) == {"path", "good", "edge"}
    [induction] = theorem.inductions
    assert [case.goal] == list(induction.claims)


def test_without_induction_the_goal_is_to_follow_at_once(library: Callable[[str], ir.Specification]) -> None:
    theorem = next(each for each in library("execution").theorems if each.name == "csps_implies_sps")
    scheme = theorem_scheme(theorem)
    assert [obligation.name for obligation in scheme.obligations] == ["sps follows"]
    named = {hypothesis.name for hypothesis in scheme.obligations[0].hypotheses}
    assert {"life", "hb local", "hb delivery", "hb step", "csps"} <= named


A, B = ir.Variable("a", MESSAGE), ir.Variable("b", MESSAGE)


def test_rules_are_closed_formulas() -> None:
    rule = ir.NamedFormula("base", holds("before", local(A), local(B)))
    (closed,) = closed_under_rules(ir.Inductive("hb", (A, B), (rule,)))
    assert not free_locals(closed.body)


def test_transitivity_is_recognised_by_its_shape() -> None:
    inductive = ir.Inductive("hb", (A, B), ())
    x = ir.Variable("x", MESSAGE)
    chain = conj([holds("hb", local(A), local(x)), holds("hb", local(x), local(B))])
    rule = ir.NamedFormula("step", ir.Quantified(BOOL, "exists", (ir.Bound(MESSAGE, "x"),), chain))
    assert is_transitivity(inductive, rule)
    assert not is_transitivity(inductive, ir.NamedFormula("step", chain))


def test_a_negative_use_of_the_relation_has_no_induction(library: Callable[[str], ir.Specification]) -> None:
    theorem = library("execution").theorems[0]
    theory = theorem.theory
    (hb,) = theory.inductives
    negative = ir.NamedFormula("odd", negation(holds("hb", *(local(each) for each in hb.parameters))))
    wrong = ir.Theory(
        theory.name,
        theory.sorts,
        theory.ordered,
        theory.symbols,
        theory.axioms,
        (ir.Inductive(hb.name, hb.parameters, (*hb.rules, negative)),),
        theory.properties,
    )
    broken = ir.Theorem(theorem.name, wrong, theorem.assume, theorem.prove, theorem.inductions, (), ())
    with pytest.raises(Unsupported, match="negatively"):
        theorem_scheme(broken)
