"""The messages that a process is still to deliver, in a finished execution, where it is known which of them come.

How many of them happen before a message is asked for every delivery that overtakes one, and naming them all would
cost as much as there are. Here it costs a bisection for each sender of whom only a part of them does: who overtakes
much has mostly heard of all that it awaits.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from typing import Final, Protocol

from thence.spec.packed_events import DELIVER, PackedEvents

WORDS: Final = {32: "I", 64: "Q"}
"""Widths of fields, and the letters of `struct` for them."""

FEW: Final = 8
"""So many fields of a vector are taken out one by one; more of them are taken out all at once."""

TRIMMED: Final = 64
"""So many delivered messages stay in a list before it is trimmed."""


def width_of(events: int) -> int:
    """The width of a field that counts up to `events`, with its guard."""
    return next(width for width in WORDS if events.bit_length() + 2 <= width)


def deliverers(events: PackedEvents) -> list[int]:
    """For each message a mask of the processes that deliver it at some time."""
    bits = [1 << process for process in range(events.processes)]
    found = [0] * len(events.names)
    for kind, process, message in zip(events.kinds, events.places, events.numbers, strict=True):
        if kind == DELIVER:
            # Most messages are delivered once: their masks are the same few objects.
            found[message] = found[message] | bits[process] if found[message] else bits[process]
    return found


class Awaitable(Protocol):
    """A message under way: its number in the execution and among those of its sender, and who has not delivered it."""

    message: int
    number: int
    undelivered: int


class Awaited:
    """What one process is still to deliver. Vectors are numbers with fields of `width` bits."""

    __slots__ = (
        "_first_lost",
        "_gone",
        "_guards",
        "_last",
        "_lasts",
        "_left",
        "_losing",
        "_numbers",
        "_process",
        "_unpack",
        "_vector_bytes",
        "_width",
    )

    def __init__(self, process: int, processes: int, width: int) -> None:
        self._process = process
        self._vector_bytes = processes * width // 8
        self._unpack = Struct(f"<{processes}{WORDS[width]}").unpack
        # By sender: the numbers of the messages that come, ascending. The first `_gone` of them came already.
        self._numbers: list[list[int]] = [[] for _ in range(processes)]
        self._gone = [0] * processes
        self._left = 0
        # By sender: the number of the last one that did not come yet, 0 where all came; the same as a vector.
        self._lasts = [0] * processes
        self._last = 0
        self._width = width
        self._guards = sum(1 << width * process + width - 1 for process in range(processes))
        # By sender, as a vector: the number of the first message that never comes, and the largest where all come.
        self._first_lost = self._guards - (self._guards >> width - 1)
        self._losing = 0  # a mask of the senders of which one never comes

    def begin(self, pending: Mapping[int, Iterable[Awaitable]], deliverers: Sequence[int]) -> None:
        """Take the messages that are under way; by sender, in the order of sending, delivered ones among them."""
        bit = 1 << self._process
        for sender, messages in pending.items():
            for record in messages:
                if record.undelivered & bit:
                    (self.sent if deliverers[record.message] & bit else self.lost)(sender, record.number)

    def sent(self, sender: int, number: int) -> None:
        """A message to this process is sent, and comes."""
        self._numbers[sender].append(number)
        self._left += 1
        self._last += number - self._lasts[sender] << sender * self._width
        self._lasts[sender] = number

    def lost(self, sender: int, number: int) -> None:
        """A message to this process is sent, and never comes."""
        if not self._losing >> sender & 1:
            self._losing |= 1 << sender
            self._first_lost -= (1 << self._width - 1) - 1 - number << sender * self._width

    def _end(self, sender: int, last: int) -> None:
        """The last one of the sender that did not come yet is another one now."""
        self._last += last - self._lasts[sender] << sender * self._width
        self._lasts[sender] = last

    def delivered(self, sender: int, number: int) -> None:
        """This process delivers a message for the first time."""
        numbers, gone = self._numbers[sender], self._gone[sender]
        self._left -= 1
        if numbers[gone] != number:
            if numbers[-1] == number:
                numbers.pop()
                self._end(sender, numbers[-1])
            else:
                del numbers[bisect_left(numbers, number, gone)]
            return
        self._gone[sender] = gone = gone + 1
        if gone == len(numbers):
            self._end(sender, 0)
        if gone > TRIMMED and gone * 2 > len(numbers):
            del numbers[:gone]
            self._gone[sender] = 0

    def overtaken(self, past: int, sender: int, number: int) -> tuple[int, bool, bool]:
        """What a delivery overtakes, of a message with this `past` that is the sender's message of this `number`.

        The past is a vector of counts with all guards set.

        Returns: how many messages come that are within the past, a vector of counts; whether one that comes is an
        earlier one of the sender; whether one that never comes is within the past.
        """
        of_sender, first = self._numbers[sender], self._gone[sender]
        late_from_sender = first < len(of_sender) and of_sender[first] < number
        return self.late(past), late_from_sender, bool(past - self._first_lost & self._guards)

    def late(self, past: int) -> int:
        """How many messages come that are within this past, a vector of counts with all guards set."""
        numbers, gone, width, guards = self._numbers, self._gone, self._width, self._guards
        within = past - self._last & guards  # the guards of the senders of whom all are within the past
        beyond = guards ^ within
        late = self._left
        if beyond.bit_count() > FEW:
            counts = self._unpack((past ^ guards).to_bytes(self._vector_bytes, "little"))
            return sum(map(bisect_right, numbers, counts, gone)) - sum(gone)
        while beyond:
            one = beyond.bit_length() // width - 1
            beyond ^= 1 << one * width + width - 1
            count = past >> one * width & (1 << width - 1) - 1
            late -= len(numbers[one]) - bisect_right(numbers[one], count, gone[one])
        return late
