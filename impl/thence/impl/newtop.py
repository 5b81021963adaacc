"""Causally and totally ordered broadcast by Lamport clocks: the idea of Newtop.

Source: Paulo Sérgio Almeida, "Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering", section 3.1 and Table 1 (with its note 2), about Paul Ezhilchelvan, Raimundo Macêdo,
Santosh Shrivastava, "Newtop: A Fault-Tolerant Group Communication Protocol" (1995), for a single group without
failures. Channels: reliable and FIFO. Messages carry Lamport clocks; a process delivers in the order of the clocks, up
to the lowest clock that it has last received from any process.

Listing, in our own words (labels are ours; process i):

    1, the application broadcasts m
      S.1  advance the clock
      S.2  receive m from oneself, at once, with that clock
      S.3  send m with that clock to every other process
      S.4  deliver what can be
    2, m arrives from j with the clock c
      R.1  raise the clock to c, if c is larger
      R.2  c is now the clock last received from j
      R.3  keep m
      R.4  deliver what can be
    2, a null message arrives from j with the clock c
      N.1  raise the clock to c, if c is larger
      N.2  c is now the clock last received from j
      N.3  deliver what can be
    3, deliver what can be
      D.1  of the messages kept, look at the one with the lowest clock; of equal clocks, the lowest sender's
      D.2  if a lower clock was last received from some process, stop: that one may still send a message before it
      D.3  otherwise deliver it, and go on
    4, now and then
      T.1  if the clock has advanced since we last sent anything, others may wait for us
      T.2  receive a null message with our clock from oneself, at once
      T.3  send a null message with our clock to every other process
      T.4  deliver what can be

Symbols:

    papers                           here
    the Lamport clock                _clock
    the vector of n integers         _last: of each process, the clock of the last message received from it
    received, not delivered          _kept: a heap of (clock, sender, message)
    null message                     Null

Departures:
    - When a process is idle "for some time" (note 2 of Table 1) is for the caller to say: it calls `tick`.
    - A null message is sent only if the clock has advanced: if not, nobody can be waiting for us.
    - The application gets its own messages too, in the order of all others.
    - A clock that is not above the one last received from the same process is a ProtocolError: on FIFO channels there
      is none. So is a duplicate.
"""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heappop, heappush
from typing import Any, ClassVar, Literal, NamedTuple

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, require_value, unknown_packet
from thence.spec.value import value


@value
class Msg:
    """A broadcast and the clock of its sender."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    clock: int


@value
class Null:
    """Its sender sends no message with this clock or a lower one any more."""

    kind: ClassVar[str] = "NULL"
    message: ClassVar[None] = None
    clock: int


class Kept(NamedTuple):
    """A message that is not delivered yet. The order of all: by clock, then by sender, which no two share."""

    clock: int
    sender: int
    packet: Msg


class Newtop:
    """One process of the protocol. See the module for the algorithm and `BroadcastProcess` for the interface.

    A broadcast goes to all processes, its sender included.
    """

    delivery: ClassVar[Literal["broadcast"]] = "broadcast"
    channels: ClassVar[Literal["fifo"]] = "fifo"
    delivers_own: ClassVar[bool] = True

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._clock = 0
        self._last = [0] * processes
        self._kept: list[Kept] = []

    def causal_send(self, message: Hashable) -> list[Command]:
        """Send `message` to all. Raises ValueError for a message None."""
        require_value(message)
        self._clock += 1  # S.1
        packet = Msg(message, self._clock)
        self._take(self._group.identity, packet)  # S.2
        return [*self._to_others(packet), *self._deliver_in_order()]  # S.3, S.4

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct peer can have sent."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                require_message(packet.message)
                self._require_ascending(sender, packet.clock)
                self._advance(packet.clock)  # R.1
                self._take(sender, packet)  # R.2, R.3
                return self._deliver_in_order()  # R.4
            case Null():
                self._require_ascending(sender, packet.clock)
                self._advance(packet.clock)  # N.1
                self._last[sender] = packet.clock  # N.2
                return self._deliver_in_order()  # N.3
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Tell the others how far the clock is, if they may be waiting for that."""
        if self._last[self._group.identity] == self._clock:  # T.1
            return []
        self._last[self._group.identity] = self._clock  # T.2
        return [*self._to_others(Null(self._clock)), *self._deliver_in_order()]  # T.3, T.4

    def _advance(self, clock: int) -> None:
        self._clock = max(self._clock, clock)

    def _take(self, sender: int, packet: Msg) -> None:
        self._last[sender] = packet.clock
        heappush(self._kept, Kept(packet.clock, sender, packet))

    def _to_others(self, packet: Msg | Null) -> list[Command]:
        identity = self._group.identity
        return [Send(other, packet) for other in range(self._group.processes) if other != identity]

    def _deliverable(self, kept: Kept) -> bool:
        """Whether no process can still send what comes before the message."""
        return kept.clock <= min(self._last)  # D.2

    def _deliver_in_order(self) -> list[Command]:
        commands: list[Command] = []
        while self._kept and self._deliverable(self._kept[0]):  # D.1
            first = heappop(self._kept)
            commands.append(Deliver(first.sender, first.packet.message))  # D.3
        return commands

    def _require_ascending(self, sender: int, clock: object) -> None:
        if sender == self._group.identity:
            raise ProtocolError("a packet of our own comes back")
        if type(clock) is not int or clock <= self._last[sender]:
            raise ProtocolError(f"process {sender} sends the clock {clock!r} after {self._last[sender]}")
