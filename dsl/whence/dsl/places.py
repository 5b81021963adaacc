"""Places: what can stand on the left of `:=` or before `.push(...)`.

A place is bound once (its indices are evaluated then) and can be read and changed from there on, which
is what `ref` needs. Changing a part rebuilds the values around it: values are immutable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from whence.dsl import ir
from whence.dsl.evaluate import Frame, Names, compile_expression, field_position
from whence.dsl.types import Map, has_zero
from whence.dsl.values import ABSENT, Fault, Value, lookup, with_entry, zero


@dataclass(frozen=True, slots=True)
class Place:
    """A bound place. `get` may give ABSENT for a missing entry of a partial map; `put` changes it."""

    get: Callable[[], Value]
    put: Callable[[Value], None]


Binder: TypeAlias = Callable[[Frame], Place]


def compile_place(expression: ir.Expr, names: Names) -> Binder:
    """The function that binds the place which the expression denotes."""
    match expression:
        case ir.StateOf(name=name, process=None):
            return _state_variable(names.positions[name])
        case ir.Local(name=name):
            assert name in names.refs, f"{name} is not a place"
            return lambda frame: frame.locals[name]
        case ir.FieldOf(target=target, name=name):
            return _record_field(compile_place(target, names), field_position(target.type, name))
        case ir.Lookup(target=target, key=key):
            assert isinstance(target.type, Map)
            default = zero(target.type.value) if has_zero(target.type.value) else ABSENT
            return _map_entry(compile_place(target, names), compile_expression(key, names), default)
        case ir.ElementAt(target=target, index=index):
            return _window_element(compile_place(target, names), compile_expression(index, names))
        case _:
            raise AssertionError(f"not a place: {expression}")


def _state_variable(position: int) -> Binder:
    def bind(frame: Frame) -> Place:
        state = frame.state
        return Place(lambda: state[position], lambda value: state.__setitem__(position, value))

    return bind


def _record_field(parent: Binder, position: int) -> Binder:
    def bind(frame: Frame) -> Place:
        record = parent(frame)

        def put(value: Value) -> None:
            fields = present(record)
            record.put((*fields[:position], value, *fields[position + 1 :]))

        return Place(lambda: present(record)[position], put)

    return bind


def present(place: Place) -> Value:
    """The value at a place; a fault where a partial map has none."""
    value = place.get()
    if value is ABSENT:
        raise Fault("a map is read at a key that it does not have")
    return value


def map_entry(parent: Place, key: Value, default: Value) -> Place:
    """The entry of a map at a key; storing the default removes it."""

    def get() -> Value:
        value = lookup(present(parent), key)
        return default if value is ABSENT else value

    def put(value: Value) -> None:
        parent.put(with_entry(present(parent), key, ABSENT if value == default else value))

    return Place(get, put)


def _map_entry(parent: Binder, key: Callable[[Frame], Value], default: Value) -> Binder:
    return lambda frame: map_entry(parent(frame), key(frame), default)


def queue_element(parent: Place, position: int) -> Place:
    """An element of a queue, by position; a fault once the queue is too short."""

    def all_items() -> Value:
        items = present(parent)
        if position >= len(items):
            raise Fault("an element is used that the queue no longer has")
        return items

    def put(value: Value) -> None:
        items = all_items()
        parent.put((*items[:position], value, *items[position + 1 :]))

    return Place(lambda: all_items()[position], put)


def window_element(parent: Place, index: int) -> Place:
    """An element of a sliding array, by index."""

    def offset() -> int:
        first, items = present(parent)
        if not first <= index < first + len(items):
            raise Fault(f"index {index} is outside the window [{first}, {first + len(items)})")
        return int(index - first)

    def put(value: Value) -> None:
        at = offset()
        first, items = present(parent)
        parent.put((first, (*items[:at], value, *items[at + 1 :])))

    return Place(lambda: present(parent)[1][offset()], put)


def _window_element(parent: Binder, index: Callable[[Frame], Value]) -> Binder:
    return lambda frame: window_element(parent(frame), index(frame))
