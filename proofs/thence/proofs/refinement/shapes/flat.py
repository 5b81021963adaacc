"""Flat values: records of truth values, numbers, processes and messages. Each is a row of terms."""

from __future__ import annotations

from collections.abc import Sequence

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, Collection, Map, Record, Type
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    Unsupported,
    conj,
    equal,
    negation,
)
from thence.proofs.refinement.shapes.kinds import (
    Leaf,
    Names,
    Parts,
    Shape,
    Term,
)


def leaves(type_: Type) -> tuple[Type, ...]:
    """The types of the terms that a flat value is. Raises: Unsupported for a type with collections in it."""
    match type_:
        case Record(fields=fields):
            return tuple(leaf for _, part in fields for leaf in leaves(part))
        case Map() | Collection():
            raise Unsupported(f"a value of type `{type_}` stands in a key or an input")
        case _:
            return (type_,)


def is_flat(type_: Type) -> bool:
    """Whether values of the type hold no collections."""
    if isinstance(type_, Record):
        return all(is_flat(part) for _, part in type_.fields)
    return not isinstance(type_, Map | Collection)


def is_bag(type_: Type) -> bool:
    """Whether a value of the type is a bag: see NOTE(bag)."""
    return isinstance(type_, Collection) and type_.kind == "set" and not is_flat(type_.item)


def flat(shape: Shape) -> tuple[Term, ...]:
    """The terms of a flat value."""
    match shape:
        case Leaf(term=term):
            return (term,)
        case Parts(fields=fields):
            return tuple(term for part in fields for term in flat(part))
        case _:
            raise Unsupported("a collection stands in a key or an input")


def built(type_: Type, terms: Sequence[Term]) -> Shape:
    """The flat value that the terms are: the inverse of `flat`."""
    if not isinstance(type_, Record):
        return Leaf(terms[0])
    found: list[Shape] = []
    at = 0
    for _, part in type_.fields:
        size = len(leaves(part))
        found.append(built(part, terms[at : at + size]))
        at += size
    return Parts(tuple(found))


def term_of(shape: Shape) -> Term:
    """The term that a leaf is."""
    assert isinstance(shape, Leaf)
    return shape.term


def same(left: Sequence[Term], right: Sequence[Term]) -> Term:
    """Equality term by term; between truth values by connectives."""
    return conj(alike(one, other) for one, other in zip(left, right, strict=True))


def alike(left: Term, right: Term) -> Term:
    """Equality, simplified."""
    if left == right:
        return TRUE
    if left.type == BOOL:
        if TRUE in (left, right):
            return right if left == TRUE else left
        if FALSE in (left, right):
            return negation(right if left == FALSE else left)
        return ir.Connective(BOOL, "iff", left, right)
    if isinstance(left, ir.Literal_) and isinstance(right, ir.Literal_):
        return FALSE
    return equal(left, right)


def variables(types: Sequence[Type], names: Names) -> tuple[ir.Variable, ...]:
    """Bound variables with new names."""
    return tuple(ir.Variable(names(), type_) for type_ in types)


def locals_of(bound: Sequence[ir.Variable]) -> tuple[Term, ...]:
    return tuple(ir.Local(variable.type, variable.name) for variable in bound)
