"""What is in a value: equality, membership, elements."""

from __future__ import annotations

from thence.dsl.ir.types import NAT, Collection, Map, Record, Type
from thence.proofs.logic.formula import (
    Unsupported,
    conj,
    disj,
    exists,
    forall,
    implies,
)
from thence.proofs.refinement.shapes.flat import (
    alike,
    built,
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


def equality(left: Shape, right: Shape, type_: Type, names: Names) -> Term:
    """Whether two values are equal. Raises: Unsupported for queues and sliding collections."""
    match left, right:
        case Leaf(), Leaf():
            return alike(left.term, right.term)
        case Parts(), Parts():
            assert isinstance(type_, Record)
            pairs = zip(left.fields, right.fields, type_.fields, strict=True)
            return conj(equality(one, other, part, names) for one, other, (_, part) in pairs)
        case Perhaps(), Perhaps():
            assert isinstance(type_, Collection)
            both = implies(left.some, equality(left.item, right.item, type_.item, names))
            return conj((alike(left.some, right.some), both))
        case Members(), Members():
            assert isinstance(type_, Collection)
            bound = variables(leaves(type_.item), names)
            return forall(bound, alike(left.has(locals_of(bound)), right.has(locals_of(bound))))
        case Bag(), Bag():
            assert isinstance(type_, Collection)
            return conj((_within_bag(left, right, type_.item, names), _within_bag(right, left, type_.item, names)))
        case Table(), Table():
            assert isinstance(type_, Map)
            bound = variables(leaves(type_.key), names)
            at = locals_of(bound)
            values = implies(left.has(at), equality(left.at(at), right.at(at), type_.value, names))
            return forall(bound, conj((alike(left.has(at), right.has(at)), values)))
        case Window(), Window():
            raise Unsupported("two queues or sliding arrays are compared")
        case Numbered(), Numbered():
            raise Unsupported("two sliding maps are compared")
        case _:
            raise AssertionError((left, right))


def in_bag(bag: Bag, item: Shape, type_: Type, names: Names) -> Term:
    """Whether the value, of this type, is a member."""
    found: list[Term] = []
    for group in bag.groups:
        bound = variables(group.types, names)
        there, member = group.item(locals_of(bound))
        found.append(exists(bound, conj((there, equality(member, item, type_, names)))))
    return disj(found)


def in_numbered(shape: Numbered, item: Shape, type_: Type, names: Names) -> Term:
    """Whether the value, of this type, is in the sliding map."""
    (bound,) = variables((NAT,), names)
    (index,) = locals_of((bound,))
    return exists((bound,), conj((shape.has(index), equality(shape.at(index), item, type_, names))))


def _within_bag(left: Bag, right: Bag, type_: Type, names: Names) -> Term:
    found: list[Term] = []
    for group in left.groups:
        bound = variables(group.types, names)
        there, member = group.item(locals_of(bound))
        found.append(forall(bound, implies(there, in_bag(right, member, type_, names))))
    return conj(found)


def elements(shape: Shape, type_: Type) -> tuple[Group, ...]:
    """The elements of a collection, the keys of a map. Raises: Unsupported."""
    match shape, type_:
        case Members(has=has), Collection(item=item):
            return (Group(leaves(item), lambda terms: (has(terms), built(item, terms))),)
        case Table(has=has), Map(key=key):
            return (Group(leaves(key), lambda terms: (has(terms), built(key, terms))),)
        case Bag(groups=groups), _:
            return groups
        case Window(), _:
            return shape.groups(lambda _, item: item)
        case Numbered(), _:
            return (shape.group(),)
        case Perhaps(some=some, item=inside), _:
            return (Group((), lambda terms: (some, inside)),)
        case _:
            raise refuse(type_)
