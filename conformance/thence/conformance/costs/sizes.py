"""Sizes as the papers count them: integers and identifiers, without the application's messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final

from thence.impl.sliding import IndexedSlidingMap, SlidingArray, SlidingMap
from thence.impl.transport.codec import Codec

_SETS: Final = frozenset({("Cykas", "_unack"), ("Cykas", "_eager_sent"), ("KS", "_log")}) | frozenset(
    (kind, "destinations") for kind in ("Msg", "Entry")
)
"""(class, attribute): integers that are sets of processes, as bit masks. Each member is an identifier."""

_FIXED: Final = frozenset({"_group", "_parents", "_hops"})
"""The identity of a process and the group, which every system has, and values fixed by the shape of a tree."""


@dataclass(frozen=True, slots=True)
class Payload:
    """An application message: it is counted, its contents are not."""

    sender: int
    number: int


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a state or a packet.

    Attributes:
        identifiers: integers, identifiers and flags.
        messages: application messages that it holds.
    """

    identifiers: int
    messages: int

    def __add__(self, other: Size) -> Size:
        return Size(self.identifiers + other.identifiers, self.messages + other.messages)


NOTHING: Final = Size(0, 0)


def size(value: object, *, sets: bool = False) -> Size:
    """The size of a value, as if nothing were shared. With `sets`, integers are sets of processes as bit masks.

    Raises:
        TypeError: there is something in it that this does not know.
    """
    match value:
        case Payload():
            return Size(0, 1)
        case None:
            return NOTHING
        case int():
            return Size(value.bit_count() if sets else 1, 0)
        case Mapping():
            return _sum(size(key) + size(each, sets=sets) for key, each in value.items())
        case tuple() if hasattr(value, "_fields"):
            return _sum(_member(value, name) for name in value._fields)
        case tuple() | list() | deque() | AbstractSet():
            return _sum(size(each, sets=sets) for each in value)
        case _ if is_dataclass(value):
            return _sum(_member(value, each.name) for each in fields(value))
    match type(value).__name__:
        # The counted implementations have classes of their own, with the names of the others.
        case SlidingArray.__name__:
            return Size(2, 0) + _sum(size(each) for each in _iterable(value))
        case SlidingMap.__name__ | IndexedSlidingMap.__name__:
            window: Any = value
            return Size(2 + (window.next - window.first), 0) + _sum(size(each) for each in _iterable(value))
    raise TypeError(f"not something whose size is known: {value!r:.200}")


def process_size(process: object) -> Size:
    """The size of a process's state, without its identity and the group, which every system has."""
    names = [name for name in vars(process) if name not in _FIXED]
    return _sum(_member(process, name) for name in names)


def metadata_bytes(codec: Codec, packet: Any) -> int:
    """The bytes of a packet with a message, as the transport sends it, less those of the message."""
    nothing = 0
    return len(codec.encode(replace(packet, message=nothing))) - len(codec.encode(nothing))


def _member(value: object, name: str) -> Size:
    return size(getattr(value, name), sets=(type(value).__name__, name) in _SETS)


def _iterable(value: Any) -> Any:
    return iter(value)


def _sum(sizes: Any) -> Size:
    return sum(sizes, start=NOTHING)
