"""Places by closures: the left sides of `:=`, and the collections before `.push(...)`.

A place is bound once, and its indices are evaluated then. From there on it can be read and changed, as `ref` needs.
Values are immutable: a change of a part rebuilds the values around it. If the change gives back the very same part,
the values stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import Map, has_zero
from thence.dsl.run.evaluate import Frame
from thence.dsl.run.values import ABSENT, Fault, Value, ascending, lookup, zero

from .evaluate import Names, compile_expression, field_position

Change: TypeAlias = Callable[[Value], Value]
"""A value after a change, from the value before it."""


class Part(NamedTuple):
    """A way from a value to a part of it.

    Attributes:
        read: the part, given the value and the name of the part: a key, an index, a position.
        changed: the value after a change of the part, given the name of the part, the change, and the value.
    """

    read: Callable[[Value, Value], Value]
    changed: Callable[[Value, Change, Value], Value]


Step: TypeAlias = tuple[Part, Value]
"""To which part."""


@dataclass(slots=True)
class Place:
    """A bound place. It lives as long as a statement; not frozen, for that takes twice as long to make.

    Attributes:
        state: a process's state variables.
        position: which of them the place is in.
        path: from there to the place.
    """

    state: list[Value]
    position: int
    path: tuple[Step, ...]

    def get(self) -> Value:
        """The value, or ABSENT for a missing entry of a partial map."""
        value = self.state[self.position]
        for part, key in self.path:
            value = part[0](value, key)
        return value

    def put(self, value: Value) -> None:
        """Puts the value there."""
        self.update(lambda _: value)

    def update(self, change: Change) -> None:
        """Puts in the place of the value, or of ABSENT, what the function makes of it."""
        for part, key in reversed(self.path):
            change = partial(part[1], key, change)
        state, position = self.state, self.position
        state[position] = change(state[position])

    def inside(self, part: Part, key: Value) -> Place:
        """A place in this one."""
        return Place(self.state, self.position, (*self.path, (part, key)))


Binder: TypeAlias = Callable[[Frame], Place]


def compile_place(expression: ir.Expr, names: Names) -> Binder:
    """The function that binds the place which the expression denotes."""
    parts: list[tuple[Part, Callable[[Frame], Value]]] = []
    while True:
        match expression:
            case ir.StateOf(name=name, process=None):
                return _in_variable(names.positions[name], parts[::-1])
            case ir.Local(name=name):
                assert name in names.refs, f"{name} is not a place"
                return _in_reference(name, parts[::-1])
            case ir.FieldOf(target=target, name=name):
                parts.append((FIELD, _always(field_position(target.type, name))))
            case ir.Lookup(target=target, key=key):
                assert isinstance(target.type, Map)
                parts.append((entry_of(target.type), compile_expression(key, names)))
            case ir.ElementAt(target=target, index=index):
                parts.append((WINDOW_ELEMENT, compile_expression(index, names)))
            case _:
                raise AssertionError(f"not a place: {expression}")
        expression = target


def _always(value: Value) -> Callable[[Frame], Value]:
    return lambda _: value


def _in_variable(position: int, parts: list[tuple[Part, Callable[[Frame], Value]]]) -> Binder:
    return lambda frame: Place(frame.state, position, tuple([(part, key(frame)) for part, key in parts]))


def _in_reference(name: str, parts: list[tuple[Part, Callable[[Frame], Value]]]) -> Binder:
    if not parts:
        return lambda frame: frame.locals[name]

    def bind(frame: Frame) -> Place:
        place = frame.locals[name]
        return Place(place.state, place.position, (*place.path, *[(part, key(frame)) for part, key in parts]))

    return bind


def there(value: Value) -> Value:
    """The value; a fault where it is what a partial map holds at a key that it does not map."""
    if value is ABSENT:
        raise Fault("a map is read at a key that it does not have")
    return value


def present(place: Place) -> Value:
    """The value at a place; a fault where a partial map has none."""
    return there(place.get())


def _read_field(record: Value, position: int) -> Value:
    return there(record)[position]


def _with_field(position: int, change: Change, record: Value) -> Value:
    before = there(record)[position]
    after = change(before)
    return record if after is before else (*record[:position], after, *record[position + 1 :])


FIELD = Part(_read_field, _with_field)
"""A field of a record, by position."""


def entry_of(type_: Map) -> Part:
    """The entry of such a map at a key; storing the zero of its values removes it."""
    return map_entry(zero(type_.value) if has_zero(type_.value) else ABSENT)


def map_entry(default: Value) -> Part:
    """The entry of a map at a key; storing the default, which is ABSENT in a partial map, removes it."""

    def read(map_: Value, key: Value) -> Value:
        value = lookup(there(map_), key)
        return default if value is ABSENT else value

    def changed(key: Value, change: Change, map_: Value) -> Value:
        before = lookup(there(map_), key)
        if before is ABSENT:
            before = default
        after = change(before)
        return map_ if after is before else with_entry(map_, key, ABSENT if after == default else after)

    return Part(read, changed)


def _queue_item(items: Value, position: int) -> Value:
    if position >= len(there(items)):
        raise Fault("an element is used that the queue no longer has")
    return items[position]


def _with_queue_item(position: int, change: Change, items: Value) -> Value:
    before = _queue_item(items, position)
    after = change(before)
    return items if after is before else (*items[:position], after, *items[position + 1 :])


QUEUE_ELEMENT = Part(_queue_item, _with_queue_item)
"""An element of a queue, by position; a fault once the queue is too short."""


def _window_item(window: Value, index: int) -> Value:
    first, items = there(window)
    if not first <= index < first + len(items):
        raise Fault(f"index {index} is outside the window [{first}, {first + len(items)})")
    return items[index - first]


def _with_window_item(index: int, change: Change, window: Value) -> Value:
    before = _window_item(window, index)
    after = change(before)
    if after is before:
        return window
    first, items = window
    return first, (*items[: index - first], after, *items[index - first + 1 :])


WINDOW_ELEMENT = Part(_window_item, _with_window_item)
"""An element of a sliding array, by index."""


def with_entry(map_: Value, key: Value, value: Value) -> Value:
    """The map with `key` mapped to `value`; ABSENT removes it."""
    entries = dict(map_)
    entries.pop(key, None)
    if value is not ABSENT:
        entries[key] = value
    return tuple((each, entries[each]) for each in ascending(entries))
