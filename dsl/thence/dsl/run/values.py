"""Run-time values, all immutable, hashable and ordered within a type.

======================  ============================================================
type                    value
======================  ============================================================
process, nat            int
bool                    bool
message                 `Message`
record                  tuple of the field values, in field order
option of T             None, or a tuple with the one value
set of T                frozenset
queue of T              tuple, the head first
map K to V              tuple of (key, value) pairs by ascending key; no pair holds the zero of V
sliding array of T      (first, items): the items at indices first, first + 1, ...
sliding map of T        (next, entries): (index, item) pairs by ascending index, all below next
======================  ============================================================
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, assert_never

from thence.dsl.ir.types import Bool, Collection, Map, Nat, Record, Sort, Type, has_zero

Value: TypeAlias = Any
"""A run-time value; its shape follows from its type, by the table above."""


class Occurrence(NamedTuple):
    """What happens at a process without a packet or a message: its timer of this name fires, or its application has
    this input.
    """

    name: str
    arguments: tuple[Value, ...] = ()


class Message(NamedTuple):
    """An application message: the `number`-th (from 0) that `src` causal-sent. Its destinations are ascending."""

    src: int
    number: int
    dsts: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"m{self.src}.{self.number + 1}"


class Packet(NamedTuple):
    """A packet on its way from process `src` to process `dst`."""

    kind: str
    src: int
    dst: int
    arguments: tuple[Value, ...]


class Fault(Exception):
    """A step did what no protocol may do, such as taking a nat below zero. The message says what."""


def zero(type_: Type) -> Value:
    """The zero of a type that has one."""
    assert has_zero(type_), f"{type_} has no zero"
    match type_:
        case Nat():
            return 0
        case Bool():
            return False
        case Map():
            return ()
        case Collection("option"):
            return None
        case Collection("set"):
            return frozenset()
        case Collection("queue"):
            return ()
        case Collection("sliding array" | "sliding map"):
            return (0, ())
        case Sort() | Record() | Collection():
            raise AssertionError(type_)
        case _:
            assert_never(type_)


class Absent:
    """The value of a partial map at a key that it does not map."""


ABSENT = Absent()

_ORDERED: Final = frozenset({int, bool, str, Message})
"""The types of Python whose own `<` is the order of values."""


def lookup(map_: Value, key: Value) -> Value:
    """The value at `key`, or ABSENT."""
    for known, value in map_:
        if known == key:
            return value
    return ABSENT


def with_entry(map_: Value, key: Value, value: Value) -> Value:
    """The map with `key` mapped to `value`; ABSENT removes it."""
    if type(key) in _ORDERED:
        at = bisect_left(map_, (key,))  # no pair is like `(key,)`: the one with this key is the next after it
        there = at < len(map_) and map_[at][0] == key
    else:
        known = keys(map_)
        there = key in known
        at = known.index(key) if there else bisect_left(list(map(_rank, known)), _rank(key))
    if value is ABSENT:
        return (*map_[:at], *map_[at + 1 :]) if there else map_
    return (*map_[:at], (key, value), *map_[at + there :])


def ascending(values: Iterable[Value]) -> list[Value]:
    """Values of one type in their order: none first, records and collections element by element."""
    return sorted(values, key=_rank)


def _rank(value: Value) -> Any:
    """The sort key of a value: a total order, also where `<` is not total (options, sets)."""
    if value is None:
        return ()
    if isinstance(value, frozenset):
        return tuple(sorted([_rank(part) for part in value]))
    if isinstance(value, tuple):
        return tuple([_rank(part) for part in value])
    return value


def elements(collection: Value, type_: Type) -> list[Value]:
    """The elements in order: ascending for sets and map keys, by position otherwise."""
    return elements_of(type_)(collection)


def elements_of(type_: Type) -> Callable[[Value], list[Value]]:
    """The function that gives the `elements` of collections of this type."""
    match type_:
        case Map():
            return lambda collection: [key for key, _ in collection]
        case Collection("set", Nat() | Sort("process" | "message")):
            return sorted
        case Collection("set"):
            return ascending
        case Collection("queue"):
            return list
        case Collection("sliding array"):
            return lambda collection: list(collection[1])
        case Collection("sliding map"):
            return lambda collection: [item for _, item in collection[1]]
        case Collection("option"):
            return lambda collection: list(collection or ())
        case _:
            raise AssertionError(f"{type_} has no elements")


# --- what handlers do to values; see `evaluate`, `places` and `execute` ---------------------------


def entry(map_: Value, key: Value) -> Value:
    """A partial map at a key. Raises: Fault, where it does not have the key."""
    for known, value in map_:
        if known == key:
            return value
    raise Fault("a map is read at a key that it does not have")


def entry_or(map_: Value, key: Value, default: Value) -> Value:
    """A map at a key; where it does not have the key, the default."""
    for known, value in map_:
        if known == key:
            return value
    return default


def with_entry_or(map_: Value, key: Value, value: Value, default: Value) -> Value:
    """The map with `key` mapped to `value`; the default is what it has where it does not have the key."""
    return with_entry(map_, key, ABSENT if value == default else value)


def maps(map_: Value, key: Value) -> bool:
    """Whether the map has the key."""
    return lookup(map_, key) is not ABSENT


def keys(map_: Value) -> Sequence[Value]:
    """The keys in ascending order."""
    return [key for key, _ in map_] if map_ else ()


def minus(left: int, right: int) -> int:
    """The difference. Raises: Fault, where it is below zero."""
    if left < right:
        raise Fault("a nat goes below zero")
    return left - right


def head(items: Value) -> Value:
    """The first element of a queue. Raises: Fault."""
    return _first(items, "first of an empty queue")


def value_of(option: Value) -> Value:
    """The value of an option. Raises: Fault."""
    return _first(option or (), "value of none")


def without_head(items: Value) -> Value:
    """A queue without its first element. Raises: Fault."""
    return rest(items, "pop of an empty queue")


def rest(items: Value, otherwise: str) -> Value:
    """All but the first. Raises: Fault, with this message, where there is none."""
    if not items:
        raise Fault(otherwise)
    return items[1:]


def without_first(items: Value, item: Value) -> Value:
    """A queue without the first of its elements that is this one."""
    if item not in items:
        return items
    at = items.index(item)
    return (*items[:at], *items[at + 1 :])


def queue_item(items: Value, position: int) -> Value:
    """The element of a queue at a position. Raises: Fault, where the queue has become too short."""
    if position >= len(items):
        raise Fault("an element is used that the queue no longer has")
    return items[position]


def with_queue_item(items: Value, position: int, item: Value) -> Value:
    """The queue with this element there. Raises: Fault, as `queue_item`."""
    queue_item(items, position)
    return (*items[:position], item, *items[position + 1 :])


def added(items: Value, item: Value) -> Value:
    """The set with the element."""
    return items if item in items else items | {item}


def all_but(items: Value, item: Value) -> Value:
    """The set without the element."""
    return items - {item} if item in items else items


def size_of_window(window: Value) -> int:
    """The number of elements of a sliding array or map."""
    return len(window[1])


def first_of_pair(window: Value) -> int:
    """The first index of a sliding array, and the next of a sliding map."""
    return window[0]  # type: ignore[no-any-return]


def next_index(window: Value) -> int:
    """The next index of a sliding array."""
    return window[0] + len(window[1])  # type: ignore[no-any-return]


def first_index(window: Value) -> int:
    """The first index of a sliding map."""
    following, entries = window
    return entries[0][0] if entries else following  # type: ignore[no-any-return]


def peek(window: Value) -> Value:
    """The first element of a sliding array. Raises: Fault."""
    return _first(window[1], "peek of an empty sliding array")


def indices(window: Value) -> range:
    """The indices of a sliding array."""
    first, items = window
    return range(first, first + len(items))


def items_of(window: Value) -> list[Value]:
    """The elements of a sliding map."""
    return [item for _, item in window[1]]


def window_item(window: Value, index: int) -> Value:
    """The element of a sliding array at an index. Raises: Fault, outside the window."""
    first, items = window
    if not first <= index < first + len(items):
        raise Fault(f"index {index} is outside the window [{first}, {first + len(items)})")
    return items[index - first]


def numbered_item(window: Value, index: int) -> Value:
    """The element of a sliding map with this number. Raises: Fault, where there is none."""
    for number, item in window[1]:
        if number == index:
            return item
    raise Fault(f"no element has the number {index}")


def with_window_item(window: Value, index: int, item: Value) -> Value:
    """The sliding array with this element there. Raises: Fault, as `window_item`."""
    window_item(window, index)
    first, items = window
    return first, (*items[: index - first], item, *items[index - first + 1 :])


def with_index(window: Value, item: Value) -> Value:
    """The sliding map with the element, at the next index."""
    following, entries = window
    if any(known == item for _, known in entries):
        return window
    return (following + 1, (*entries, (following, item)))


def without_item(window: Value, item: Value) -> Value:
    """The sliding map without the element."""
    return (window[0], tuple([entry for entry in window[1] if entry[1] != item]))


def _first(items: Value, otherwise: str) -> Value:
    if not items:
        raise Fault(otherwise)
    return items[0]


def size(collection: Value, type_: Type) -> int:
    """The number of elements; for sliding collections, of those present."""
    match type_:
        case Collection("sliding array" | "sliding map"):
            return len(collection[1])
        case _:
            return len(collection)


def most_elements(value: Value, type_: Type) -> int:
    """The largest number of elements of a queue, set, or sliding collection in the value; maps have none."""
    match type_:
        case Record(fields=fields):
            parts = ((part, kind) for part, (_, kind) in zip(value, fields, strict=True))
            return max((most_elements(part, kind) for part, kind in parts), default=0)
        case Map(value=item):
            return max((most_elements(part, item) for _, part in value), default=0)
        case Collection("option", item):
            return 0 if value is None else most_elements(value[0], item)
        case Collection(item=item):
            inside = max((most_elements(part, item) for part in elements(value, type_)), default=0)
            return max(size(value, type_), inside)
        case _:
            return 0


def messages_in(value: Value) -> Iterator[Message]:
    """Every message inside a value."""
    if isinstance(value, Message):
        yield value
    elif isinstance(value, tuple | frozenset):
        for part in value:
            yield from messages_in(part)


def show(value: Value, type_: Type) -> str:
    """The value as a reader of the protocol would write it."""
    match type_:
        case Bool():
            return "true" if value else "false"
        case Nat():
            return str(value)
        case Sort("process"):
            return f"p{value}"
        case Sort("message"):
            return value.name if isinstance(value, Message) else str(value)
        case Sort():
            return str(value)
        case Record(name, fields):
            shown = zip(fields, value, strict=False)  # a packet in flight has its place behind its fields
            inside = ", ".join(f"{label}: {show(part, kind)}" for (label, kind), part in shown)
            return f"{name}({inside})"
        case Map(key, item):
            inside = ", ".join(f"{show(known, key)}: {show(part, item)}" for known, part in value)
            return f"[{inside}]"
        case Collection("option", item):
            return "none" if value is None else f"some({show(value[0], item)})"
        case Collection("set", item):
            return "{" + ", ".join(show(part, item) for part in ascending(value)) + "}"
        case Collection("queue", item):
            return "<" + ", ".join(show(part, item) for part in value) + ">"
        case Collection("sliding array", item):
            first, items = value
            return f"[{first}: " + ", ".join(show(part, item) for part in items) + "]"
        case Collection("sliding map", item):
            last, entries = value
            return "{" + ", ".join(f"{index}: {show(part, item)}" for index, part in entries) + f" | next {last}}}"
        case _:
            raise AssertionError(type_)
