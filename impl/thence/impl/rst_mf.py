"""The protocol of Raynal, Schiper and Toueg, as Mattern and Fünfrocken describe it: counted before sending.

Source: Friedemann Mattern, Stefan Fünfrocken, "A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery", section 2, after Michel Raynal, André Schiper, Sam Toueg (1991). Channels: reliable, in any order; packets
may arrive twice. Unlike in the article's form (`rst`) there is one matrix and no vector: a process's own column says
how much it has delivered.

Listing, in our own words (the paper has no line numbers; labels are ours, process Pi):

    Sending m to Pj
      S.1  add one to M[i, j]
      S.2  then send m together with M
    A message m with matrix N comes from Pi to Pj
      R.1  while N[i, j] is not exactly one greater than M[i, j], m waits
      R.2  and while, for some k other than i, N[k, j] is greater than M[k, j]
      R.3  once neither holds, m is delivered
      R.4  and each entry of M is raised to that of N, where that is larger
      R.5  which may end the waiting of others

Symbols:

    paper                      here
    Mi                         _m: a list of rows, row k = what Pk has sent to each process
    the matrix of a message    Msg.meta: a tuple of rows
    the buffer                 _waiting, in order of arrival

Departures:
    - Rows are shared between matrices and messages (see `matrix`).
    - "Until" is made definite: the messages that wait are looked at in rounds, each in order of arrival, until a round
      delivers nothing.
    - A message that arrives again after its delivery is dropped: R.1 would keep it for ever. One that waits already
      waits twice, as in the text: whichever copy is looked at first when the message can be delivered counts.
    - Messages to oneself raise ValueError. S.1 counts one before it arrives, and R.1 then never holds for it.
    - A matrix of another shape, or one that claims messages of ours that we have not sent, is a ProtocolError.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.impl.matrix import Matrix, Row, counted, merge, require_known, require_matrix
from thence.spec.value import value


@value
class Msg:
    """An application message and the causal history that its sender knows, the message itself included."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    meta: Matrix


class RSTMF:
    """One process of the protocol. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._m: list[Row] = [(0,) * processes] * processes
        self._arrivals = 0
        self._waiting: dict[int, tuple[int, Msg]] = {}
        """Messages that have arrived and are not deliverable, each with its sender, by the number of the arrival."""

    @property
    def m(self) -> Matrix:
        """The matrix M."""
        return tuple(self._m)

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message`. Raises ValueError for an unknown destination, oneself as destination, or a message None."""
        self._group.require_sendable(destination, message)
        me = self._group.identity
        if destination == me:
            raise ValueError("this protocol cannot deliver messages to oneself")
        self._m[me] = counted(self._m[me], destination)  # S.1
        return [Send(destination, Msg(message, self._metadata(destination)))]  # S.2

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for a matrix that no correct sender can have attached."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                self._require_consistent(sender, packet)
                return self._receive_msg(sender, packet)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _metadata(self, destination: int) -> Matrix:
        """What to attach to a message to `destination`: everything, since the receiver has to pass it on."""
        return tuple(self._m)

    def _delivered(self, sender: int) -> int:
        """How many messages from `sender` have been delivered here."""
        return self._m[sender][self._group.identity]

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        """Whether the message is the next of `sender`, and nothing is missing that causally precedes it."""
        me = self._group.identity
        if meta[sender][me] != self._delivered(sender) + 1:  # R.1
            return False
        rows = enumerate(zip(self._m, meta, strict=True))
        return all(k == sender or theirs[me] <= ours[me] for k, (ours, theirs) in rows)  # R.2

    def _merge(self, meta: Matrix) -> None:
        merge(self._m, meta)  # R.4

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        number = packet.meta[sender][self._group.identity]
        if number <= self._delivered(sender):
            return []
        self._arrivals += 1
        self._waiting[self._arrivals] = sender, packet
        return self._deliver([self._arrivals])

    def _deliver(self, candidates: list[int]) -> list[Command]:
        """Deliver whatever is deliverable; of what waits, all but the candidates are known not to be."""
        commands: list[Command] = []
        while candidates:  # R.5
            before = len(commands)
            for arrival in candidates:
                sender, packet = self._waiting[arrival]
                if packet.meta[sender][self._group.identity] <= self._delivered(sender):
                    del self._waiting[arrival]
                elif self._deliverable(sender, packet.meta):
                    del self._waiting[arrival]
                    commands.append(Deliver(sender, packet.message))  # R.3
                    self._merge(packet.meta)
            candidates = list(self._waiting) if len(commands) > before else []
        return commands

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_message(packet.message)
        me = self._group.identity
        if sender == me:
            raise ProtocolError("a message from oneself arrived, and none was sent")
        require_matrix(packet.meta, self._m)
        if packet.meta[sender][me] < 1:
            raise ProtocolError(f"process {sender} has not counted its own message")
        require_known(packet.meta[me], self._m[me], sender)
