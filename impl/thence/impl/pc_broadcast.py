"""Causal broadcast by flooding over FIFO links that come and go: PC-broadcast.

Source: Brice Nédelec, Pascal Molli, Achour Mostéfaoui, "Breaking the Scalability Barrier of Causal Broadcast for Large
and Dynamic Systems" (2018). Channels: reliable and FIFO. Messages carry their origin and number, and nothing about each
other: what comes over a safe link comes in causal order.

Listing, in our own words (the labels are ours; a safe link is one that may be used):

    The application broadcasts a message
      R.1  note it as received
      R.2  send it over all safe links
      R.3  add it to the buffer of each link that is not safe yet
    A message comes that was not received before
      R.4  note it as received
      R.5  send it on over all safe links
      R.6  add it to the buffer of each link that is not safe yet
      R.7  deliver it
    A link to q is opened
      S.1  it is not safe: it gets an empty buffer and a new number
      S.2  send a ping for q with this number over all safe links
    A ping comes that has not come before
      S.3  at its target: answer its source, by any way
      S.4  elsewhere: send it on over all safe links
    The answer to a ping comes
      S.5  if a link to its sender waits for this number,
      S.6  send what is in the buffer over the link, in order;
      S.7  from now on the link is safe
    A link is closed
      S.8  forget it, and its buffer

Symbols:

    paper                      here
    Q                          _safe
    B                          _buffers: process -> Buffer
    counter                    _targets, by number: the processes that were pinged
    received                   _received: of each process, how many of its messages
    ping pi, reply rho         Ping, Pong

Departures:
    - The overlay is a ring at first, from each process to the next; `open` and `close` are inputs.
    - Pings flood the safe links; the paper leaves open how they travel. Answers go straight back.
    - A link that is the only one is not used at once: every process has a link of the ring.
    - `received` is a number for each origin, since messages come in causal order. A gap is a ProtocolError.
    - The own broadcasts are not delivered.
    - Buffers have no bound.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, MustWait, Packet, ProtocolError, Send
from thence.impl.group import Group, require_message, require_value, unknown_packet
from thence.spec.value import value


@value
class Msg:
    """A broadcast: number `number`, from 1, of the process `origin`."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    origin: int
    number: int


@value
class Ping:
    """Number `number`, from 1, of the pings of `source`. It is for `target`."""

    kind: ClassVar[str] = "PING"
    message: ClassVar[None] = None
    source: int
    target: int
    number: int


@value
class Pong:
    """The answer to the ping of this number, to its source."""

    kind: ClassVar[str] = "PONG"
    message: ClassVar[None] = None
    number: int


@dataclass(slots=True)
class Buffer:
    """Of a link that is not safe yet: the number of its ping, and what has been sent or received since, in order."""

    number: int
    kept: list[Msg] = field(default_factory=list)


