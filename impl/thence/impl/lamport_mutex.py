"""Mutual exclusion by a queue of requests at each process, in the order of logical clocks.

Source: Leslie Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 21(7),
1978, the section on ordering the events totally. Channels: reliable and FIFO.

Listing, in our own words (IR.1, IR.2 and R1 to R5 are the paper's rules, the numbers of their parts are ours):

    Clocks
      IR.1  between any two events of a process its clock advances
      IR.2  the receipt of a message with time k is later than k
    A process requests the resource
      R1.1  put the request, with its time, into the own queue
      R1.2  send it to every other process
    A request comes
      R2.1  put it into the queue
      R2.2  acknowledge it, with a time
    A process releases the resource
      R3.1  remove the own request from the queue
      R3.2  tell every other process, with a time
    A release comes
      R4.1  remove the request of its sender from the queue
    A process has the resource when
      R5.1  its request comes before all others in its queue, by time, then by process
      R5.2  something later than its request has come from every other process

Symbols:

    paper               here
    C_i                 _clock
    T_m                 the first of an entry of _queue
    request queue       _queue, sorted by time, then by process
    =>                  the order of the entries of _queue
    -                   _heard, _unanswered

Departures:
    - The time of the latest packet from each process is in _heard. The paper keeps acknowledgments in its queue.
    - A process counts the requests that each other one has not acknowledged, so that an acknowledgment of nothing is a
      ProtocolError.
    - Each method is one event, and the packets of an event have one time.
"""

from __future__ import annotations

from bisect import insort
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, MustWait, ProtocolError, Send
from thence.impl.group import Group, unknown_packet
from thence.spec.value import value


@value
class Request:
    """A process asks for the resource at this time of its clock."""

    kind: ClassVar[str] = "REQUEST"
    message: ClassVar[None] = None
    time: int


@value
class Ack:
    """A process has put a request into its queue; the time is later than that of the request."""

    kind: ClassVar[str] = "ACK"
    message: ClassVar[None] = None
    time: int


@value
class Release:
    """A process gives the resource back."""

    kind: ClassVar[str] = "RELEASE"
    message: ClassVar[None] = None
    time: int


class LamportMutex:
    """One process. Its inputs are `request` and `release`; `granted` says whether it has the resource."""

    channels: ClassVar[Literal["fifo"]] = "fifo"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._others = [process for process in range(processes) if process != identity]
        self._clock = 0
        self._own: tuple[int, int] | None = None
        self._queue: list[tuple[int, int]] = []
        self._heard = [0] * processes
        self._unanswered = [0] * processes

    @property
    def granted(self) -> bool:
        """Whether the process has the resource: rule 5."""
        return self._comes_first() and self._has_later_messages()

    def request(self) -> list[Command]:
        """The application wants the resource. Raises MustWait while it does already, or has it."""
        if self._own is not None:
            raise MustWait
        self._advance()
        self._own = (self._clock, self._group.identity)
        insort(self._queue, self._own)  # R1.1
        for process in self._others:
            self._unanswered[process] += 1
        return [Send(process, Request(self._clock)) for process in self._others]  # R1.2

    def release(self) -> list[Command]:
        """The application gives the resource back. Raises MustWait while it does not have it."""
        if self._own is None or not self.granted:
            raise MustWait
        self._advance()
        self._queue.remove(self._own)  # R3.1
        self._own = None
        return [Send(process, Release(self._clock)) for process in self._others]  # R3.2

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct sender can have sent."""
        self._group.require_sender(sender)
        if sender == self._group.identity:
            raise ProtocolError("a process sends nothing to itself")
        match packet:
            case Request():
                return self._receive_request(sender, packet.time)
            case Ack():
                return self._receive_ack(sender, packet.time)
            case Release():
                return self._receive_release(sender, packet.time)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the algorithm has no timers."""
        return []

    def _advance(self) -> None:
        self._clock += 1  # IR.1

    def _see(self, sender: int, time: int) -> None:
        """A packet of the sender has come, and will be acted on."""
        self._heard[sender] = time
        self._clock = max(self._clock, time) + 1  # IR.2

    def _comes_first(self) -> bool:
        return self._own is not None and self._queue[0] == self._own  # R5.1

    def _has_later_messages(self) -> bool:
        return self._own is not None and all(self._heard[process] > self._own[0] for process in self._others)  # R5.2

    def _receive_request(self, sender: int, time: int) -> list[Command]:
        self._require_later(sender, time)
        if self._entry_of(sender) is not None:
            raise ProtocolError(f"process {sender} asks again, and has not released")
        self._see(sender, time)
        insort(self._queue, (time, sender))  # R2.1
        return [Send(sender, Ack(self._clock))]  # R2.2

    def _receive_ack(self, sender: int, time: int) -> list[Command]:
        self._require_later(sender, time)
        if self._unanswered[sender] == 0:
            raise ProtocolError(f"process {sender} acknowledges, and was not asked")
        self._unanswered[sender] -= 1
        self._see(sender, time)
        return []

    def _receive_release(self, sender: int, time: int) -> list[Command]:
        self._require_later(sender, time)
        entry = self._entry_of(sender)
        if entry is None:
            raise ProtocolError(f"process {sender} releases, and has not asked")
        self._see(sender, time)
        self._queue.remove(entry)  # R4.1
        return []

    def _entry_of(self, process: int) -> tuple[int, int] | None:
        return next((entry for entry in self._queue if entry[1] == process), None)

    def _require_later(self, sender: int, time: int) -> None:
        if isinstance(time, bool) or not isinstance(time, int) or time <= self._heard[sender]:
            raise ProtocolError(f"{time!r:.100} is not later than what process {sender} has sent before")
