"""The kinds of shapes, and the groups of values that quantifiers range over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Type
from thence.proofs.logic.formula import (
    Unsupported,
    conj,
)

Term: TypeAlias = ir.Expr
Names: TypeAlias = Callable[[], str]
"""Gives a name for a bound variable that nothing around it has."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A truth value, number, process or message."""

    term: Term


@dataclass(frozen=True, slots=True)
class Parts:
    """A record, its fields in order."""

    fields: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Perhaps:
    """An option; `item` means something only where `some` is true."""

    some: Term
    item: Shape


@dataclass(frozen=True, slots=True)
class Members:
    """A set of flat values."""

    has: Callable[[tuple[Term, ...]], Term]


@dataclass(frozen=True, slots=True)
class Bag:
    """A set of values that hold collections: see NOTE(bag)."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A map from flat keys. `has` is asked only where the values have no zero: see NOTE(absent)."""

    at: Callable[[tuple[Term, ...]], Shape]
    has: Callable[[tuple[Term, ...]], Term]


@dataclass(frozen=True, slots=True)
class Window:
    """A queue or sliding array: see NOTE(window)."""

    first: Term
    next: Term
    at: Callable[[Term], Shape]
    pushed: tuple[Pushed, ...] = ()
    """What a step has pushed. `at` knows it, too, but a solver finds it sooner where it has a name."""
    before: tuple[Term, Callable[[Term], Shape]] | None = None
    """`next` and `at` before that."""
    members: Callable[[Callable[[Term, Shape], Shape]], tuple[Group, ...]] | None = None
    """The elements as `groups` gives them, where they have names that a solver finds sooner than `at`."""

    @property
    def older(self) -> tuple[Term, Callable[[Term], Shape]]:
        """`next` and `at` of what no step has pushed."""
        return self.before or (self.next, self.at)

    def groups(self, item: Callable[[Term, Shape], Shape]) -> tuple[Group, ...]:
        """The elements; `item` is given the number and the element."""
        if self.members is not None:
            return self.members(item)
        last, at = self.older

        def old(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
            return within(self.first, terms[0], last), item(terms[0], at(terms[0]))

        def new(pushed: Pushed) -> Group:
            there = conj((pushed.condition, ir.Comparison(BOOL, "<=", self.first, pushed.number)))
            return Group((), lambda _: (there, item(pushed.number, pushed.item)))

        return (Group((NAT,), old), *map(new, self.pushed))


@dataclass(frozen=True, slots=True)
class Pushed:
    """What was pushed, where the condition is true, and its number."""

    condition: Term
    number: Term
    item: Shape


@dataclass(frozen=True, slots=True)
class Numbered:
    """A sliding map: see NOTE(numbered)."""

    first: Term
    next: Term
    has: Callable[[Term], Term]
    at: Callable[[Term], Shape]

    def group(self) -> Group:
        """The elements."""
        return Group((NAT,), lambda terms: (self.has(terms[0]), self.at(terms[0])))


Shape: TypeAlias = Leaf | Parts | Perhaps | Members | Bag | Table | Window | Numbered


def refuse(type_: Type) -> Unsupported:
    return Unsupported(f"a value of type `{type_}` has no encoding")


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the values that a quantifier ranges over: one for each value of variables of these types.

    `item` gives, for terms of these types, whether there is such a value, and the value. Two values of a group are the
    same occurrence where the terms are equal; values of two groups are never the same occurrence.
    """

    types: tuple[Type, ...]
    item: Callable[[tuple[Term, ...]], tuple[Term, Shape]]


def within(first: Term, index: Term, following: Term) -> Term:
    """first <= index < following."""
    return conj((ir.Comparison(BOOL, "<=", first, index), ir.Comparison(BOOL, "<", index, following)))
