"""Reliable links over a network that loses, duplicates and reorders, for the protocols that need them. Sans-I/O.

A link is one direction between two processes. The sending end numbers what it sends and repeats it until it is
acknowledged; the receiving end hands over each body once: at once, or in the order of the numbers where the protocol
needs FIFO channels. A body on a link is

    0 n ...    the n-th body, n from 1, four bytes
    1 n m      all up to n have arrived (four bytes), and of the 64 after n those whose bits are set in m (eight bytes)

and a link ends after 2 ** 32 - 1 bodies.
"""

from __future__ import annotations

import struct
from typing import Final

_DATA: Final = struct.Struct(">BI")
_ACK: Final = struct.Struct(">BIQ")
_LAST: Final = (1 << 32) - 1
_WINDOW: Final = 64

REORDERED_LIMIT: Final = 1 << 16
"""Bodies further ahead of the last one handed over than this are dropped; they are sent again."""


class LinkError(ValueError):
    """What has arrived is not from the other end of a link."""


class SendingEnd:
    """The sending end of a link."""

    __slots__ = ("_first", "_last", "_overdue", "_unacknowledged")

    def __init__(self) -> None:
        self._first = 1
        """All bodies before this number have been acknowledged."""
        self._last = 0
        self._overdue = 0
        """The last number at the time when `again` was asked for."""
        self._unacknowledged: dict[int, bytes] = {}
        """What has not been acknowledged, by number, oldest first."""

    @property
    def outstanding(self) -> int:
        """How many bodies have not been acknowledged."""
        return len(self._unacknowledged)

    def send(self, body: bytes) -> bytes:
        """The body as it travels. Raises OverflowError once all numbers have been used."""
        if self._last == _LAST:
            raise OverflowError("a link carries 2 ** 32 - 1 bodies")
        self._last += 1
        data = _DATA.pack(0, self._last) + body
        self._unacknowledged[self._last] = data
        return data

    def acknowledged(self, data: bytes) -> None:
        """An acknowledgement has arrived. Raises LinkError if it is for what was not sent."""
        if len(data) != _ACK.size:
            raise LinkError("an acknowledgement of another length")
        _, upto, beyond = _ACK.unpack(data)
        if upto + beyond.bit_length() > self._last:
            raise LinkError(f"an acknowledgement of body {upto + beyond.bit_length()}, which was not sent")
        unacknowledged = self._unacknowledged
        for number in range(self._first, upto + 1):
            unacknowledged.pop(number, None)
        self._first = max(self._first, upto + 1)
        for place in range(beyond.bit_length()):
            if beyond >> place & 1:
                unacknowledged.pop(upto + 1 + place, None)

    def again(self, limit: int) -> list[bytes]:
        """What to send again, oldest first: at most `limit` bodies that were sent before this was asked for last."""
        overdue, self._overdue = self._overdue, self._last
        found: list[bytes] = []
        for number, data in self._unacknowledged.items():
            if number > overdue or len(found) == limit:
                break
            found.append(data)
        return found


class ReceivingEnd:
    """The receiving end of a link.

    Args:
        ordered: bodies are handed over in the order of their numbers.
    """

    __slots__ = ("_ahead", "_ordered", "_upto")

    def __init__(self, *, ordered: bool) -> None:
        self._ordered = ordered
        self._upto = 0
        """All bodies up to this number have arrived."""
        self._ahead: dict[int, bytes] = {}
        """What has arrived beyond; without the body, where that has been handed over."""

    def receive(self, data: bytes) -> list[bytes] | None:
        """The bodies to hand over; None if this one has arrived before. Raises LinkError if it is not one."""
        if len(data) < _DATA.size:
            raise LinkError("a body without a number")
        _, number = _DATA.unpack_from(data)
        if not number:
            raise LinkError("bodies are numbered from 1")
        if number <= self._upto or number in self._ahead:
            return None
        if number > self._upto + REORDERED_LIMIT:
            raise LinkError(f"body {number} is too far ahead of {self._upto}")
        body = data[_DATA.size :]
        self._ahead[number] = body if self._ordered else b""
        handed_over = [] if self._ordered else [body]
        while self._upto + 1 in self._ahead:
            self._upto += 1
            found = self._ahead.pop(self._upto)
            if self._ordered:
                handed_over.append(found)
        return handed_over

    def acknowledgement(self) -> bytes:
        """What has arrived, for the sending end."""
        beyond = 0
        if self._ahead:
            for place in range(_WINDOW):
                beyond |= (self._upto + 1 + place in self._ahead) << place
        return _ACK.pack(1, self._upto, beyond)
