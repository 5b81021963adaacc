"""Formulas: substitution avoids capture, free names, the fragment's edge."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    Unsupported,
    conditional,
    conj,
    disj,
    equal,
    forall,
    free_locals,
    holds,
    local,
    map_children,
    outer_foralls,
    substitute,
    symbols_of,
)

M, X, P = ir.Variable("m", MESSAGE), ir.Variable("x", MESSAGE), ir.Variable("p", PROCESS)


def test_units_and_absorbing_elements_are_folded() -> None:
    fact = holds("sent", local(M))
    assert conj([TRUE, fact, TRUE]) == fact
    assert conj([fact, FALSE]) == FALSE
    assert disj([FALSE, fact]) == fact
    assert disj([fact, TRUE]) == TRUE
    assert conj([]) == TRUE and disj([]) == FALSE


def test_conditional_between_truth_values_is_folded() -> None:
    fact, other = holds("sent", local(M)), holds("sent", local(X))
    assert conditional(TRUE, fact, other) == fact
    assert conditional(FALSE, fact, other) == other
    assert conditional(fact, TRUE, other) == disj([fact, other])
    assert conditional(fact, other, other) == other


def test_free_names_in_order_with_types() -> None:
    body = forall([X], conj([holds("hb", local(X), local(M)), holds("past", local(P), local(X))]))
    assert free_locals(body) == {"m": MESSAGE, "p": PROCESS}
    assert list(free_locals(body)) == ["m", "p"]


def test_substitution_renames_a_variable_that_would_capture() -> None:
    body = forall([X], holds("hb", local(X), local(M)))
    replaced = substitute(body, {"m": local(X)})
    assert free_locals(replaced) == {"x": MESSAGE}
    assert isinstance(replaced, ir.Quantified)
    (bound,) = replaced.variables
    assert bound.name != "x"
    assert replaced.body == holds("hb", ir.Local(MESSAGE, bound.name), local(X))


def test_substitution_leaves_bound_names_alone() -> None:
    body = forall([X], holds("sent", local(X)))
    assert substitute(body, {"x": local(M)}) == body


def test_equality_of_the_same_term_is_true() -> None:
    assert equal(local(M), local(M)) == TRUE


def test_symbols() -> None:
    source = ir.Apply(PROCESS, "src", (local(M),))
    assert symbols_of(forall([M], holds("past", source, local(M)))) == {"past", "src"}


def test_outer_foralls_are_taken_off() -> None:
    variables, body = outer_foralls(forall([M], forall([X], holds("hb", local(M), local(X)))))
    assert [variable.name for variable in variables] == ["m", "x"]
    assert body == holds("hb", local(M), local(X))


@pytest.mark.parametrize(
    "expr",
    [
        ir.SelfProcess(PROCESS),
        ir.StateOf(NAT, "MODE", None),
        ir.Quantified(BOOL, "forall", (ir.Bound(MESSAGE, "m", ir.StateOf(MESSAGE, "OB", None)),), TRUE),
    ],
)
def test_what_needs_a_state_is_refused(expr: ir.Expr) -> None:
    with pytest.raises(Unsupported):
        map_children(expr, lambda part: part)
