"""Loops that change entries of maps, each round its own: all rounds at once.

NOTE(entrywise): in `for k in process: V[k] := max(V[k], w[k])` a round reads and writes no entry of V but its own, so
the rounds do not depend on each other. After the loop an entry has the value that its round gives it, with the loop
variables replaced by its keys. The loops may be nested, `for k in process: for l in process: M[k][l] := ...`: each loop
variable is one of the keys. All maps on the way have values with a zero, so that there is no key to be made. A loop may
change several maps in this way. Where nothing that changes one of them reads another of them, the loop does what a loop
for each map does, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Collection, Map, Type, has_zero
from thence.proofs.logic.formula import TRUE, conj, substitute
from thence.proofs.refinement.following import Path
from thence.proofs.refinement.rounds import Looping
from thence.proofs.refinement.shapes.changes import merged, substituted
from thence.proofs.refinement.shapes.flat import flat, is_flat, leaves, locals_of, same
from thence.proofs.refinement.shapes.kinds import Shape, Table, Term
from thence.proofs.refinement.shapes.zeros import table

Around: TypeAlias = tuple[ir.For | ir.If, ...]
"""Loops and conditions around a statement, from the outside."""


@dataclass(frozen=True, slots=True)
class Entries:
    """What a loop does to one map, from the outside to the assignment; `keys` say where the entry of `variable` is."""

    around: Around
    assignment: ir.Assign
    variable: ir.StateOf
    keys: tuple[ir.Lookup, ...]

    @property
    def evaluated(self) -> tuple[ir.Expr | None, ...]:
        """What is evaluated around the assignment: domains and conditions."""
        return tuple(one.domain if isinstance(one, ir.For) else one.condition for one in self.around)


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of the entry: a loop variable with this name, or these terms."""

    name: str | None
    terms: tuple[Term, ...]
    value: Type


def entries_of(loop: ir.For) -> tuple[Entries, ...]:
    """The loop as one that changes entries of maps, with a part for each map; empty where it is anything else."""
    found: list[Entries] = []
    for around, statement in _innermost(loop, ()):
        part = None if around is None else _part(around, statement)
        if part is None or not _each_round_has_its_own(part):
            return ()
        found.append(part)
    for one, other in permutations(found, 2):
        if _mentions((one.evaluated, one.assignment), other.variable.name):
            return ()
    return tuple(found)


def _innermost(statement: ir.Stmt, around: Around) -> Iterator[tuple[Around | None, ir.Stmt]]:
    """The statements that are neither loops nor conditions, with those around them; None for what has no such form."""
    match statement:
        case ir.For(ref=False, body=body) | ir.If(then=body, otherwise=()):
            for inner in body:
                yield from _innermost(inner, (*around, statement))
        case ir.For() | ir.If():
            yield None, statement
        case _:
            yield around, statement


def _part(around: Around, statement: ir.Stmt) -> Entries | None:
    if not isinstance(statement, ir.Assign):
        return None
    keys: list[ir.Lookup] = []
    place = statement.place
    while isinstance(place, ir.Lookup):
        keys.insert(0, place)
        place = place.target
    return Entries(around, statement, place, tuple(keys)) if isinstance(place, ir.StateOf) and keys else None


def _each_round_has_its_own(found: Entries) -> bool:
    loops = [one for one in found.around if isinstance(one, ir.For)]
    names = [one.name for one in loops]
    at = [key.key.name for key in found.keys if isinstance(key.key, ir.Local) and key.key.name in names]
    if len(set(names)) != len(names) or sorted(at) != sorted(names):
        return False
    for key in found.keys:
        maps_to_zero = isinstance(key.target.type, Map) and has_zero(key.target.type.value)
        if not maps_to_zero or not isinstance(key.key, ir.Local | ir.SelfProcess):
            return False
    if not all(_gives_keys(one) and not _mentions(one.domain, found.variable.name) for one in loops):
        return False
    read = [one.condition for one in found.around if isinstance(one, ir.If)]
    return all(_reads_only(one, found, names) for one in (*read, found.assignment.value))


def _gives_keys(loop: ir.For) -> bool:
    """Whether each value of the loop variable comes once: all processes, or the elements of a set or keys of a map."""
    match None if loop.domain is None else loop.domain.type:
        case None:
            return True
        case Collection(kind="set", item=item) | Map(key=item):
            return is_flat(item) and len(leaves(item)) == 1
        case _:
            return False


def _mentions(tree: object, variable: str) -> bool:
    return any(isinstance(node, ir.StateOf) and node.name == variable for node in nodes(tree))


def _reads_only(expr: ir.Expr, found: Entries, names: Sequence[str]) -> bool:
    """Whether nothing of the map is read but the entry of the round, and no name of a loop variable is bound again."""
    left: list[object] = [expr]
    while left:
        node = left.pop()
        if node == found.assignment.place:
            continue
        if isinstance(node, ir.StateOf) and node.name == found.variable.name:
            return False
        if isinstance(node, ir.Bound) and node.name in names:
            return False
        left.extend(_parts(node))
    return True


def _parts(node: object) -> Sequence[object]:
    if isinstance(node, tuple):
        return node
    if isinstance(node, ir.Expression):
        return [getattr(node, label) for label in node.__dataclass_fields__]
    return ()


@dataclass(slots=True)
class Entrywise(Looping):
    """Executes loops that change entries of maps."""

    def _entrywise(self, found: Sequence[Entries], path: Path) -> Path:
        """All rounds at once: see NOTE(entrywise)."""
        for part in found:
            path = self._all_rounds(part, path)
        return path

    def _all_rounds(self, found: Entries, path: Path) -> Path:
        inside, conditions = path, list[Term]()
        variables: dict[str, ir.Variable] = {}
        for one in found.around:
            if isinstance(one, ir.If):
                conditions.append(self._value(inside, one.condition, conditions).term)
                continue
            (group,), there = self._domain(inside, one)
            self._check(f"no fault on line {one.span.line}", inside, there, conditions)
            (variable,) = self._loop_variables(group.types)
            condition, item = group.item(locals_of((variable,)))
            variables[one.name] = variable
            conditions += [condition] if condition != TRUE else []
            inside = replace(inside, locals={**inside.locals, one.name: item})
        value = self._value(inside, found.assignment.value, conditions).shape
        keys = [self._key(inside, one, variables) for one in found.keys]
        before = path.state.mine(found.variable.name)
        after = _all_written(before, keys, {}, conditions, value)
        return replace(path, state=path.state.assigned(found.variable.name, after))

    def _key(self, path: Path, place: ir.Lookup, variables: Mapping[str, ir.Variable]) -> _Key:
        assert isinstance(place.target.type, Map)
        if isinstance(place.key, ir.Local) and place.key.name in variables:
            return _Key(variables[place.key.name].name, (), place.target.type.value)
        return _Key(None, flat(self._value(path, place.key).shape), place.target.type.value)


def _all_written(
    before: Shape, keys: Sequence[_Key], known: Mapping[str, Term], conditions: Sequence[Term], value: Shape
) -> Shape:
    """The map after all rounds; `known` are the loop variables, by the keys that are gone."""
    if not keys:
        return merged(substitute(conj(conditions), known), substituted(value, known), before)
    key, *rest = keys
    assert isinstance(before, Table)

    def at(terms: tuple[Term, ...]) -> Shape:
        inside = before.at(terms)
        if key.name is not None:
            return _all_written(inside, rest, {**known, key.name: terms[0]}, conditions, value)
        return merged(same(terms, key.terms), _all_written(inside, rest, known, conditions, value), inside)

    return table(key.value, at, before.has)
