"""The protocol of Raynal, Schiper and Toueg, in the form in which Kuper describes it.

Source: Lindsey Kuper's article on causal delivery of unicast messages, after Michel Raynal, André Schiper, Sam Toueg,
"The causal ordering abstraction and a simple way to implement it" (1991). Channels: reliable, at most once, in any
order. Every message carries how many messages each process was known to have sent to each other; the receiver keeps a
message back until it has delivered all of those that are addressed to itself.

Listing, in our own words (the article has no line numbers; labels are ours, by its three lists of rules, process Pi):

    Sending m to Pj
      S.1  send m together with SENT as it is now
      S.2  then add one to SENT[i, j]
    Delivering m, which came from Pj with matrix SENTm
      D.1  m may be delivered if, for every k, DELIV[k] is at least SENTm[k, i]
      D.2  otherwise m waits, and is looked at again whenever another message has been delivered
    After the delivery of m
      U.1  add one to DELIV[j]
      U.2  add one to SENT[j, i]
      U.3  raise each entry of SENT to that of SENTm, where that is larger

Symbols:

    article         here
    i               _group.identity
    SENTi           _sent: a list of rows, row k = what Pk has sent to each process
    DELIVi          _deliv
    SENTm           Msg.meta: a tuple of rows
    the mail room   _waiting, in order of arrival

Departures:
    - Rows are immutable, and shared between matrices and messages: attaching SENT takes time linear, not quadratic, in
      the number of processes (see `matrix`).
    - "Looked at again" is made definite: in rounds, each in order of arrival, until a round delivers nothing. The
      article leaves open which of several deliverable messages is next.
    - A packet that makes several messages deliverable delivers them in one step: a message that the application sends
      from inside the first delivery counts as sent after all of them.
    - Messages to oneself raise ValueError. The rules count such a message twice (S.2 and U.2 change the same entry), so
      that later messages wait for one that was never sent.
    - A matrix of another shape, or one that claims messages of ours that we have not sent, is a ProtocolError; so is a
      packet that arrives twice. By the rules it would be delivered twice: D.1 does not tell it from a new one.
"""

from __future__ import annotations

from collections.abc import Hashable
from operator import ge
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.impl.matrix import Matrix, Row, counted, merge, require_known, require_matrix
from thence.spec.value import value


@value
class Msg:
    """An application message and the causal history that the sender knew before it."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    meta: Matrix


class RST:
    """One process of the protocol. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._sent: list[Row] = [(0,) * processes] * processes
        self._deliv: list[int] = [0] * processes
        self._waiting: list[tuple[int, Msg]] = []
        """Messages that have arrived and are not deliverable, with their senders, in order of arrival."""

    @property
    def sent(self) -> Matrix:
        """The matrix SENT."""
        return tuple(self._sent)

    @property
    def deliv(self) -> Row:
        """The vector DELIV."""
        return tuple(self._deliv)

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message`. Raises ValueError for an unknown destination, oneself as destination, or a message None."""
        self._group.require_sendable(destination, message)
        if destination == self._group.identity:
            raise ValueError("this protocol cannot deliver messages to oneself")
        packet = Msg(message, self._metadata(destination))
        self._record_send(destination)
        return [Send(destination, packet)]  # S.1

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for a matrix that no correct sender can have attached."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                self._require_consistent(sender, packet)
                self._waiting.append((sender, packet))
                return self._deliver_from(len(self._waiting) - 1)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _metadata(self, destination: int) -> Matrix:
        """What to attach to a message to `destination`: everything, since the receiver has to pass it on."""
        return tuple(self._sent)  # S.1

    def _record_send(self, destination: int) -> None:
        self._count(self._group.identity, destination)  # S.2

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        """Whether everything that causally precedes a message with `meta` and is addressed to us has been delivered."""
        column = self._group.identity
        return all(map(ge, self._deliv, [row[column] for row in meta]))  # D.1

    def _record_delivery(self, sender: int, meta: Matrix) -> None:
        self._deliv[sender] += 1  # U.1
        self._count(sender, self._group.identity)  # U.2
        self._merge(meta)

    def _merge(self, meta: Matrix) -> None:
        merge(self._sent, meta)  # U.3

    def _deliver_from(self, start: int) -> list[Command]:
        """Deliver whatever is deliverable; of the messages waiting, those before `start` are known not to be."""
        commands: list[Command] = []
        progress = True
        while progress:  # D.2
            progress = False
            still_waiting = self._waiting[:start]
            for sender, packet in self._waiting[start:]:
                if self._deliverable(sender, packet.meta):
                    commands.append(Deliver(sender, packet.message))
                    self._record_delivery(sender, packet.meta)
                    progress = True
                else:
                    still_waiting.append((sender, packet))
            self._waiting = still_waiting
            start = 0
        return commands

    def _count(self, sender: int, receiver: int) -> None:
        self._sent[sender] = counted(self._sent[sender], receiver)

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_message(packet.message)
        if sender == self._group.identity:
            raise ProtocolError("a message from oneself arrived, and none was sent")
        require_matrix(packet.meta, self._sent)
        me = self._group.identity
        require_known(packet.meta[me], self._sent[me], sender)
        number = packet.meta[sender][me]
        waiting = [packet.meta[sender][me] for other, packet in self._waiting if other == sender]
        if number < self._deliv[sender] or number in waiting:
            raise ProtocolError(f"message {number + 1} of process {sender} has arrived before")