class PCBroadcast:
    """One process. See the module for the algorithm and `BroadcastProcess` for the interface.

    A broadcast goes to all processes but its sender. Inputs are `open` and `close`, with the process at the other end.
    """

    delivery: ClassVar[Literal["broadcast"]] = "broadcast"
    channels: ClassVar[Literal["fifo"]] = "fifo"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._ring: frozenset[int] = frozenset({(identity + 1) % processes}) - {identity}
        self._safe: set[int] = set(self._ring)
        self._buffers: dict[int, Buffer] = {}
        self._received = [0] * processes
        self._targets: list[int] = []
        self._pings: set[tuple[int, int]] = set()
        """Source and number of each ping that has come here, or begun here."""

    @property
    def safe(self) -> frozenset[int]:
        """The processes to which this one has a safe link."""
        return frozenset(self._safe)

    @property
    def unsafe(self) -> frozenset[int]:
        """The processes to which this one has opened a link that is not safe yet."""
        return frozenset(self._buffers)

    def causal_send(self, message: Hashable) -> list[Command]:
        """Send `message` to all other processes. Raises ValueError for a message None."""
        require_value(message)
        me = self._group.identity
        self._received[me] += 1  # R.1
        packet = Msg(message, me, self._received[me])
        commands = self._flood(packet)  # R.2
        self._keep(packet)  # R.3
        return commands

    def open(self, other: int) -> list[Command]:
        """Open a link to `other`. Raises MustWait where there is one, and for oneself; ValueError for no process."""
        self._require_process(other)
        if other == self._group.identity or other in self._safe or other in self._buffers:
            raise MustWait
        self._targets.append(other)
        number = len(self._targets)
        self._buffers[other] = Buffer(number)  # S.1
        return self._ping(Ping(self._group.identity, other, number))  # S.2

    def close(self, other: int) -> list[Command]:
        """Close the link to `other`. Raises MustWait where none was opened; ValueError for no process."""
        self._require_process(other)
        if other in self._ring or (other not in self._safe and other not in self._buffers):
            raise MustWait
        self._safe.discard(other)  # S.8
        self._buffers.pop(other, None)  # S.8
        return []

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct peer can have sent."""
        self._group.require_sender(sender)
        if sender == self._group.identity:
            raise ProtocolError("a process sends nothing to itself")
        match packet:
            case Msg():
                return self._receive_msg(packet)
            case Ping():
                return self._receive_ping(packet)
            case Pong():
                return self._receive_pong(sender, packet.number)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _flood(self, packet: Packet) -> list[Command]:
        """The packet over all safe links."""
        return [Send(other, packet) for other in sorted(self._safe)]

    def _keep(self, packet: Msg) -> None:
        for buffer in self._buffers.values():
            buffer.kept.append(packet)

    def _ping(self, packet: Ping) -> list[Command]:
        self._pings.add((packet.source, packet.number))
        return self._flood(packet)

    def _receive_msg(self, packet: Msg) -> list[Command]:
        require_message(packet.message)
        if not self._group.has(packet.origin):
            raise ProtocolError(f"{packet.origin!r:.100} is no process")
        if self._is_known(packet):
            return []
        self._received[packet.origin] = packet.number  # R.4
        commands = self._flood(packet)  # R.5
        self._keep(packet)  # R.6
        return [*commands, Deliver(packet.origin, packet.message)]  # R.7

    def _is_known(self, packet: Msg) -> bool:
        """Whether the message was received before. Raises ProtocolError if the one before it was not."""
        known = self._received[packet.origin]
        if type(packet.number) is not int or packet.number < 1:
            raise ProtocolError(f"{packet.number!r:.100} is not the number of a message")
        if packet.number > known + (packet.origin != self._group.identity):
            raise ProtocolError(f"message {packet.number} of process {packet.origin} comes after its message {known}")
        return packet.number <= known

    def _receive_ping(self, packet: Ping) -> list[Command]:
        source, target, number = packet.source, packet.target, packet.number
        if not self._group.has(source) or not self._group.has(target) or source == target:
            raise ProtocolError(f"no ping goes from {source!r:.100} to {target!r:.100}")
        if type(number) is not int or number < 1:
            raise ProtocolError(f"{number!r:.100} is not the number of a ping")
        if (source, number) in self._pings:
            return []
        if source == self._group.identity:
            raise ProtocolError(f"ping {number} of our own was not sent")
        if target == self._group.identity:
            self._pings.add((source, number))
            return [Send(source, Pong(number))]  # S.3
        return self._ping(packet)  # S.4

    def _receive_pong(self, sender: int, number: int) -> list[Command]:
        if type(number) is not int or not 1 <= number <= len(self._targets):
            raise ProtocolError(f"process {sender} answers a ping that was not sent: {number!r:.100}")
        if self._targets[number - 1] != sender:
            raise ProtocolError(f"process {sender} answers a ping for process {self._targets[number - 1]}")
        if not self._is_awaited(sender, number):  # S.5
            return []
        buffer = self._buffers.pop(sender)
        self._safe.add(sender)  # S.7
        return [Send(sender, packet) for packet in buffer.kept]  # S.6

    def _is_awaited(self, sender: int, number: int) -> bool:
        """Whether the link to `sender` waits for the answer to this ping, and not to one of before."""
        return sender in self._buffers and self._buffers[sender].number == number

    def _require_process(self, other: int) -> None:
        if not self._group.has(other):
            raise ValueError(f"process {other!r} is not one of 0 .. {self._group.processes - 1}")
