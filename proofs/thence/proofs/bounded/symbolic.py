"""Values that depend on the inputs of a circuit.

======================  ======================================================================
type                    value
======================  ======================================================================
bool                    a literal
process, message, nat   `Choice`: for each possible value the literal that says that it is this one
record                  `Fields`
option of T             `Maybe`
set of T                `Flags`: for each element whether it is there; of records and the like `Slots`, ascending
queue of T              `Slots`: a count and as many slots as the count can need
map K to V              `Table`: for each key whether something is stored and what; else zero, or not mapped
sliding array of T      `Window`: first, next, and the items by index
sliding map of T        `Index`: next, and by index whether it is there and the item
======================  ======================================================================

NOTE(junk): a slot behind the count, the value of an unmapped key and the item of `none` are junk: arbitrary, and
possibly `MISSING`. Junk is only read under a condition that is false. A `Choice` has exactly one true literal; junk at
most one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from thence.dsl.ir.types import Bool, Collection, Map, Nat, Record, Sort, Type
from thence.proofs.bounded.circuit import FALSE, TRUE, Circuit, Literal
from thence.proofs.logic.formula import Unsupported


@dataclass(frozen=True, slots=True)
class Missing:
    """No value; see NOTE(junk)."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Choice:
    """`options`: (value, literal) by ascending value; at most one literal is true."""

    options: tuple[tuple[int, Literal], ...]


@dataclass(frozen=True, slots=True)
class Fields:
    values: tuple[Symbolic, ...]


@dataclass(frozen=True, slots=True)
class Maybe:
    present: Literal
    item: Symbolic


@dataclass(frozen=True, slots=True)
class Flags:
    """(element, literal) by ascending element; elements that are not listed are not in the set."""

    members: tuple[tuple[int, Literal], ...]


