"""Changed values: chosen by a condition, with names replaced, changed at a place, without an element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Type, has_zero
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    conditional,
    conj,
    disj,
    negation,
    substitute,
)
from thence.proofs.refinement.shapes.flat import (
    alike,
    same,
    term_of,
)
from thence.proofs.refinement.shapes.kinds import (
    Bag,
    Group,
    Leaf,
    Members,
    Numbered,
    Parts,
    Perhaps,
    Pushed,
    Shape,
    Table,
    Term,
    Window,
)
from thence.proofs.refinement.shapes.zeros import (
    table,
    zero_shape,
)


def merged(condition: Term, then: Shape, otherwise: Shape) -> Shape:
    """`if condition then ... else ...`."""
    if condition == TRUE or then is otherwise:
        return then
    if condition == FALSE:
        return otherwise
    match then, otherwise:
        case Leaf(), Leaf():
            return Leaf(conditional(condition, then.term, otherwise.term))
        case Parts(), Parts():
            pairs = zip(then.fields, otherwise.fields, strict=True)
            return Parts(tuple(merged(condition, one, other) for one, other in pairs))
        case Perhaps(), Perhaps():
            return Perhaps(
                conditional(condition, then.some, otherwise.some), merged(condition, then.item, otherwise.item)
            )
        case Members(), Members():
            return Members(lambda terms: conditional(condition, then.has(terms), otherwise.has(terms)))
        case Bag(), Bag():
            here = [limited(group, condition) for group in then.groups]
            return Bag((*here, *(limited(group, negation(condition)) for group in otherwise.groups)))
        case Table(), Table():
            return Table(
                lambda terms: merged(condition, then.at(terms), otherwise.at(terms)),
                lambda terms: conditional(condition, then.has(terms), otherwise.has(terms)),
            )
        case Window(), Window():
            whole = Window(
                conditional(condition, then.first, otherwise.first),
                conditional(condition, then.next, otherwise.next),
                lambda index: merged(condition, then.at(index), otherwise.at(index)),
            )
            if then.members is not None or otherwise.members is not None:
                return replace(whole, members=lambda item: _of_either(condition, then, otherwise, item))
            pushed = [replace(each, condition=conj((condition, each.condition))) for each in then.pushed]
            denied = negation(condition)
            pushed += [replace(each, condition=conj((denied, each.condition))) for each in otherwise.pushed]
            if not pushed:
                return whole
            (last, at), (other, there) = then.older, otherwise.older
            before = conditional(condition, last, other), lambda index: merged(condition, at(index), there(index))
            return replace(whole, pushed=tuple(pushed), before=before)
        case Numbered(), Numbered():
            return Numbered(
                conditional(condition, then.first, otherwise.first),
                conditional(condition, then.next, otherwise.next),
                lambda index: conditional(condition, then.has(index), otherwise.has(index)),
                lambda index: merged(condition, then.at(index), otherwise.at(index)),
            )
        case _:
            raise AssertionError((then, otherwise))


def _of_either(
    condition: Term, then: Window, otherwise: Window, item: Callable[[Term, Shape], Shape]
) -> tuple[Group, ...]:
    """The elements of one window where the condition is true, and of another where it is false."""
    here = (limited(group, condition) for group in then.groups(item))
    return (*here, *(limited(group, negation(condition)) for group in otherwise.groups(item)))


def substituted(shape: Shape, values: Mapping[str, Term]) -> Shape:
    """The value with free names replaced. No term that the shape is asked about has such a name."""
    match shape:
        case Leaf(term=term):
            return Leaf(substitute(term, values))
        case Parts(fields=fields):
            return Parts(tuple(substituted(field, values) for field in fields))
        case Perhaps(some=some, item=item):
            return Perhaps(substitute(some, values), substituted(item, values))
        case Members(has=has):
            return Members(lambda terms: substitute(has(terms), values))
        case Bag(groups=groups):
            return Bag(tuple(_substituted_group(group, values) for group in groups))
        case Table(at=at, has=has):
            return Table(lambda terms: substituted(at(terms), values), lambda terms: substitute(has(terms), values))
        case Window(first=first, next=following, at=element, pushed=pushed):
            last, before = shape.older
            new = tuple(
                Pushed(substitute(one.condition, values), substitute(one.number, values), substituted(one.item, values))
                for one in pushed
            )
            ends = substitute(first, values), substitute(following, values)
            older = substitute(last, values), lambda index: substituted(before(index), values)
            return Window(*ends, lambda index: substituted(element(index), values), new, older if new else None)
        case Numbered(first=first, next=following, has=there, at=element):
            return Numbered(
                substitute(first, values),
                substitute(following, values),
                lambda index: substitute(there(index), values),
                lambda index: substituted(element(index), values),
            )
        case _:
            assert_never(shape)


def _substituted_group(group: Group, values: Mapping[str, Term]) -> Group:
    def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
        there, value = group.item(terms)
        return substitute(there, values), substituted(value, values)

    return Group(group.types, item)


def limited(group: Group, condition: Term) -> Group:
    """The group where the condition is true, else nothing."""

    def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
        there, value = group.item(terms)
        return conj((condition, there)), value

    return Group(group.types, item)


Change: TypeAlias = Callable[[Shape], Shape]


@dataclass(frozen=True, slots=True)
class Entry:
    """The step from a map to its value at a key."""

    key: tuple[Term, ...]
    value: Type


@dataclass(frozen=True, slots=True)
class Field:
    """The step from a record to a field."""

    position: int


@dataclass(frozen=True, slots=True)
class Element:
    """The step from a sliding array to its element with a number, which is inside."""

    number: Term


PlaceStep: TypeAlias = Entry | Field | Element


def changed(shape: Shape, path: Sequence[PlaceStep], change: Change) -> Shape:
    """The value after a change at a place inside it."""
    if not path:
        return change(shape)
    step, *rest = path
    match step:
        case Field(position=position):
            assert isinstance(shape, Parts)
            after = changed(shape.fields[position], rest, change)
            return replace(shape, fields=(*shape.fields[:position], after, *shape.fields[position + 1 :]))
        case Entry(key=key, value=value):
            assert isinstance(shape, Table)
            before = shape
            here = changed(before.at(key), rest, change)
            return table(
                value,
                lambda terms: merged(same(terms, key), here, before.at(terms)),
                lambda terms: disj((same(terms, key), before.has(terms))),
            )
        case Element(number=number):
            assert isinstance(shape, Window)
            elements_ = shape
            inside = changed(shape.at(number), rest, change)
            return Window(
                shape.first,
                shape.next,
                lambda index: merged(same((index,), (number,)), inside, elements_.at(index)),
            )
        case _:
            assert_never(step)


def without_entry(shape: Table, key: tuple[Term, ...], value: Type) -> Table:
    """A map without this key."""
    if has_zero(value):
        nothing = zero_shape(value)
        return table(value, lambda terms: merged(same(terms, key), nothing, shape.at(terms)), shape.has)
    return Table(shape.at, lambda terms: conj((negation(same(terms, key)), shape.has(terms))))


def without_element(shape: Window, index: Term, *, old_places: bool = False) -> Window:
    """A queue without the element of this number: those behind it move up.

    `old_places`: quantifiers know the elements by the places that they had. So a solver finds that one is still there;
    that something is true of all takes it longer.
    """
    one = ir.Literal_(NAT, 1)

    def at(number: Term) -> Shape:
        before = ir.Comparison(BOOL, "<", number, index)
        return merged(before, shape.at(number), shape.at(ir.Arithmetic(NAT, "+", number, one)))

    def members(item: Callable[[Term, Shape], Shape]) -> tuple[Group, ...]:
        def without(group: Group) -> Group:
            def its(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
                there, pair = group.item(terms)
                assert isinstance(pair, Parts)
                element, number = pair.fields[0], term_of(pair.fields[1])
                behind = ir.Arithmetic(NAT, "-", number, one)
                now = conditional(ir.Comparison(BOOL, "<", number, index), number, behind)
                return conj((there, negation(alike(number, index)))), item(now, element)

            return Group(group.types, its)

        return tuple(map(without, shape.groups(lambda number, element: Parts((element, Leaf(number))))))

    left = Window(shape.first, ir.Arithmetic(NAT, "-", shape.next, one), at)
    return replace(left, members=members) if old_places else left
