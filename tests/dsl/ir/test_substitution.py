"""Substitution never captures: no name of the result hides another one."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.ir.substitution import instantiated
from thence.dsl.ir.types import BOOL, NAT, PROCESS, Collection

P, Q = ir.Local(PROCESS, "p"), ir.Local(PROCESS, "q")
SAME = ir.Quantified(BOOL, "exists", (ir.Bound(PROCESS, "p"),), ir.Comparison(BOOL, "=", P, ir.Local(PROCESS, "x")))


def test_a_value_is_not_captured() -> None:
    found = instantiated(SAME, {"x": P}, None, ())
    assert isinstance(found, ir.Quantified)
    (bound,) = found.variables
    assert bound.name != "p"
    assert found.body == ir.Comparison(BOOL, "=", ir.Local(PROCESS, bound.name), P)


def test_what_a_value_binds_stays_apart() -> None:
    """Values of names live side by side while an expression is computed: a name bound inside must be another one."""
    inner = ir.Quantified(NAT, "count", (ir.Bound(PROCESS, "p"),), ir.Literal_(BOOL, True))
    body = ir.Quantified(
        BOOL, "exists", (ir.Bound(PROCESS, "p"),), ir.Comparison(BOOL, "<", ir.Local(NAT, "x"), ir.StateOf(NAT, "n", P))
    )
    found = instantiated(body, {"x": inner}, None, ())
    assert isinstance(found, ir.Quantified)
    assert found.variables[0].name != "p"


def test_names_in_reach_are_not_hidden() -> None:
    found = instantiated(SAME, {"x": Q}, None, ("p", "p_2"))
    assert isinstance(found, ir.Quantified)
    assert found.variables[0].name == "p_3"


def test_the_state_of_a_process() -> None:
    domain = ir.StateOf(Collection("set", PROCESS), "S", None)
    body = ir.Quantified(
        BOOL, "forall", (ir.Bound(PROCESS, "r", domain),), ir.Comparison(BOOL, "=", ir.SelfProcess(PROCESS), P)
    )
    found = instantiated(body, {}, Q, ())
    assert isinstance(found, ir.Quantified)
    assert found.variables[0].domain == ir.StateOf(domain.type, "S", Q)
    assert found.body == ir.Comparison(BOOL, "=", Q, P)
