"""Causal order at one server, by vectors that count the messages to it. It is *not* causal at the clients.

Source: Phil Kearns, Brahma Koodalattupuram, "Immediate Ordered Service in Distributed Systems" (1989), as Friedemann
Mattern and Stefan Fünfrocken tell it: "A Non-Blocking Lightweight Implementation of Causal Order Message Delivery",
section 2. Channels: reliable and FIFO. Process 0 is the server, all others are its clients.

Listing, in our own words (the paper has no line numbers; labels are ours):

    Client i issues a message to the server
      C.1  add one to V[i]
      C.2  send it together with V
    Client i sends a message to another client
      C.3  send it together with V
    Client j receives a message with vector Vm from another client
      C.4  raise each entry of V to that of Vm, where that is larger
      C.5  and deliver it
    A message with vector Vm comes from client i to the server
      S.1  if, for some j other than i, V[j] is less than Vm[j], a message is missing, and this one waits
      S.2  otherwise raise each entry of V to that of Vm, where that is larger
      S.3  and consume the message
    The server sends a message to a client
      S.4  send it, without a vector

Symbols:

    paper                    here
    Vi, Vs                   _v
    Vm                       Request.counts, Msg.counts
    delayed messages         _held, in order of arrival
    the server               SERVER

Departures:
    - The paper does not say what the server sends. It carries no vector: the server has consumed whatever it could tell
      of (S.4).
    - After a message has been consumed, the oldest of those that can be is next.
    - The text compares the entries of all but the sender, and so needs FIFO channels, which it does not mention.
    - Vectors of another length, or ones that claim messages of ours that were not issued, are ProtocolErrors; so is a
      request that comes twice. Of other packets a second copy cannot be told from the first.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, Final, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.impl.matrix import Row, counted, joined, require_row
from thence.spec.value import value

SERVER: Final = 0
"""The process that is the server."""


@value
class Request:
    """A message from a client to the server, and how many of each client's are known to its sender, itself included."""

    kind: ClassVar[str] = "REQUEST"
    message: Hashable
    counts: Row


@value
class Msg:
    """A message between clients, and how many messages of each client to the server its sender knows of."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    counts: Row


@value
class Reply:
    """A message from the server to a client."""

    kind: ClassVar[str] = "REPLY"
    message: Hashable


class ClientServer:
    """One process. See the module for the algorithm, `CausalProcess` for the interface. Causal at the server only."""

    channels: ClassVar[Literal["fifo"]] = "fifo"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._v: Row = (0,) * processes
        """For each client: how many messages to the server are known here."""
        self._held: dict[tuple[int, int], Request] = {}
        """At the server: what waits, by sender and number, in order of arrival."""

    @property
    def counts(self) -> Row:
        """The vector V."""
        return self._v

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message`. Raises ValueError for an unknown destination, oneself as destination, or a message None."""
        self._group.require_sendable(destination, message)
        me = self._group.identity
        if destination == me:
            raise ValueError("this protocol has no messages to oneself")
        if me == SERVER:
            return [Send(destination, Reply(message))]  # S.4
        if destination == SERVER:
            self._v = counted(self._v, me)  # C.1
            return [Send(destination, Request(message, self._v))]  # C.2
        return [Send(destination, Msg(message, self._v))]  # C.3

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct sender can have sent."""
        self._group.require_sender(sender)
        at_server, from_server = self._group.identity == SERVER, sender == SERVER
        match packet:
            case Request() if at_server and not from_server:
                self._require_counts(sender, packet.message, packet.counts)
                return self._receive_request(sender, packet)
            case Msg() if not at_server and not from_server:
                self._require_counts(sender, packet.message, packet.counts)
                return self._receive_msg(sender, packet)
            case Reply() if from_server and not at_server:
                require_message(packet.message)
                return [Deliver(sender, packet.message)]
            case Request() | Msg() | Reply():
                raise ProtocolError(f"process {sender} sends process {self._group.identity} a {packet.kind}")
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        self._v = joined(self._v, packet.counts)  # C.4
        return [Deliver(sender, packet.message)]  # C.5

    def _consumable(self, sender: int, counts: Row) -> bool:
        """Whether no message of another client is missing."""
        return all(j == sender or own >= n for j, (own, n) in enumerate(zip(self._v, counts, strict=True)))  # S.1

    def _receive_request(self, sender: int, packet: Request) -> list[Command]:
        number = packet.counts[sender]
        waiting = max((n for client, n in self._held if client == sender), default=self._v[sender])
        if number <= waiting:
            raise ProtocolError(f"message {number} of process {sender} comes after its message {waiting}")
        self._held[sender, number] = packet
        commands: list[Command] = []
        consumed = self._consume([(sender, number)])
        while consumed:
            commands += consumed
            consumed = self._consume(list(self._held))
        return commands

    def _consume(self, candidates: list[tuple[int, int]]) -> list[Command]:
        """Consume the first of the candidates that can be, if there is one."""
        for key in candidates:
            packet = self._held[key]
            if self._consumable(key[0], packet.counts):
                del self._held[key]
                self._v = joined(self._v, packet.counts)  # S.2
                return [Deliver(key[0], packet.message)]  # S.3
        return []

    def _require_counts(self, sender: int, message: Hashable, counts: Row) -> None:
        require_message(message)
        require_row(counts, self._group.processes)
        me = self._group.identity
        if sender == me:
            raise ProtocolError("a message from oneself arrived, and none was sent")
        if counts[SERVER] or (me != SERVER and counts[me] > self._v[me]):
            raise ProtocolError(f"process {sender} knows of messages that were not issued: {counts!r:.200}")
