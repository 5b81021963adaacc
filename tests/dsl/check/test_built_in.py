"""The built-in formulas of machines, which are written in the language."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.check.built_in import built_in_axioms, history_facts, property_formula
from thence.dsl.ir.machine_builtins import MACHINE_PROPERTIES, OF_NETWORK_SENDS, built_in_symbols
from thence.dsl.ir.traversal import nodes
from thence.dsl.write.show import show_expression

DELIVERIES: tuple[ir.Delivery, ...] = ("unicast", "multicast", "broadcast")
OF_STATES = [name for name in MACHINE_PROPERTIES if name != "at_most_once"]


def formulas(delivery: ir.Delivery) -> list[ir.NamedFormula]:
    stated = [property_formula(name, delivery) for name in OF_STATES]
    return [*history_facts(delivery), *built_in_axioms(delivery), *stated]


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_they_speak_of_the_built_in_symbols_with_their_types(delivery: ir.Delivery) -> None:
    """The theories declare the symbols for themselves: here it is seen that they are those of machines."""
    known = {(symbol.name, *(each.type for each in symbol.parameters)) for symbol in built_in_symbols(delivery)}
    for formula in formulas(delivery):
        used = {
            (node.symbol, *(argument.type for argument in node.arguments))
            for node in nodes(formula.body)
            if isinstance(node, ir.Apply)
        }
        others = {name for name, *_ in used - known}
        assert others <= ({"network_sent"} if formula.name in OF_NETWORK_SENDS else set()), formula.name


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_they_are_documented_and_have_no_place_in_the_text_of_a_user(delivery: ir.Delivery) -> None:
    for formula in formulas(delivery):
        assert formula.doc and formula.span.line == 0
        assert all(node.span.line == 0 for node in nodes(formula.body) if isinstance(node, ir.Expr)), formula.name


def test_how_many_there_are() -> None:
    assert [len(history_facts(delivery)) for delivery in DELIVERIES] == [15, 15, 15]
    assert [len(built_in_axioms(delivery)) for delivery in DELIVERIES] == [0, 0, 1]


def test_sps_of_a_message_with_one_destination() -> None:
    assert show_expression(property_formula("sps").body) == (
        "forall a, m. network_sent(m) and hb(a, m) and src(a) != src(m) and dst(a) != src(m) and src(a) != dst(m)"
        " implies delivered(a)"
    )


@pytest.mark.parametrize("name", ["at_most_once", "ghost_own_past", "nothing"])
def test_what_is_no_property_of_states(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        property_formula(name)
