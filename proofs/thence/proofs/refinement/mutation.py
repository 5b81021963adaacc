"""Changes of collections, as functions from the value before to the value after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.ir.types import NAT, Collection, Map, Type
from thence.proofs.logic.formula import (
    TRUE,
    Unsupported,
    conj,
    disj,
)
from thence.proofs.refinement.following import opposite
from thence.proofs.refinement.shapes.changes import Change, merged, without_entry
from thence.proofs.refinement.shapes.contents import equality
from thence.proofs.refinement.shapes.flat import flat, is_bag, same
from thence.proofs.refinement.shapes.kinds import (
    Bag,
    Group,
    Leaf,
    Members,
    Names,
    Numbered,
    Parts,
    Pushed,
    Shape,
    Table,
    Term,
    Window,
)
from thence.proofs.refinement.shapes.zeros import empty_from, zero_shape


def any_like(shape: Shape, name: str) -> Shape:
    """Some value of the same kind, under this name: that of a local variable, then `#` and more."""
    match shape:
        case Leaf(term=term):
            return Leaf(ir.Local(term.type, name))
        case Parts(fields=fields):
            return Parts(tuple(any_like(each, f"{name}.{at}") for at, each in enumerate(fields)))
        case _:
            variable = name.partition("#")[0]
            raise Unsupported(
                f"`{variable}` is a local collection that a loop changes: no encoding; a variable of the state can be "
                "in its place"
            )


def mutation(method: str, type_: Type, items: Sequence[Shape], names: Names) -> Change:
    """The value after the mutation, from the value before it."""
    match method, type_:
        case "add", Collection() if is_bag(type_):
            return lambda shape: _with_one_more(shape, items[0])
        case "remove", Collection(item=item) if is_bag(type_):
            return lambda shape: _without_one(shape, items[0], item, names)
        case ("push", Collection(kind="queue")) | ("add", Collection(kind="sliding array")):
            return lambda shape: _pushed(shape, items[0])
        case ("pop", Collection(kind="queue")) | ("remove", Collection(kind="sliding array")):
            return _popped
        case "add" | "remove", Collection(kind="set"):
            return lambda shape: _with_member(shape, flat(items[0]), there=method == "add")
        case "remove", Map(value=value):
            return lambda shape: without_entry(_table(shape), flat(items[0]), value)
        case _:
            raise Unsupported(f"`{method}` of a `{type_}` has no encoding")


def cleared(shape: Shape, type_: Type) -> Shape:
    """The collection without its elements: a sliding one goes on with its next number."""
    if isinstance(type_, Collection) and type_.kind in ("sliding array", "sliding map"):
        assert isinstance(shape, Window | Numbered)
        return empty_from(shape.next, type_)
    return zero_shape(type_)


def with_numbered(shape: Numbered, item: Shape) -> Numbered:
    """A sliding map with one more element, which is not in it."""
    last = shape.next
    return Numbered(
        shape.first,
        ir.Arithmetic(NAT, "+", last, ir.Literal_(NAT, 1)),
        lambda index: disj((same((index,), (last,)), shape.has(index))),
        lambda index: merged(same((index,), (last,)), item, shape.at(index)),
    )


def without_numbered(shape: Numbered, item: Shape, type_: Type, names: Names) -> Numbered:
    """A sliding map without this element, of this type; but for `first`, which is as it was."""

    def has(index: Term) -> Term:
        return conj((shape.has(index), opposite(equality(shape.at(index), item, type_, names))))

    return replace(shape, has=has)


def _table(shape: Shape) -> Table:
    assert isinstance(shape, Table)
    return shape


def _pushed(shape: Shape, item: Shape) -> Shape:
    assert isinstance(shape, Window)
    last = shape.next
    following = ir.Arithmetic(NAT, "+", last, ir.Literal_(NAT, 1))

    def now(index: Term) -> Shape:
        return merged(same((index,), (last,)), item, shape.at(index))

    return Window(shape.first, following, now, (*shape.pushed, Pushed(TRUE, last, item)), shape.older)


def _popped(shape: Shape) -> Shape:
    assert isinstance(shape, Window)
    return replace(shape, first=ir.Arithmetic(NAT, "+", shape.first, ir.Literal_(NAT, 1)), members=None)


def _with_member(shape: Shape, item: tuple[Term, ...], *, there: bool) -> Shape:
    assert isinstance(shape, Members)
    if there:
        return Members(lambda terms: disj((same(terms, item), shape.has(terms))))
    return Members(lambda terms: conj((opposite(same(terms, item)), shape.has(terms))))


def _with_one_more(shape: Shape, item: Shape) -> Bag:
    assert isinstance(shape, Bag)
    return Bag((*shape.groups, Group((), lambda _: (TRUE, item))))


def _without_one(shape: Shape, item: Shape, type_: Type, names: Names) -> Bag:
    assert isinstance(shape, Bag)

    def without(group: Group) -> Group:
        def others(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
            there, member = group.item(terms)
            return conj((there, opposite(equality(member, item, type_, names)))), member

        return Group(group.types, others)

    return Bag(tuple(map(without, shape.groups)))
