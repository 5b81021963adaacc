"""The numbers inside a value, each with the cell in which it stands.

The cell of a number is its place: the variable or packet argument, keys that are processes, fields, and the processes
in the same records. Positions are no part of it: the elements of a queue share one cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import NAT, PROCESS, Collection, Map, Record, Type
from thence.dsl.run.values import ABSENT, Value, lookup, zero
from thence.proofs.liveness.order_lines import Cell


class MoreThanOrder(Exception):
    """The protocol uses numbers so that more than their order and small distances matter; the message says how."""


Change: TypeAlias = Callable[[int, Cell], int]
"""The new value of a number in a cell."""


def has_numbers(type_: Type) -> bool:
    """Whether a value of the type can have numbers in it, indices of windows among them."""
    return any(
        node == NAT or (isinstance(node, Collection) and node.kind in ("sliding array", "sliding map"))
        for node in nodes(type_)
    )


def is_total(type_: Type) -> bool:
    """Whether the map gets an entry for every process: those of processes to numbers, and to such maps."""
    return isinstance(type_, Map) and type_.key == PROCESS and (type_.value == NAT or is_total(type_.value))


def changed(value: Value, type_: Type, cell: Cell, change: Change, processes: int) -> Value:
    """The value with every number changed; maps that are total get all their entries.

    Raises: MoreThanOrder for numbers that cells cannot tell apart.
    """
    if type_ == NAT:
        return change(value, cell)
    if not has_numbers(type_):
        return value

    def inside(part: Value, kind: Type, *way: object) -> Value:
        return changed(part, kind, (*cell, *way), change, processes)

    match type_:
        case Record(fields=fields):
            named = tuple(part for part, (_, kind) in zip(value, fields, strict=True) if kind == PROCESS)
            return tuple(inside(part, kind, label, named) for part, (label, kind) in zip(value, fields, strict=True))
        case Map(_, item) if is_total(type_):
            entries = ((process, lookup(value, process)) for process in range(processes))
            return tuple(
                (process, inside(zero(item) if part is ABSENT else part, item, process)) for process, part in entries
            )
        case Map(key, item):
            pairs = [(inside(known, key, "key"), known, part) for known, part in value]
            return tuple((new, inside(part, item, known if key == PROCESS else "value")) for new, known, part in pairs)
        case Collection("option", item):
            return None if value is None else (inside(value[0], item, "item"),)
        case Collection("queue", item):
            return tuple(inside(part, item, "item") for part in value)
        case Collection("sliding array", item):
            first, items = value
            return (inside(first, NAT, "index"), tuple(inside(part, item, "item") for part in items))
        case Collection("sliding map", item):
            following, entries = value
            return (
                inside(following, NAT, "index"),
                tuple((inside(at, NAT, "index"), inside(part, item, "item")) for at, part in entries),
            )
        case _:
            raise MoreThanOrder(f"numbers stand in a {type_}")


def windows(value: Value, type_: Type, cell: Cell, found: Callable[[int, int, Cell], None], processes: int) -> None:
    """Calls `found` with the indices (first, next) and the cell of every sliding array in the value."""
    match type_:
        case Collection("sliding array", item):
            first, items = value
            found(first, first + len(items), (*cell, "index"))
            for part in items:
                windows(part, item, (*cell, "item"), found, processes)
        case Record(fields=fields):
            named = tuple(part for part, (_, kind) in zip(value, fields, strict=True) if kind == PROCESS)
            for part, (label, kind) in zip(value, fields, strict=True):
                windows(part, kind, (*cell, label, named), found, processes)
        case Map(key, item):
            for known, part in value:
                windows(part, item, (*cell, known if key == PROCESS else "value"), found, processes)
        case Collection("option" | "queue", item):
            for part in value or ():
                windows(part, item, (*cell, "item"), found, processes)
        case _:
            pass
