"""`forall y in QUEUE. exists x ahead. P`: elements of a queue with their places."""

from __future__ import annotations

from collections.abc import Sequence

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import NAT, Collection, Record
from thence.dsl.text import syntax

ITEM, PLACE = "item'", "place'"
"""The fields of an element with its place: names that no record can have."""


def has_order(domain: ir.Expr) -> bool:
    """Whether the elements of the collection have an order."""
    return isinstance(domain.type, Collection) and domain.type.kind == "queue"


def speaks_of_order(parts: Sequence[syntax.Node]) -> bool:
    """Whether `x ahead` stands anywhere in the parts."""
    return any(isinstance(node, syntax.Binder) and node.ahead for node in nodes(tuple(parts)))


def placed_element(name: syntax.Name, queue: ir.Expr, other: ir.Local | None, names: dict[str, ir.Expr]) -> ir.Bound:
    """The variable for an element with its place, before `other` where that is given; `names` gets what the name
    stands for."""
    assert isinstance(queue.type, Collection)
    record = Record("element", ((ITEM, queue.type.item), (PLACE, NAT)))
    whole = ir.Local(record, f"{name.text}'", span=name.span)
    names[name.text] = ir.FieldOf(queue.type.item, whole, ITEM, span=name.span)
    domain = ir.Placed(Collection("queue", record), queue, other, span=name.span)
    return ir.Bound(record, whole.name, domain, span=name.span)
