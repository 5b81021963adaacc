"""Fields of packets: those of the subject's packet that bear the names of the protocol's, held against the protocol's.

A subject may represent its metadata otherwise than the protocol's text. But where its packet has an attribute with the
name of a field of the protocol's packet, and a value that can stand for one of the field's type, the two have to agree:

    type of the field       value of the attribute
    nat                     int
    bool                    bool
    process                 int
    message                 the message's name
    record                  an object with all its fields as attributes, or a dict
    option of T             None, or what stands for a T
    set of T                set, frozenset; list, tuple without repetition
    queue of T              list, tuple
    map K to T              dict; of a map by processes also list, tuple: one value for each process

Keys of a map whose value is the first of its type (0, false, none, empty) count as absent, as in the language. In
JSON the keys are texts of numbers. Whatever else an attribute has is not compared, and neither are sliding arrays,
sliding maps, and sorts of one's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from thence.conformance.systems.contract import Foreign
from thence.conformance.systems.strangers import shown
from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Bool, Collection, Map, Nat, Record, Sort, Type
from thence.dsl.run.values import Packet, Value, show

Plain: TypeAlias = Any
"""A value of either side, in the form in which both are compared."""

_MISSING: Final = object()


class Incomparable(Exception):
    """The value stands for none of the field's type."""


class Differs(NamedTuple):
    """A packet of the subject that differs from the protocol's.

    Attributes:
        position: among the emissions of the step.
        shadow: the number of the protocol's packet.
        field: its name.
        text: the difference, in words.
    """

    position: int
    shadow: int
    field: str
    text: str


