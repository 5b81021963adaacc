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


@dataclass(slots=True)
class Place:
    """A bound place. It lives as long as a statement; not frozen, for that takes twice as long to make.

    Attributes:
        get: the value, or ABSENT for a missing entry of a partial map.
        update: puts in the place of the value, or of ABSENT, what the function makes of it.
    """

    get: Callable[[], Value]
    update: Callable[[Change], None]

    def put(self, value: Value) -> None:
        """Puts the value there."""
        self.update(lambda _: value)


Change: TypeAlias = Callable[[Value], Value]
"""A value after a change, from the value before it."""

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

        def update(change: Change) -> None:
            state[position] = change(state[position])

        return Place(lambda: state[position], update)

    return bind


def _record_field(parent: Binder, position: int) -> Binder:
    def bind(frame: Frame) -> Place:
        record = parent(frame)

        def update(change: Change) -> None:
            def changed(fields: Value) -> Value:
                found = there(fields)
                return (*found[:position], change(found[position]), *found[position + 1 :])

            record.update(changed)

        return Place(lambda: there(record.get())[position], update)

    return bind


def there(value: Value) -> Value:
    """The value; a fault where it is what a partial map holds at a key that it does not map."""
    if value is ABSENT:
        raise Fault("a map is read at a key that it does not have")
    return value


def present(place: Place) -> Value:
    """The value at a place; a fault where a partial map has none."""
    return there(place.get())


def map_entry(parent: Place, key: Value, default: Value) -> Place:
    """The entry of a map at a key; storing the default removes it."""

    def get() -> Value:
        value = lookup(present(parent), key)
        return default if value is ABSENT else value

    def update(change: Change) -> None:
        def changed(map_: Value) -> Value:
            value = lookup(there(map_), key)
            after = change(default if value is ABSENT else value)
            return with_entry(map_, key, ABSENT if after == default else after)

        parent.update(changed)

    return Place(get, update)


def _map_entry(parent: Binder, key: Callable[[Frame], Value], default: Value) -> Binder:
    return lambda frame: map_entry(parent(frame), key(frame), default)


def queue_element(parent: Place, position: int) -> Place:
    """An element of a queue, by position; a fault once the queue is too short."""

    def still_there(items: Value) -> Value:
        if position >= len(there(items)):
            raise Fault("an element is used that the queue no longer has")
        return items

    def update(change: Change) -> None:
        def changed(items: Value) -> Value:
            return (*items[:position], change(still_there(items)[position]), *items[position + 1 :])

        parent.update(changed)

    return Place(lambda: still_there(parent.get())[position], update)


def window_element(parent: Place, index: int) -> Place:
    """An element of a sliding array, by index."""

    def offset(window: Value) -> int:
        first, items = there(window)
        if not first <= index < first + len(items):
            raise Fault(f"index {index} is outside the window [{first}, {first + len(items)})")
        return int(index - first)

    def get() -> Value:
        window = parent.get()
        return window[1][offset(window)]

    def update(change: Change) -> None:
        def changed(window: Value) -> Value:
            at = offset(window)
            first, items = window
            return first, (*items[:at], change(items[at]), *items[at + 1 :])

        parent.update(changed)

    return Place(get, update)


def _window_element(parent: Binder, index: Callable[[Frame], Value]) -> Binder:
    return lambda frame: window_element(parent(frame), index(frame))
