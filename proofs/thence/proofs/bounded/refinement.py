"""The literals of symbolic values, and values simplified by the literals that a circuit has learnt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from thence.proofs.bounded.circuit import FALSE, Circuit, Literal
from thence.proofs.bounded.symbolic import (
    MISSING,
    Choice,
    Fields,
    Flags,
    Index,
    Maybe,
    Missing,
    Slots,
    Symbolic,
    Table,
    Window,
)


def literals_of(value: Symbolic) -> Iterator[Literal]:
    """Every literal inside a value."""
    match value:
        case int():
            yield value
        case Missing():
            return
        case Choice(pairs) | Flags(pairs):
            for _, literal in pairs:
                yield literal
        case Fields(items):
            for item in items:
                yield from literals_of(item)
        case Maybe(present, item):
            yield present
            yield from literals_of(item)
        case Slots(count, items):
            yield from literals_of(count)
            for item in items:
                yield from literals_of(item)
        case Table(entries):
            for _, stored, item in entries:
                yield stored
                yield from literals_of(item)
        case Window(first, following, indexed):
            yield from literals_of(first)
            yield from literals_of(following)
            for _, item in indexed:
                yield from literals_of(item)
        case Index(following, entries):
            yield from literals_of(following)
            for _, present, item in entries:
                yield present
                yield from literals_of(item)
        case _:
            assert_never(value)


def refined(value: Symbolic, circuit: Circuit) -> Symbolic:
    """The value simplified by the literals that the circuit has learnt: impossible parts are removed."""
    match value:
        case int():
            return circuit.now(value)
        case Missing():
            return value
        case Choice(options):
            return Choice(_refined_pairs(options, circuit))
        case Flags(members):
            return Flags(_refined_pairs(members, circuit))
        case Fields(items):
            return Fields(tuple(refined(item, circuit) for item in items))
        case Maybe(present, item):
            present = circuit.now(present)
            return Maybe(present, MISSING if present == FALSE else refined(item, circuit))
        case Slots(count, items):
            counted = Choice(_refined_pairs(count.options, circuit))
            longest = max((number for number, _ in counted.options), default=0)
            return Slots(counted, tuple(refined(item, circuit) for item in items[:longest]))
        case Table(entries):
            return Table(_refined_entries(entries, circuit))
        case Window(first, following, indexed):
            start, end = (Choice(_refined_pairs(part.options, circuit)) for part in (first, following))
            least = min((number for number, _ in start.options), default=0)
            most = max((number for number, _ in end.options), default=0)
            kept = tuple((index, refined(item, circuit)) for index, item in indexed if least <= index < most)
            return Window(start, end, kept)
        case Index(following, entries):
            return Index(Choice(_refined_pairs(following.options, circuit)), _refined_entries(entries, circuit))
        case _:
            assert_never(value)


def _refined_pairs(pairs: tuple[tuple[int, Literal], ...], circuit: Circuit) -> tuple[tuple[int, Literal], ...]:
    now = ((value, circuit.now(literal)) for value, literal in pairs)
    return tuple((value, literal) for value, literal in now if literal != FALSE)


def _refined_entries(
    entries: tuple[tuple[int, Literal, Symbolic], ...], circuit: Circuit
) -> tuple[tuple[int, Literal, Symbolic], ...]:
    now = ((key, circuit.now(there), item) for key, there, item in entries)
    return tuple((key, there, refined(item, circuit)) for key, there, item in now if there != FALSE)
