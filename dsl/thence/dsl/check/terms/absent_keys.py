"""Keys that an assignment removes: a key with the value with which its type starts is no key of a map."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, Map, has_zero
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span
from thence.dsl.write.show import show_expression


def warn_of_absent_keys(protocol: ir.Protocol, reporter: Reporter) -> None:
    """Warns where the first value of its type is assigned to a key of a map whose keys are asked for.

    A value that is computed may be any; it is warned of where it is a truth value, of which every second one is first.
    """
    everything = (protocol.handlers, protocol.procedures, protocol.formulas)
    asked: dict[str, Span] = {}
    for node in nodes(everything):
        for collection, span in _asked_for_keys(node):
            if (name := _variable(collection)) is not None:
                asked.setdefault(name, span if span.line else collection.span)
    for node in nodes((protocol.handlers, protocol.procedures)):
        if not isinstance(node, ir.Assign) or not isinstance(node.place, ir.Lookup) or not _is_total(node.place.target):
            continue
        name = _variable(node.place.target)
        if name is None or name not in asked or not (first := _may_be_first(node.value)):
            continue
        said = f"{show_expression(node.place)} := {show_expression(node.value)}"
        map_, key = show_expression(node.place.target), show_expression(node.place.key)
        reporter.warning(
            "W0933",
            node.span,
            f"`{said}` leaves no key {first}, and `{map_}` is asked for its keys on line {asked[name].line}",
            f"write `{map_}.remove({key})` if that is meant; else let the map be to `option of {node.value.type}`, or "
            "keep the keys in a set of their own",
        )


def _asked_for_keys(node: object) -> list[tuple[ir.Expr, Span]]:
    """The collections whose elements, number or emptiness the node depends on, and its place."""
    match node:
        case ir.Member(collection=collection):
            return [(collection, node.span)]
        case ir.Query(target=target, name="size") | ir.IsEmpty(target=target):
            return [(target, node.span)]
        case (
            ir.For(domain=domain, span=span) | ir.Choose(domain=domain, span=span) | ir.Bound(domain=domain, span=span)
        ) if domain is not None:
            return [(domain, span)]
        case _:
            return []


def _is_total(collection: ir.Expr) -> bool:
    return isinstance(collection.type, Map) and has_zero(collection.type.value)


def _variable(collection: ir.Expr) -> str | None:
    """The state variable that has the map in it, with the way to it; None for a map of another place, or no map."""
    return _way(collection) if _is_total(collection) else None


def _way(place: ir.Expr) -> str | None:
    match place:
        case ir.StateOf(name=name):
            return name
        case ir.Lookup(target=target):
            outer = _way(target)
            return None if outer is None else f"{outer}[]"
        case ir.FieldOf(target=target, name=label):
            outer = _way(target)
            return None if outer is None else f"{outer}.{label}"
        case _:
            return None


def _may_be_first(value: ir.Expr) -> str:
    """In which case the value is the first one of its type, in words; "" if it is not known to be."""
    match value:
        case ir.Zero():
            return "behind"
        case ir.Literal_(value=number):
            return "" if number else "behind"
        case _:
            return "behind where it is false" if value.type == BOOL else ""
