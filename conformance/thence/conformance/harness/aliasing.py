"""Packets that change after they were sent, since sender and receiver share the object.

On a network a packet is what it was when it was sent. Within one process of Python, two processes of a system can hold
the same object: what one writes into it the other reads, also before it arrives. Such a system does something else in
production than under test. The network of a case therefore keeps a copy of what each packet held, and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any, Final
from weakref import WeakKeyDictionary

from thence.conformance.systems.contract import Foreign
from thence.conformance.systems.strangers import shown

_ATOMS: Final = frozenset({int, str, bool, float, bytes, complex, type(None)})
_DEEPEST: Final = 40
_ENOUGH: Final = 32
"""Packets of a type that hold nothing mutable, after which its packets are not looked at any more."""

_SETTLED: WeakKeyDictionary[type, int] = WeakKeyDictionary()
"""For each type of packets, how many were seen that hold nothing mutable; -1 where one was seen that does."""

_OPAQUE: Final = "(something)"
_OBJECT: Final = "(attributes)"


class SentPackets:
    """What the packets in flight held when they were sent. Packets that hold nothing mutable are not kept.

    Attributes:
        kept: by the identity of a packet: the packet, and what it held.
        constant: types of packets that hold nothing mutable: they need not be looked at.
    """

    __slots__ = ("constant", "kept")

    def __init__(self) -> None:
        self.kept: dict[int, tuple[Any, Any]] = {}
        self.constant: set[type] = set()

    def sent(self, packet: Any) -> None:
        """The packet is put on the network."""
        kind = type(packet)
        if kind in _ATOMS or kind is Foreign or _SETTLED.get(kind, 0) >= _ENOUGH:
            self.constant.add(kind)
            return
        if id(packet) in self.kept:
            return
        looked = _Look()
        held = looked.at(packet)
        if looked.mutable:
            _SETTLED[kind] = -1
            self.kept[id(packet)] = (packet, held)
        elif (seen := _SETTLED.get(kind, 0)) >= 0:
            _SETTLED[kind] = seen + 1

    def keeps(self, packet: Any) -> bool:
        """Whether the packet may change."""
        return id(packet) in self.kept

    def change(self, packet: Any) -> str:
        """What has changed in a packet that is kept since it was sent, in words; empty where nothing has."""
        try:
            return _difference(self.kept[id(packet)][1], _Look().at(packet), "")
        except Exception:  # Comparisons are code of the system under test, too.
            return ""

    def forget(self, packet: Any) -> None:
        """No copy of the packet is in flight any more."""
        self.kept.pop(id(packet), None)


class _Look:
    """Reads a value as nested tuples of its type and contents, and notes whether it holds anything mutable."""

    def __init__(self) -> None:
        self.mutable = False
        self._above: set[int] = set()

    def at(self, value: Any) -> Any:
        kind = type(value)
        if kind in _ATOMS:
            return value
        if id(value) in self._above or len(self._above) > _DEEPEST:
            return _OPAQUE
        self._above.add(id(value))
        try:
            return (kind, *self._contents(value))
        except Exception:  # Code of the system under test: what cannot be read cannot be compared.
            return _OPAQUE
        finally:
            self._above.discard(id(value))

    def _contents(self, value: Any) -> tuple[Any, ...]:
        """The contents; of an object the pairs of its attributes, and then `_OBJECT`."""
        match value:
            case tuple():
                return (tuple([self.at(one) for one in value]),)
            case frozenset():
                return (frozenset([self.at(one) for one in value]),)
            case bytearray():
                self.mutable = True
                return (bytes(value),)
            case Mapping():
                self.mutable = True
                return ({self.at(key): self.at(one) for key, one in value.items()},)
            case Set():
                self.mutable = True
                return (frozenset([self.at(one) for one in value]),)
        if isinstance(value, list) or (hasattr(value, "__iter__") and hasattr(value, "__len__")):
            self.mutable = True
            return (tuple([self.at(one) for one in value]),)
        attributes = dict(_attributes(value))
        if attributes and not getattr(getattr(value, "__dataclass_params__", None), "frozen", False):
            self.mutable = True
        return (tuple([(name, self.at(one)) for name, one in attributes.items()]), _OBJECT) if attributes else (value,)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that an object has of its own."""
    if isinstance(value, type) or callable(value):
        return
    yield from getattr(value, "__dict__", {}).items()
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield name, getattr(value, name)


def _difference(before: Any, after: Any, place: str) -> str:
    """The first difference of two looks. An attribute that was not there, or a private one that was None, is a memory
    of something computed, and no difference."""
    if before == after or _OPAQUE in (before, after):
        return ""
    if not isinstance(before, tuple) or not isinstance(after, tuple) or before[0] is not after[0]:
        return _changed(place, before, after)
    held, holds = before[1], after[1]
    if _OBJECT in before[2:]:
        now = dict(holds)
        for name, one in held:
            private = one is None and name.startswith("_")
            if not private and (found := _difference(one, now.get(name, _OPAQUE), f"{place}.{name}")):
                return found
        return ""
    if isinstance(held, tuple) and len(held) == len(holds):
        pairs = enumerate(zip(held, holds, strict=True))
        parts = (_difference(one, other, f"{place}[{at}]") for at, (one, other) in pairs)
        return next(filter(None, parts), "")
    return _changed(place, before, after)


def _changed(place: str, before: Any, after: Any) -> str:
    return f"{place or 'it'} was {_words(before)} and is {_words(after)}"


def _words(look: Any) -> str:
    text = shown(_plain(look))
    return text if len(text) <= 60 else text[:59] + "…"


def _plain(look: Any) -> Any:
    """A look as a value for readers."""
    match look:
        case (type() as kind, tuple() as held, _):
            return f"{kind.__name__} with {', '.join(f'{name} {shown(_plain(one))}' for name, one in held)}"
        case (type(), dict() as held):
            return {shown(_plain(key)): _plain(one) for key, one in held.items()}
        case (type(), tuple() | frozenset() as held):
            return [_plain(one) for one in held]
        case (type(), held):
            return held
        case _:
            return look
