"""The order of symbolic values of one type, as `run.values.ascending` has it: lexicographic, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from thence.dsl.ir.types import Bool, Collection, Map, Nat, Record, Sort, Type
from thence.proofs.bounded.circuit import FALSE, Literal
from thence.proofs.bounded.operations import Workshop
from thence.proofs.bounded.symbolic import (
    Fields,
    Flags,
    Maybe,
    Symbolic,
    Table,
    choice_of,
    in_set,
    literal_of,
)
from thence.proofs.logic.formula import Unsupported


def precedes(workshop: Workshop, left: Symbolic, right: Symbolic, type_: Type) -> Literal:
    """Whether the left value comes before the right one. Raises: Unsupported for queues and sliding collections."""
    circuit = workshop.circuit
    match type_:
        case Nat() | Sort():
            return workshop.less(choice_of(left), choice_of(right))
        case Bool():
            return circuit.conj((-literal_of(left), literal_of(right)))
        case Record(_, fields):
            assert isinstance(left, Fields) and isinstance(right, Fields)
            before = FALSE
            for one, other, (_, part) in reversed(list(zip(left.values, right.values, fields, strict=True))):
                equal = circuit.conj((workshop.same(one, other, part), before))
                before = circuit.disj((precedes(workshop, one, other, part), equal))
            return before
        case Collection("option", item):
            assert isinstance(left, Maybe) and isinstance(right, Maybe)
            inside = circuit.conj((left.present, right.present))
            both = FALSE if inside == FALSE else precedes(workshop, left.item, right.item, item)
            return circuit.disj((circuit.conj((-left.present, right.present)), circuit.conj((inside, both))))
        case Collection("set") if isinstance(left, Flags) and isinstance(right, Flags):
            elements = sorted({element for flags in (left, right) for element, _ in flags.members})
            return _shorter_or_smaller(
                workshop, [(in_set(left, one), in_set(right, one), FALSE, FALSE) for one in elements]
            )
        case Map(_, value):
            assert isinstance(left, Table) and isinstance(right, Table)
            keys = sorted({key for table in (left, right) for key, _, _ in table.entries})
            entries = [_entry(workshop, left, right, key, type_, value) for key in keys]
            return _shorter_or_smaller(workshop, entries)
        case _:
            raise Unsupported(f"a set whose elements have a `{type_}` in them")


Pair: TypeAlias = tuple[Literal, Literal, Literal, Literal]
"""Of one key: whether the left and the right one have it; if both: whether the left value is smaller, or larger."""


def _entry(workshop: Workshop, left: Table, right: Table, key: int, map_: Type, value: Type) -> Pair:
    mapped = workshop.mapped(left, key, map_), workshop.mapped(right, key, map_)
    if FALSE in mapped:
        return (*mapped, FALSE, FALSE)
    one, other = (workshop.stored_or_junk(table, key, map_) for table in (left, right))
    return (*mapped, precedes(workshop, one, other, value), precedes(workshop, other, one, value))


def _shorter_or_smaller(workshop: Workshop, pairs: Sequence[Pair]) -> Literal:
    """Whether the left sequence of present entries, keys ascending, comes first; a prefix comes before a longer one."""
    circuit = workshop.circuit
    before = more_left = more_right = FALSE
    for one, other, smaller, larger in reversed(pairs):
        both = circuit.conj((one, other))
        before = circuit.disj(
            (
                circuit.conj((both, smaller)),
                circuit.conj((both, -smaller, -larger, before)),
                circuit.conj((-one, -other, before)),
                circuit.conj((one, -other, more_right)),
                circuit.conj((-one, other, -more_left)),
            )
        )
        more_left, more_right = circuit.disj((more_left, one)), circuit.disj((more_right, other))
    return before