class PacketFields:
    """The fields of a protocol's packets, but for the messages that packets move: those are compared anyway."""

    def __init__(self, protocol: ir.Protocol) -> None:
        self._fields = {
            kind.name: tuple(
                (position, parameter.name, f"{kind.name}.{parameter.name}", parameter.type)
                for position, parameter in enumerate(kind.parameters)
                if position != kind.carries
            )
            for kind in protocol.packets
        }

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, as `KIND.field`, in the order of the text."""
        return tuple(name for fields in self._fields.values() for _, _, name, _ in fields)

    def paired(
        self,
        packet: Callable[[int], Packet],
        shadows: Sequence[int],
        theirs: Sequence[object],
        alike: Sequence[object],
        compared: set[str],
        *,
        free: bool,
    ) -> Sequence[int] | Differs:
        """The numbers of the protocol's packets for each emission of the subject, such that their fields agree.

        Args:
            packet: the protocol's packet of a number.
            shadows: the numbers of its packets, one for each emission; -1 for a delivery.
            theirs: the subject's packets; None for a delivery.
            alike: emissions for which this is equal differ in nothing but fields.
            compared: gets the names of the fields that could be compared.
            free: whether packets that differ in nothing else may change places.
        """
        first: Differs | None = None
        for position, shadow in enumerate(shadows):
            if shadow >= 0:
                found = self._difference(packet(shadow), theirs[position], compared)
                if found is not None and first is None:
                    first = Differs(position, shadow, *found)
        if first is None or not free:
            return shadows if first is None else first
        groups: dict[object, list[int]] = {}
        for position, shadow in enumerate(shadows):
            if shadow >= 0:
                groups.setdefault(alike[position], []).append(position)
        agreed = [*shadows]
        for group in groups.values():
            ours = {other: packet(shadows[other]) for other in group}
            able = {
                place: [other for other in group if self._difference(ours[other], theirs[place], compared) is None]
                for place in group
            }
            matched = _matching(able)
            if matched is None:
                return first
            for place, other in matched.items():
                agreed[place] = shadows[other]
        return agreed

    def _difference(self, ours: Packet, theirs: object, compared: set[str]) -> tuple[str, str] | None:
        """The first field in which the packets differ, and how, in words; None where none does.

        Args:
            ours: the protocol's packet.
            theirs: the subject's, of the same kind.
            compared: gets the names of the fields that could be compared.
        """
        for position, name, whole_name, type_ in self._fields[ours.kind]:
            wanted = ours.arguments[position]
            try:
                given = _attribute(theirs, name)
                if given is _MISSING:
                    continue
                agree = stands_for(given, type_) == plain(wanted, type_)
            except Incomparable:
                continue
            compared.add(whole_name)
            if not agree:
                there = f"`{name}` of the subject's {ours.kind} is {shown(given):.80}"
                return name, f"{there}, the protocol's is {show(wanted, type_)}"
        return None


def _matching(able: dict[int, list[int]]) -> dict[int, int] | None:
    """For each place one of the things that it can have, each thing once; None where that is not possible."""
    holder: dict[int, int] = {}

    def settles(place: int, tried: set[int]) -> bool:
        for thing in able[place]:
            if thing not in tried:
                tried.add(thing)
                if thing not in holder or settles(holder[thing], tried):
                    holder[thing] = place
                    return True
        return False

    if not all(settles(place, set()) for place in able):
        return None
    return {place: thing for thing, place in holder.items()}


def _attribute(packet: object, name: str) -> Any:
    """Its attribute, or what a program says in `fields`; `_MISSING` where there is none."""
    if isinstance(packet, Foreign):
        return (packet.fields or {}).get(name, _MISSING)
    try:
        return getattr(packet, name, _MISSING)
    except Exception:
        return _MISSING


def plain(value: Value, type_: Type) -> Plain:
    """The protocol's value.

    Raises:
        Incomparable: values of this type are not compared.
    """
    match type_:
        case Nat() | Bool():
            return value
        case Sort():
            if type_ == MESSAGE:
                return value.name
            if type_ == PROCESS:
                return value
            raise Incomparable
        case Record(fields=fields):
            return tuple(plain(part, kind) for (_, kind), part in zip(fields, value, strict=False))
        case Collection("option", Collection("option")):
            raise Incomparable  # None could be either.
        case Collection("option", item):
            return None if value is None else (plain(value[0], item),)
        case Collection("set", item):
            return frozenset(plain(part, item) for part in value)
        case Collection("queue", item):
            return tuple(plain(part, item) for part in value)
        case Map(key, item):
            return frozenset((plain(known, key), plain(part, item)) for known, part in value)
        case _:
            raise Incomparable


def stands_for(value: Any, type_: Type) -> Plain:
    """The subject's value, in the form of `plain`.

    Raises:
        Incomparable: it stands for no value of the type.
    """
    match type_:
        case Nat() if type(value) is int:
            return value
        case Bool() if type(value) is bool:
            return value
        case Sort() if type_ == PROCESS and type(value) is int:
            return value
        case Sort() if type_ == MESSAGE and type(value) is str:
            return value
        case Record(fields=fields):
            parts = [value.get(name) if type(value) is dict else _attribute(value, name) for name, _ in fields]
            return tuple(stands_for(part, kind) for part, (_, kind) in zip(parts, fields, strict=True))
        case Collection("option", item) if not isinstance(item, Collection) or item.kind != "option":
            return None if value is None else (stands_for(value, item),)
        case Collection("set", item) if isinstance(value, set | frozenset | list | tuple):
            found = frozenset(stands_for(part, item) for part in value)
            if len(found) < len(value):
                raise Incomparable
            return found
        case Collection("queue", item) if type(value) in (list, tuple):
            return tuple(stands_for(part, item) for part in value)
        case Map(key, item) if type(value) is dict:
            return _mapping(value.items(), key, item)
        case Map(key, item) if key == PROCESS and type(value) in (list, tuple):
            return _mapping(enumerate(value), key, item)
        case _:
            raise Incomparable


def _mapping(pairs: Any, key: Type, item: Type) -> Plain:
    known = ((stands_for(_key(one, key), key), stands_for(part, item)) for one, part in pairs)
    return frozenset((one, part) for one, part in known if not _is_first(part, item))


def _key(value: Any, type_: Type) -> Any:
    """A key, which in JSON is a text."""
    numbered = type_ in (NAT, PROCESS) and type(value) is str and value.isdecimal()
    return int(value) if numbered else value


def _is_first(value: Plain, type_: Type) -> bool:
    """Whether it is the value from which entries of a map start, where their type has one."""
    match type_:
        case Sort() | Record():
            return False
        case Collection("option"):
            return value is None
        case _:
            return not value
