"""Zeros of types, and whether a value is one: see NOTE(absent)."""

from __future__ import annotations

from collections.abc import Callable

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Collection, Map, Record, Sort, Type, has_zero
from thence.proofs.logic.formula import (
    FALSE,
    disj,
    exists,
    negation,
)
from thence.proofs.refinement.shapes.flat import (
    alike,
    is_bag,
    leaves,
    locals_of,
    variables,
)
from thence.proofs.refinement.shapes.kinds import (
    Bag,
    Group,
    Leaf,
    Members,
    Names,
    Numbered,
    Parts,
    Perhaps,
    Shape,
    Table,
    Term,
    Window,
    refuse,
)


def table(value: Type, at: Callable[[tuple[Term, ...]], Shape], has: Callable[[tuple[Term, ...]], Term]) -> Table:
    """A map to values of this type: its keys are those whose value is not zero, or those that `has` names."""
    return Table(at, (lambda terms: not_zero(at(terms), value)) if has_zero(value) else has)


def zero_shape(type_: Type) -> Shape:
    """The zero of a type; of a type without zero, some value, which only a map without keys has."""
    match type_:
        case Record(fields=fields):
            return Parts(tuple(zero_shape(part) for _, part in fields))
        case Collection(kind="option", item=item):
            return Perhaps(FALSE, zero_shape(item))
        case Collection(kind="set"):
            return Bag(()) if is_bag(type_) else Members(lambda terms: FALSE)
        case Collection(kind="queue" | "sliding array" | "sliding map"):
            return empty_from(ir.Literal_(NAT, 0), type_)
        case Map(value=value):
            return Table(lambda terms: zero_shape(value), lambda terms: FALSE)
        case Sort():
            return Leaf(ir.Local(type_, f"#some {type_.name}"))
        case _:
            return Leaf(ir.Literal_(type_, False if type_ == BOOL else 0))


def empty_from(number: Term, type_: Collection) -> Window | Numbered:
    """A queue or sliding collection of this type, without elements, whose next number is this one."""
    if type_.kind == "sliding map":
        return Numbered(number, number, lambda index: FALSE, lambda index: zero_shape(type_.item))
    return Window(number, number, lambda index: zero_shape(type_.item))


def not_zero(shape: Shape, type_: Type) -> Term:
    """Whether the value is not the zero of its type."""
    match shape, type_:
        case Leaf(term=term), _:
            return term if type_ == BOOL else negation(alike(term, ir.Literal_(NAT, 0)))
        case Perhaps(some=some), _:
            return some
        case Window(), Collection(kind="queue"):
            return something_inside(shape)
        case Window() | Numbered(), _:
            return negation(alike(shape.next, ir.Literal_(NAT, 0)))
        case Members(has=has), Collection(item=item):
            bound = variables(leaves(item), _depth_names(type_))
            return exists(bound, has(locals_of(bound)))
        case Bag(groups=groups), _:
            names = _depth_names(type_)
            return disj(something_in(group, names) for group in groups)
        case Table(has=has), Map(key=key):
            bound = variables(leaves(key), _depth_names(type_))
            return exists(bound, has(locals_of(bound)))
        case _:
            raise refuse(type_)


def something_inside(shape: Window | Numbered) -> Term:
    """Whether a queue or sliding collection has an element."""
    return ir.Comparison(BOOL, "<", shape.first, shape.next)


def _depth_names(type_: Type) -> Names:
    """Names for the elements of a value of this type: an inner type has a shorter name, and so other variables."""
    numbers = iter(range(1_000))
    return lambda: f"{type_}#{next(numbers)}"


def something_in(group: Group, names: Names) -> Term:
    """Whether there is anything in the group."""
    bound = variables(group.types, names)
    return exists(bound, group.item(locals_of(bound))[0])