@dataclass(frozen=True, slots=True)
class Slots:
    """`items[i]` is the element at position i where i < count."""

    count: Choice
    items: tuple[Symbolic, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """(key, stored, value) by ascending key; other keys have zero, or are not mapped. A zero may be stored, too."""

    entries: tuple[tuple[int, Literal, Symbolic], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """(index, item) by ascending index; those from `first` up to `next` (exclusive) are in the window."""

    first: Choice
    next: Choice
    items: tuple[tuple[int, Symbolic], ...]


@dataclass(frozen=True, slots=True)
class Index:
    """(index, present, item) by ascending index."""

    next: Choice
    entries: tuple[tuple[int, Literal, Symbolic], ...]


Symbolic: TypeAlias = Literal | Missing | Choice | Fields | Maybe | Flags | Slots | Table | Window | Index
Cases: TypeAlias = Sequence[tuple[Literal, Symbolic]]
"""Conditions, at most one of them true, each with a value."""


def known(value: int) -> Choice:
    """The value as a choice that does not depend on inputs."""
    return Choice(((value, TRUE),))


def literal_of(value: Symbolic) -> Literal:
    assert isinstance(value, int), "a truth value was expected"
    return value


def choice_of(value: Symbolic) -> Choice:
    assert isinstance(value, Choice), "a process, message or number was expected"
    return value


def condition_of(choice: Choice, value: int) -> Literal:
    """Whether the choice is this value."""
    return next((literal for option, literal in choice.options if option == value), FALSE)


def zero_value(type_: Type) -> Symbolic:
    """The value that a variable of the type starts from; MISSING where the type has none."""
    match type_:
        case Bool():
            return FALSE
        case Nat():
            return known(0)
        case Map():
            return Table(())
        case Collection("option"):
            return Maybe(FALSE, MISSING)
        case Collection("set", item):
            return Flags(()) if is_scalar(item) else Slots(known(0), ())
        case Collection("queue"):
            return Slots(known(0), ())
        case Collection("sliding array"):
            return Window(known(0), known(0), ())
        case Collection("sliding map"):
            return Index(known(0), ())
        case Sort() | Record() | Collection():
            return MISSING
        case _:
            assert_never(type_)


def present(value: Symbolic, type_: Type) -> Symbolic:
    """The value; for `MISSING`, junk of the type."""
    if value is not MISSING:
        return value
    match type_:
        case Sort():
            return Choice(())
        case Record(_, fields):
            return Fields(tuple(present(MISSING, part) for _, part in fields))
        case _:
            return zero_value(type_)


def is_scalar(type_: Type) -> bool:
    """Whether values of the type are choices, so that they can be elements of sets and keys of maps."""
    return isinstance(type_, Sort | Nat)


def supported(type_: Type) -> None:
    """Raises: Unsupported for a type that has no encoding with slots."""
    match type_:
        case Bool() | Nat() | Sort():
            return
        case Record(_, fields):
            for _, part in fields:
                supported(part)
        case Map(key, value):
            if not is_scalar(key):
                raise Unsupported(f"`{type_}` has keys that are not processes, messages or numbers")
            supported(value)
        case Collection(_, item):
            supported(item)
        case _:
            assert_never(type_)


# --- choosing between values -------------------------------------------------------------------


def select(circuit: Circuit, cases: Cases) -> Symbolic:
    """The value of the case whose condition is true; junk where none is."""
    kept = [(when, value) for when, value in cases if when != FALSE and value is not MISSING]
    if not kept:
        return MISSING
    first = kept[0][1]
    if all(value is first or value == first for _, value in kept):
        return first
    if isinstance(first, int):
        return circuit.disj(circuit.conj((when, literal_of(value))) for when, value in kept)
    return _select_compound(circuit, kept, first)


def _select_compound(circuit: Circuit, cases: Cases, first: Symbolic) -> Symbolic:
    def part(get: Callable[[Symbolic], Symbolic]) -> Symbolic:
        return select(circuit, [(when, get(value)) for when, value in cases])

    match first:
        case Choice():
            options: dict[int, list[Literal]] = {}
            for when, value in cases:
                for option, literal in choice_of(value).options:
                    options.setdefault(option, []).append(circuit.conj((when, literal)))
            return choice(circuit, options)
        case Fields(values):
            return Fields(tuple(part(_field_at(position)) for position in range(len(values))))
        case Maybe():
            present = circuit.disj(circuit.conj((when, _maybe(value).present)) for when, value in cases)
            return Maybe(present, part(lambda value: _maybe(value).item))
        case Flags():
            members = sorted({element for _, value in cases for element, _ in _flags(value).members})
            found = (
                (element, circuit.disj(circuit.conj((when, in_set(_flags(value), element))) for when, value in cases))
                for element in members
            )
            return Flags(tuple((element, literal) for element, literal in found if literal != FALSE))
        case Slots():
            length = max(len(_slots(value).items) for _, value in cases)
            count = choice_of(part(lambda value: _slots(value).count))
            return Slots(count, tuple(part(_slot_at(position)) for position in range(length)))
        case Table():
            return Table(_select_entries(circuit, [(when, _table(value).entries) for when, value in cases]))
        case Window():
            indices = sorted({index for _, value in cases for index, _ in _window(value).items})
            return Window(
                choice_of(part(lambda value: _window(value).first)),
                choice_of(part(lambda value: _window(value).next)),
                tuple((index, part(_window_item(index))) for index in indices),
            )
        case Index():
            following = choice_of(part(lambda value: _index(value).next))
            return Index(following, _select_entries(circuit, [(when, _index(value).entries) for when, value in cases]))
        case int() | Missing():
            raise AssertionError("neither a truth value nor nothing at all is compound")
        case _:
            assert_never(first)


def _select_entries(
    circuit: Circuit, cases: Sequence[tuple[Literal, tuple[tuple[int, Literal, Symbolic], ...]]]
) -> tuple[tuple[int, Literal, Symbolic], ...]:
    keys = sorted({key for _, entries in cases for key, _, _ in entries})
    by_key = [(when, {key: (mapped, item) for key, mapped, item in entries}) for when, entries in cases]
    found = []
    for key in keys:
        there = [(when, *entries[key]) for when, entries in by_key if key in entries]
        mapped = circuit.disj(circuit.conj((when, literal)) for when, literal, _ in there)
        if mapped != FALSE:
            found.append((key, mapped, select(circuit, [(when, item) for when, _, item in there])))
    return tuple(found)


def choice(circuit: Circuit, options: Mapping[int, Iterable[Literal]]) -> Choice:
    """The choice that is a value where one of its literals is true."""
    found = ((value, circuit.disj(literals)) for value, literals in sorted(options.items()))
    return Choice(tuple((value, literal) for value, literal in found if literal != FALSE))


def merge(circuit: Circuit, condition: Literal, then: Symbolic, otherwise: Symbolic) -> Symbolic:
    """`then` where the condition is true, else `otherwise`."""
    if condition == TRUE or then is otherwise or otherwise is MISSING:
        return then
    if condition == FALSE or then is MISSING:
        return otherwise
    if isinstance(then, int) and isinstance(otherwise, int):
        return circuit.ite(condition, then, otherwise)
    return select(circuit, ((condition, then), (-condition, otherwise)))


# --- reading parts -----------------------------------------------------------------------------


def in_set(flags: Flags, element: int) -> Literal:
    return next((literal for member, literal in flags.members if member == element), FALSE)


def _maybe(value: Symbolic) -> Maybe:
    assert isinstance(value, Maybe)
    return value


def _flags(value: Symbolic) -> Flags:
    assert isinstance(value, Flags)
    return value


def _slots(value: Symbolic) -> Slots:
    assert isinstance(value, Slots)
    return value


def _table(value: Symbolic) -> Table:
    assert isinstance(value, Table)
    return value


def _window(value: Symbolic) -> Window:
    assert isinstance(value, Window)
    return value


def _index(value: Symbolic) -> Index:
    assert isinstance(value, Index)
    return value


def _field_at(position: int) -> Callable[[Symbolic], Symbolic]:
    def get(value: Symbolic) -> Symbolic:
        assert isinstance(value, Fields)
        return value.values[position]

    return get


def _slot_at(position: int) -> Callable[[Symbolic], Symbolic]:
    def get(value: Symbolic) -> Symbolic:
        items = _slots(value).items
        return items[position] if position < len(items) else MISSING

    return get


def _window_item(index: int) -> Callable[[Symbolic], Symbolic]:
    def get(value: Symbolic) -> Symbolic:
        return next((item for known_index, item in _window(value).items if known_index == index), MISSING)

    return get
