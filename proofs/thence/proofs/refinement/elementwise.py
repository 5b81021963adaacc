"""Loops that change elements in place, `for ref x in Q`, each round its own: all rounds at once.

NOTE(elementwise): a round of such a loop changes nothing but x, and reads of the collection nothing but x. So the
rounds do not depend on each other. The body is executed once, for an element of which nothing is known but that it is
there; in the end each element has the value that its round gives it. No element comes or goes; but an entry of a map
whose value becomes zero is no key any more, see NOTE(absent).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import NAT, Collection, Map, Type
from thence.proofs.logic.formula import Unsupported, conj
from thence.proofs.refinement.effects import root_of
from thence.proofs.refinement.shapes.changes import Change, merged, substituted
from thence.proofs.refinement.shapes.flat import leaves
from thence.proofs.refinement.shapes.kinds import Group, Shape, Table, Term, Window, within
from thence.proofs.refinement.shapes.zeros import table


def changes_elements(loop: ir.For) -> bool:
    """Whether the loop has the form of NOTE(elementwise)."""
    if not loop.ref or loop.domain is None:
        return False
    root = root_of(loop.domain)
    if any(type(node) is type(root) and node.name == root.name for node in _parts(loop.body)):
        return False
    return all(_changes_only(statement, loop.name) for statement in loop.body)


def _parts(statements: Sequence[ir.Stmt]) -> Iterator[ir.StateOf | ir.Local]:
    return (node for node in nodes(tuple(statements)) if isinstance(node, ir.StateOf | ir.Local))


def _changes_only(statement: ir.Stmt, name: str) -> bool:
    """Whether the statement changes nothing but what the name stands for."""
    match statement:
        case ir.Let():
            return True
        case ir.If(then=then, otherwise=otherwise):
            return all(_changes_only(each, name) for each in (*then, *otherwise))
        case ir.Mutate(method="add" | "remove", place=place) if not _is_set_or_map(place.type):
            return False  # which place it leaves has a name of its own in each round
        case ir.Assign(place=place) | ir.Mutate(place=place):
            root = root_of(place)
            return isinstance(root, ir.Local) and root.name == name
        case ir.For(domain=ir.Expression() as domain):
            if not changes_elements(statement):
                return False
            inner = root_of(domain)
            return isinstance(inner, ir.Local) and inner.name == name
        case _:
            return False


def _is_set_or_map(type_: Type) -> bool:
    return isinstance(type_, Map) or (isinstance(type_, Collection) and type_.kind == "set")


def places(shape: Shape, type_: Type) -> Group:
    """The elements of a collection that has one for each number or key, by these."""
    match shape, type_:
        case Window(first=first, next=following, at=at), _:
            return Group((NAT,), lambda terms: (within(first, terms[0], following), at(terms[0])))
        case Table(at=entry, has=has), Map(key=key):
            return Group(leaves(key), lambda terms: (has(terms), entry(terms)))
        case _:
            raise Unsupported(f"`for ref` over a `{type_}` has no encoding")


def with_elements(variables: Sequence[ir.Variable], element: Shape, type_: Type) -> Change:
    """Each element of the collection has the value `element`, with its number or key in the place of the variables."""

    def its(terms: tuple[Term, ...]) -> Shape:
        return substituted(element, {one.name: term for one, term in zip(variables, terms, strict=True)})

    def change(shape: Shape) -> Shape:
        match shape, type_:
            case Window(), _:
                pushed = tuple(replace(each, item=its((each.number,))) for each in shape.pushed)
                before = (shape.older[0], lambda index: its((index,))) if pushed else None
                return Window(shape.first, shape.next, lambda index: its((index,)), pushed, before)
            case Table(at=at, has=has), Map(value=value):
                return table(value, lambda terms: merged(has(terms), its(terms), at(terms)), has)
            case _:
                raise AssertionError((shape, type_))

    return change


def joined(ways: Sequence[tuple[Sequence[Term], Shape]]) -> Shape:
    """The value of an element after its round; of the ways through the body exactly one has its conditions true."""
    *others, (_, found) = ways
    for conditions, shape in reversed(others):
        found = merged(conj(conditions), shape, found)
    return found
