"""The protocol of Schiper, Eggli and Sandoz: a message carries, for each destination, the time of what was sent there.

Source: André Schiper, Jorge Eggli, Alain Sandoz, "A New Algorithm to Implement Causal Ordering" (1989), as Mattern and
Fünfrocken (section 2) and the literature on it describe it. Channels: reliable, at most once, in any order. Times are
vectors, one count of sends for each process; a message waits until its receiver knows the time of everything that was
sent there before it.

Listing, in our own words (the text of the paper is not at hand; labels are ours, process Pi):

    Sending m to Pj
      S.1  add one to T[i]; T is now the time of m
      S.2  send m together with T and with V as it is now
      S.3  then put T in the place of V[j]
    A message m with time Tm and vectors Vm comes to Pi
      R.1  m may be delivered if no entry of Vm[i] is greater than that of T
      R.2  otherwise m waits, and is looked at again whenever another message has been delivered
    After the delivery of m
      U.1  raise each entry of T to that of Tm, where that is larger
      U.2  for each k but i, raise each entry of V[k] to that of Vm[k], where that is larger

Symbols:

    paper          here
    T              _t: how many messages of each process are known here
    V_P            _v: a list of vectors, entry k = the time of the last messages known to have been sent to Pk
    Tm, Vm         Msg.time, Msg.vectors
    the buffer     _waiting, in order of arrival

Departures:
    - A destination to which nothing is known to have been sent has a vector of zeros, where the paper has no entry.
    - Vectors are shared between processes' states and messages (see `matrix`).
    - "Looked at again" is made definite: in rounds, each in order of arrival, until a round delivers nothing.
    - Messages to oneself raise ValueError: their time is known at once, so that nothing would wait for them.
    - A packet that arrives twice is a ProtocolError; so are vectors of another shape, and those that claim messages of
      ours that we have not sent.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.impl.matrix import Matrix, Row, counted, covers, joined, merge, require_matrix, require_row
from thence.spec.value import value


@value
class Msg:
    """An application message, its time, and what its sender knows to be on its way to each destination."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    time: Row
    vectors: Matrix


class SES:
    """One process of the protocol. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._t: Row = (0,) * processes
        self._v: list[Row] = [self._t] * processes
        self._last: list[int] = [0] * processes
        """For each sender: its own entry in the time of the last message delivered from it."""
        self._waiting: dict[tuple[int, int], Msg] = {}
        """Messages that have arrived and are not deliverable, by sender and its entry in their time."""

    @property
    def time(self) -> Row:
        """The vector T."""
        return self._t

    @property
    def vectors(self) -> Matrix:
        """The vectors V."""
        return tuple(self._v)

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message`. Raises ValueError for an unknown destination, oneself as destination, or a message None."""
        self._group.require_sendable(destination, message)
        if destination == self._group.identity:
            raise ValueError("this protocol cannot deliver messages to oneself")
        self._t = counted(self._t, self._group.identity)  # S.1
        packet = Msg(message, self._t, self._metadata(destination))
        self._v[destination] = self._t  # S.3
        return [Send(destination, packet)]  # S.2

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct sender can have attached."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                self._require_consistent(sender, packet)
                key = (sender, packet.time[sender])
                self._waiting[key] = packet
                return self._deliver([key])
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _metadata(self, destination: int) -> Matrix:
        """The vectors to attach to a message to `destination`: all, since the receiver has to pass them on."""
        return tuple(self._v)  # S.2

    def _deliverable(self, packet: Msg) -> bool:
        """Whether everything is known that was sent here before the message."""
        return covers(self._t, packet.vectors[self._group.identity])  # R.1

    def _record_delivery(self, sender: int, packet: Msg) -> None:
        self._last[sender] = packet.time[sender]
        self._t = joined(self._t, packet.time)  # U.1
        self._merge(packet.vectors)

    def _merge(self, vectors: Matrix) -> None:
        own = self._v[self._group.identity]
        merge(self._v, vectors)  # U.2
        self._v[self._group.identity] = own  # U.2

    def _deliver(self, candidates: list[tuple[int, int]]) -> list[Command]:
        """Deliver whatever is deliverable; of what waits, all but the candidates are known not to be."""
        commands: list[Command] = []
        while candidates:  # R.2
            before = len(commands)
            for key in candidates:
                packet = self._waiting[key]
                if self._deliverable(packet):
                    del self._waiting[key]
                    commands.append(Deliver(key[0], packet.message))
                    self._record_delivery(key[0], packet)
            candidates = list(self._waiting) if len(commands) > before else []
        return commands

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_message(packet.message)
        me, size = self._group.identity, self._group.processes
        if sender == me:
            raise ProtocolError("a message from oneself arrived, and none was sent")
        require_row(packet.time, size)
        require_matrix(packet.vectors, self._v)
        number = packet.time[sender]
        if number < 1:
            raise ProtocolError(f"process {sender} has not counted its own message")
        if number <= self._last[sender] or (sender, number) in self._waiting:
            raise ProtocolError(f"message {number} of process {sender} has arrived before")
        if packet.time[me] > self._t[me] or any(vector[me] > self._t[me] for vector in packet.vectors):
            raise ProtocolError(f"process {sender} knows of messages of process {me} that were not sent")
