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

import marshal
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from thence.conformance.replay.plain_values import MISSING, Incomparable, Plain, attribute, plain, stands_for
from thence.conformance.systems.contract import Foreign
from thence.conformance.systems.strangers import shown
from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Bool, Type
from thence.dsl.run.values import Packet, show

_SAME: Final[dict[Type, type]] = {NAT: int, Bool(): bool, PROCESS: int, MESSAGE: str}
"""The types of values that are compared as they are."""


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


class Field(NamedTuple):
    """A field of a kind of packets, ready to be compared.

    Attributes:
        name: the attribute of the subject's packet.
        whole_name: `KIND.field`.
        same: the type of Python of which a subject's value is compared as it is; None where each has to be read.
        read: gives the plain form of any other value, see `stands_for`.
        form: gives the plain form of the protocol's value, see `plain`.
        type: of the field.
        position: among the packet's arguments.
    """

    name: str
    whole_name: str
    same: type | None
    read: Callable[[Any], Plain]
    form: Callable[[Any], Plain]
    type: Type
    position: int


class Fields(NamedTuple):
    """A packet of the protocol, its fields that can be compared, and their values in their plain form.

    Attributes:
        agreed: for each field a value of a subject that was read, and agreed, in its exact form; empty as long as there
            is none, None where it has no such form. A value with the same form need not be read. NOTE(exact).
    """

    packet: Packet
    each: tuple[Field, ...]
    values: tuple[Plain, ...]
    agreed: list[bytes | None]


class PacketFields:
    """The fields of a protocol's packets, but for the messages that packets move: those are compared anyway.

    Attributes:
        names: all of them, as `KIND.field`, in the order of the text.
    """

    def __init__(self, protocol: ir.Protocol) -> None:
        # Functions for a type are looked up once: a hash of a type takes longer than to read a value.
        self._fields = {
            kind.name: tuple(
                Field(
                    parameter.name, f"{kind.name}.{parameter.name}", _SAME.get(parameter.type),
                    stands_for(parameter.type), plain(parameter.type), parameter.type, position,
                )
                for position, parameter in enumerate(kind.parameters)
                if position != kind.carries
            )
            for kind in protocol.packets
        }  # fmt: skip
        self.names = tuple(field.whole_name for fields in self._fields.values() for field in fields)

    def of(self, packet: Packet) -> Fields:
        """The fields of a packet of the protocol that can be compared with a subject's."""
        fields, arguments = self._fields[packet.kind], packet.arguments
        try:
            values = tuple([field.form(arguments[field.position]) for field in fields])
        except Incomparable:
            found = [(field, value) for field in fields for value in _comparable(field, arguments)]
            fields, values = tuple([field for field, _ in found]), tuple([value for _, value in found])
        return Fields(packet, fields, values, [b""] * len(fields))

    def paired(
        self,
        known: Callable[[int], Fields],
        shadows: Sequence[int],
        theirs: Sequence[object],
        alike: Sequence[object],
        compared: set[str],
        *,
        free: bool,
    ) -> Sequence[int] | Differs:
        """The numbers of the protocol's packets for each emission of the subject, such that their fields agree.

        Args:
            known: the protocol's packet of a number, see `of`.
            shadows: the numbers of its packets, one for each emission; -1 for a delivery.
            theirs: the subject's packets; None for a delivery.
            alike: emissions for which this is equal differ in nothing but fields.
            compared: gets the names of the fields that could be compared.
            free: whether packets that differ in nothing else may change places.
        """
        first: Differs | None = None
        for position, shadow in enumerate(shadows):
            if shadow >= 0:
                found = difference(known(shadow), theirs[position], compared)
                if found is not None and first is None:
                    first = Differs(position, shadow, *_told(known(shadow).packet, *found))
        if first is None or not free:
            return shadows if first is None else first
        groups: dict[object, list[int]] = {}
        for position, shadow in enumerate(shadows):
            if shadow >= 0:
                groups.setdefault(alike[position], []).append(position)
        agreed = [*shadows]
        for group in groups.values():
            ours = {other: known(shadows[other]) for other in group}
            able = {
                place: [other for other in group if difference(ours[other], theirs[place], compared) is None]
                for place in group
            }
            matched = _matching(able)
            if matched is None:
                return first
            for place, other in matched.items():
                agreed[place] = shadows[other]
        return agreed


def difference(ours: Fields, theirs: object, compared: set[str]) -> tuple[Field, Any] | None:
    """The first field in which the packets differ, and the subject's value; None where none does.

    Args:
        ours: the protocol's packet.
        theirs: the subject's packet, of the same kind.
        compared: gets the names of the fields that could be compared.
    """
    foreign = isinstance(theirs, Foreign)
    agreed = ours.agreed
    for at, (field, value) in enumerate(zip(ours.each, ours.values, strict=True)):
        name, whole_name, same, read, _, _, _ = field
        try:
            given = attribute(theirs, name) if foreign else getattr(theirs, name, MISSING)
        except Exception:
            continue
        if type(given) is same:
            compared.add(whole_name)
            if given != value:
                return field, given
        elif given is not MISSING:
            known = agreed[at]
            if known and known == exact_form(given):
                compared.add(whole_name)
                continue
            try:
                agree = read(given) == value
            except Incomparable:
                continue
            compared.add(whole_name)
            if not agree:
                return field, given
            if known is not None:
                agreed[at] = exact_form(given) or None
    return None


def exact_form(value: Any) -> bytes:
    """The exact form of a value that is made of numbers, texts, lists, tuples, sets and dictionaries of Python alone;
    empty for any other.

    NOTE(exact): values with the same form have the same types all the way down, so that they are read alike: 1 and true
    are equal in Python, and differ here. Equal values may differ in form, by the order of a dictionary or a set.
    """
    try:
        return marshal.dumps(value, 0)
    except ValueError:
        return b""


def _comparable(field: Field, arguments: Sequence[Any]) -> tuple[Plain, ...]:
    """The value of the field in its plain form; none where it is not compared."""
    try:
        return (field.form(arguments[field.position]),)
    except Incomparable:
        return ()


def _told(ours: Packet, field: Field, given: Any) -> tuple[str, str]:
    """The name of the field, and the difference in words."""
    there = f"`{field.name}` of the subject's {ours.kind} is {shown(given):.80}"
    return field.name, f"{there}, the protocol's is {show(ours.arguments[field.position], field.type)}"


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
