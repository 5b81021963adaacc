"""FIFO by sequence numbers, on channels that lose, duplicate and reorder. It is *not* causal.

Source: Friedemann Mattern, Stefan Fünfrocken, "A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery", section 2: a message that arrives too early is delayed until all messages with lower numbers on its channel
have arrived. It is here as a negative control: what causal delivery adds shows by comparison.

Listing, in our own words (the paper has no line numbers; labels are ours):

    Sending m to Pj
      S.1  give m the next number of the channel to Pj
      S.2  keep it until it is acknowledged
      S.3  send it
    A message with number n comes from Pj
      R.1  if it has not been delivered, keep it under its number
      R.2  as long as the number after the last one delivered from Pj is there
      R.3  deliver that message, and forget it
      R.4  acknowledge all up to the last one delivered
    An acknowledgement up to number n comes from Pj
      K.1  forget the messages up to n
    Periodically
      T.1  send again whatever has not been acknowledged

Symbols:

    paper                      here
    sequence number            Msg.number, from 1
    delayed messages           _early
    channel                    _numbered and _unacked (outgoing), _arrived and _early (incoming)

Departures:
    - The paper has numbers and delays only, for reliable channels; acknowledgements and retransmission are ours.
    - An acknowledgement of what was not sent, and a second message under one number, are ProtocolErrors.

Messages to oneself are allowed: they take the way over the network like any other.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.spec.value import value


@value
class Msg:
    """An application message and its number on its channel, from 1."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    number: int


@value
class Ack:
    """All messages of the channel up to `number` have been delivered."""

    kind: ClassVar[str] = "ACK"
    message: ClassVar[None] = None
    number: int


class Fifo:
    """One process. See the module for the algorithm and `CausalProcess` for the interface; delivery is FIFO only."""

    channels: ClassVar[Literal["lossy"]] = "lossy"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._numbered: defaultdict[int, int] = defaultdict(int)
        """For each receiver: the number of the last message sent to it."""
        self._unacked: defaultdict[int, deque[Msg]] = defaultdict(deque)
        """For each receiver: what it has not acknowledged, oldest first."""
        self._arrived: defaultdict[int, int] = defaultdict(int)
        """For each sender: the number of the last message delivered."""
        self._early: defaultdict[int, dict[int, Msg]] = defaultdict(dict)
        """For each sender: what has arrived too early, by its number."""

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message` to `destination`. Raises ValueError for an unknown destination or a message None."""
        self._group.require_sendable(destination, message)
        self._numbered[destination] += 1  # S.1
        packet = Msg(message, self._numbered[destination])
        self._unacked[destination].append(packet)  # S.2
        return [Send(destination, packet)]  # S.3

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct peer can have sent."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                return self._receive_msg(sender, packet)
            case Ack():
                return self._receive_ack(sender, packet.number)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Send again what may have been lost."""
        unacked = self._unacked
        return [Send(receiver, packet) for receiver in sorted(unacked) for packet in unacked[receiver]]  # T.1

    def _deliverable(self, sender: int) -> bool:
        """Whether the message after the last one delivered from `sender` is there."""
        return self._arrived[sender] + 1 in self._early[sender]  # R.2

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        self._require_consistent(sender, packet)
        early = self._early[sender]
        if packet.number > self._arrived[sender]:
            early[packet.number] = packet  # R.1
        commands: list[Command] = []
        while self._deliverable(sender):
            self._arrived[sender] += 1
            commands.append(Deliver(sender, early.pop(self._arrived[sender]).message))  # R.3
        commands.append(Send(sender, Ack(self._arrived[sender])))  # R.4
        return commands

    def _receive_ack(self, sender: int, number: int) -> list[Command]:
        if not isinstance(number, int) or not 0 <= number <= self._numbered.get(sender, 0):
            raise ProtocolError(f"process {sender} acknowledges message {number!r}, which was not sent to it")
        unacked = self._unacked[sender]
        while unacked and unacked[0].number <= number:
            unacked.popleft()  # K.1
        return []

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_message(packet.message)
        if not isinstance(packet.number, int) or packet.number < 1:
            raise ProtocolError(f"not a message number: {packet.number!r}")
        known = self._early.get(sender, {}).get(packet.number, packet)
        if known != packet:
            raise ProtocolError(f"process {sender} has sent two messages with number {packet.number}")
