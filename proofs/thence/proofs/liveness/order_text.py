"""The use of numbers in the text of a protocol: uses that order abstraction refuses, and equality made visible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, NAT, Collection, Record, Type
from thence.dsl.text.syntax import Span
from thence.proofs.liveness.order_cells import MoreThanOrder, has_numbers, is_total
from thence.proofs.liveness.order_lines import CONSTANT, Lines


def is_applicable(protocol: ir.Protocol) -> bool:
    """Whether the protocol has numbers. Raises: MoreThanOrder for a use that depends on more than their order."""
    typed = [variable.type for variable in protocol.state]
    typed += [parameter.type for kind in protocol.packets for parameter in kind.parameters]
    if not any(has_numbers(each) for each in typed):
        return False
    for node in nodes((protocol.handlers, protocol.procedures)):
        match node:
            case ir.Arithmetic(operator="-"):
                raise MoreThanOrder("numbers are subtracted")
            case ir.Arithmetic(operator="*"):
                raise MoreThanOrder("numbers are multiplied")
            case ir.Quantified(kind="sum"):
                raise MoreThanOrder("numbers are summed up")
            case ir.Member(collection=collection) if is_total(collection.type):
                raise MoreThanOrder("it matters which entries a map of numbers has")
            case ir.Query(target=target, name="size") | ir.IsEmpty(target=target) if is_total(target.type):
                raise MoreThanOrder("it matters which entries a map of numbers has")
            case ir.For(domain=domain) | ir.Bound(domain=domain) if domain is not None and is_total(domain.type):
                raise MoreThanOrder("it matters which entries a map of numbers has")
            case _:
                pass
    for node, _ in _whole(protocol):
        if any(isinstance(part, ir.Literal_ | ir.Zero) and part.type == NAT for part in nodes(node)):
            raise MoreThanOrder("a constant is inside a value that is compared as a whole")
    return True


def _whole(protocol: ir.Protocol) -> Iterator[tuple[Any, Type]]:
    """The places where values with numbers in them are compared as a whole, with the type of the values."""
    for node in nodes((protocol.handlers, protocol.procedures)):
        match node:
            case ir.Comparison(operator="=", left=left) if left.type != NAT and has_numbers(left.type):
                yield node, left.type
            case (
                ir.Member(collection=ir.Expression(type=Collection(item=item)))
                | ir.Mutate(
                    method="remove" | "add",
                    place=ir.Expression(type=Collection(kind="set" | "queue" | "sliding map", item=item)),
                )
            ) if has_numbers(item):
                yield node, item
            case _:
                pass


def mixes_constants(protocol: ir.Protocol, lines: Lines) -> bool:
    """Whether a field of a value that is compared as a whole has constants: a zero there would not be noticed."""
    constants = {
        part for cell in lines.parents if lines.line(cell) == CONSTANT for part in cell if isinstance(part, str)
    }
    return any(
        type_ == NAT
        or any(
            label in constants for record in nodes(type_) if isinstance(record, Record) for label, _ in record.fields
        )
        for _, type_ in _whole(protocol)
        if constants
    )


def with_equality_seen(tree: Any) -> Any:
    """The tree with `a = b` of numbers as `a <= b and b <= a`: an `OrderedNumber` notes the comparison `<=`."""
    if isinstance(tree, tuple):
        return tuple(with_equality_seen(each) for each in tree)
    if not is_dataclass(tree) or isinstance(tree, type | Span):
        return tree
    parts = {each.name: with_equality_seen(getattr(tree, each.name)) for each in fields(tree) if each.name != "span"}
    same = replace(tree, **parts)
    match same:
        case ir.Comparison(operator="=", left=left, right=right) if left.type == NAT:
            return ir.Connective(
                BOOL, "and", ir.Comparison(BOOL, "<=", left, right), ir.Comparison(BOOL, "<=", right, left)
            )
        case _:
            return same
