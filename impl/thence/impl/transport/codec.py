"""Packets as bytes: a compact format for what the implementations send to each other.

A value is one byte that says what it is, and what belongs to it:

    00 .. 7f       the number itself
    80, 81, 82     None, False, True
    83 n, 84 n     the number n; the number -1 - n
    85 ........    a floating-point number, 8 bytes, big-endian
    86 n ...       text, n bytes of UTF-8
    87 n ...       n bytes
    88 n v ...     a tuple of n values
    89 n v ...     a frozen set of n values
    8a n k v ...   a packet, or a part of one, of the k-th kind with its n fields

where n and k are numbers of seven bits a byte, lowest first, the top bit set in all but the last. The kinds are the
records of the protocol's implementation, in alphabetic order. What is decoded is immutable and hashable, and what
is not in this format, has bytes missing or bytes left over is a `DecodeError`.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, get_args, get_type_hints

DEEPEST: Final = 16
"""Values in values in values."""

LONGEST_NUMBER: Final = 64
"""Bytes of a number."""

_NONE, _FALSE, _TRUE, _POSITIVE, _NEGATIVE, _FLOAT, _TEXT, _BYTES, _TUPLE, _SET, _PACKET = range(0x80, 0x8B)


class DecodeError(ValueError):
    """The bytes are not a packet."""


class EncodeError(ValueError):
    """The value cannot travel: it is not made of None, numbers, text, bytes, tuples and frozen sets."""


@dataclass(frozen=True, slots=True)
class Codec:
    """The format for the packets of one protocol.

    Attributes:
        kinds: the classes of packets and of their parts, in alphabetic order of their names.
    """

    kinds: tuple[type, ...]

    def is_packet(self, value: object) -> bool:
        """Whether this is a packet of the protocol, not a part of one or something else."""
        return type(value) in self.kinds and hasattr(value, "kind")

    @staticmethod
    def of(process_class: type) -> Codec:
        """The packets of an implementation: the dataclasses with a `kind` that its modules know, and the dataclasses
        and named tuples that these are made of, by their annotations.

        Raises:
            ValueError: there are no packets, two classes have one name, or an annotation names what there is not.
        """
        modules = {each.__module__ for each in process_class.__mro__ if each is not object}
        known = {value for module in modules for value in vars(sys.modules[module]).values() if isinstance(value, type)}
        packets = {each for each in known if is_dataclass(each) and isinstance(getattr(each, "kind", None), str)}
        kinds = tuple(sorted(_with_parts(packets), key=lambda kind: kind.__name__))
        if not packets or len({kind.__name__ for kind in kinds}) < len(kinds):
            names = ", ".join(kind.__name__ for kind in kinds) or "none"
            raise ValueError(f"{process_class.__name__} has packets that cannot be told apart, or none: {names}")
        return Codec(kinds)

    def encode(self, value: object) -> bytes:
        """The bytes of a packet, or of a value. Raises EncodeError for what the format does not have."""
        out = bytearray()
        self._write(value, out, 0)
        return bytes(out)

    def decode(self, data: bytes) -> Any:
        """The value of these bytes. Raises DecodeError unless they are exactly one value."""
        reader = _Reader(data, self.kinds)
        value = reader.value(0)
        if reader.position != len(data):
            raise DecodeError(f"{len(data) - reader.position} bytes are left over")
        return value

    def _write(self, value: object, out: bytearray, depth: int) -> None:
        if depth > DEEPEST:
            raise EncodeError(f"values are nested more than {DEEPEST} deep")
        kind = type(value)
        if kind is int:
            assert isinstance(value, int)
            if 0 <= value < 0x80:
                out.append(value)
            else:
                out.append(_POSITIVE if value >= 0 else _NEGATIVE)
                if value.bit_length() > 7 * LONGEST_NUMBER:
                    raise EncodeError("a number is too long")
                _write_number(value if value >= 0 else -1 - value, out)
        elif value is None:
            out.append(_NONE)
        elif kind is bool:
            out.append(_TRUE if value else _FALSE)
        elif kind is str:
            assert isinstance(value, str)
            try:
                text = value.encode()
            except UnicodeEncodeError as error:
                raise EncodeError(f"not text: {error.reason}") from error
            _write_block(_TEXT, text, out)
        elif kind is bytes:
            assert isinstance(value, bytes)
            _write_block(_BYTES, value, out)
        elif kind is float:
            out.append(_FLOAT)
            out += struct.pack(">d", value)
        elif kind is tuple:
            assert isinstance(value, tuple)
            out.append(_TUPLE)
            _write_number(len(value), out)
            for item in value:
                self._write(item, out, depth + 1)
        elif kind is frozenset:
            assert isinstance(value, frozenset)
            self._write_set(value, out, depth)
        elif kind in self.kinds:
            names = _names(kind)
            out.append(_PACKET)
            _write_number(len(names), out)
            _write_number(self.kinds.index(kind), out)
            for name in names:
                self._write(getattr(value, name), out, depth + 1)
        else:
            raise EncodeError(f"{kind.__name__} cannot travel: {value!r:.80}")

    def _write_set(self, value: frozenset[object], out: bytearray, depth: int) -> None:
        """In the order of the bytes of its elements, so that equal sets are equal bytes."""
        items: list[bytearray] = []
        for item in value:
            items.append(bytearray())
            self._write(item, items[-1], depth + 1)
        out.append(_SET)
        _write_number(len(items), out)
        for encoded in sorted(items):
            out += encoded


def _with_parts(packets: Iterable[type]) -> set[type]:
    """The packets and all records that the annotations of their fields name."""
    found: set[type] = set()
    waiting: list[Any] = list(packets)
    while waiting:
        each = waiting.pop()
        waiting += get_args(each)
        if isinstance(each, type) and each not in found and (is_dataclass(each) or hasattr(each, "_fields")):
            found.add(each)
            try:
                hints = get_type_hints(each)
            except NameError as error:
                raise ValueError(f"the fields of {each.__name__} cannot be told: {error}") from error
            waiting += [hints[name] for name in _names(each)]
    return found


def _names(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a record, in order."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else kind._fields


def _write_number(number: int, out: bytearray) -> None:
    while number > 0x7F:
        out.append(0x80 | number & 0x7F)
        number >>= 7
    out.append(number)


def _write_block(tag: int, block: bytes, out: bytearray) -> None:
    out.append(tag)
    _write_number(len(block), out)
    out += block


class _Reader:
    """One reading of one packet."""

    __slots__ = ("data", "kinds", "position")

    def __init__(self, data: bytes, kinds: tuple[type, ...]) -> None:
        self.data = data
        self.kinds = kinds
        self.position = 0

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise DecodeError(f"values are nested more than {DEEPEST} deep")
        tag = self._take(1)[0]
        if tag < 0x80:
            return tag
        match tag:
            case 0x80:
                return None
            case 0x81:
                return False
            case 0x82:
                return True
            case 0x83:
                return self._number()
            case 0x84:
                return -1 - self._number()
            case 0x85:
                return struct.unpack(">d", self._take(8))[0]
            case 0x86:
                try:
                    return self._take(self._number()).decode()
                except UnicodeDecodeError as error:
                    raise DecodeError(f"not text: {error.reason}") from error
            case 0x87:
                return self._take(self._number())
            case 0x88:
                return tuple(self._values(depth))
            case 0x89:
                return frozenset(self._values(depth))
            case 0x8A:
                return self._packet(depth)
            case _:
                raise DecodeError(f"there is no value of kind {tag:#04x}")

    def _values(self, depth: int) -> Iterator[Any]:
        count = self._number()
        if count > len(self.data) - self.position:
            raise DecodeError(f"{count} values do not fit into {len(self.data) - self.position} bytes")
        return (self.value(depth + 1) for _ in range(count))

    def _packet(self, depth: int) -> Any:
        count, index = self._number(), self._number()
        if index >= len(self.kinds):
            raise DecodeError(f"there is no packet of kind {index}")
        kind = self.kinds[index]
        if count != len(_names(kind)):
            raise DecodeError(f"{kind.__name__} does not have {count} fields")
        values = [self.value(depth + 1) for _ in range(count)]
        try:
            return kind(*values)
        except (TypeError, ValueError) as error:
            raise DecodeError(f"not a {kind.__name__}: {error}") from error

    def _number(self) -> int:
        number = 0
        for place in range(LONGEST_NUMBER):
            byte = self._take(1)[0]
            number |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return number
        raise DecodeError("a number is too long")

    def _take(self, count: int) -> bytes:
        end = self.position + count
        if end > len(self.data):
            raise DecodeError(f"{end - len(self.data)} bytes are missing")
        taken = self.data[self.position : end]
        self.position = end
        return taken
