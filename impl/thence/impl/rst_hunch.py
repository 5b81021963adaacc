"""The protocol of Raynal, Schiper and Toueg in the variant of which Kuper has a hunch that it would work, too.

Source: Lindsey Kuper's article on causal delivery of unicast messages, Discussion: "increments before sending, adds the
'one greater' clause to the deliverability condition, and drops step 2 from the post-delivery steps".
Channels: reliable, in any order; packets may arrive twice.

Listing, in our own words (the article has no line numbers; labels are ours, as in `rst`, process Pi):

    Sending m to Pj
      S.1  add one to SENT[i, j]
      S.2  then send m together with SENT
    Delivering m, which came from Pj with matrix SENTm
      D.1  m may be delivered if SENTm[j, i] is exactly one greater than DELIV[j]
      D.2  and, for every other k, DELIV[k] is at least SENTm[k, i]
      D.3  otherwise m waits, and is looked at again whenever another message has been delivered
    After the delivery of m
      U.1  add one to DELIV[j]
      U.2  raise each entry of SENT to that of SENTm, where that is larger

Symbols:

    article         here
    i               _group.identity
    SENTi           _sent: a list of rows, row k = what Pk has sent to each process
    DELIVi          _deliv
    SENTm           Msg.meta: a tuple of rows
    the mail room   _waiting, in order of arrival

Departures:
    - Rows are shared between matrices and messages (see `matrix`).
    - "Looked at again" is made definite: in rounds, each in order of arrival, until a round delivers nothing.
    - A message that arrives again after its delivery is dropped: D.1 would keep it for ever. One that waits already
      waits twice, as in the text: whichever copy is looked at first when the message can be delivered counts.
    - A matrix of another shape, or one that claims messages of ours that we have not sent, is a ProtocolError.

Messages to oneself are allowed: they take the way over the network like any other. Unlike in `rst`, nothing is counted
twice; DELIV is one's own column of SENT only as long as there are none.
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


class RSTHunch:
    """One process of the protocol. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._sent: list[Row] = [(0,) * processes] * processes
        self._deliv: list[int] = [0] * processes
        self._arrivals = 0
        self._waiting: dict[int, tuple[int, Msg]] = {}
        """Messages that have arrived and are not deliverable, each with its sender, by the number of the arrival."""

    @property
    def sent(self) -> Matrix:
        """The matrix SENT."""
        return tuple(self._sent)

    @property
    def deliv(self) -> Row:
        """The vector DELIV."""
        return tuple(self._deliv)

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message`. Raises ValueError for an unknown destination or a message None."""
        self._group.require_sendable(destination, message)
        me = self._group.identity
        self._sent[me] = counted(self._sent[me], destination)  # S.1
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
        return tuple(self._sent)

    def _deliverable(self, sender: int, meta: Matrix) -> bool:
        """Whether the message is the next of `sender`, and nothing is missing that causally precedes it."""
        me = self._group.identity
        if meta[sender][me] != self._deliv[sender] + 1:  # D.1
            return False
        return all(k == sender or n >= row[me] for k, (n, row) in enumerate(zip(self._deliv, meta, strict=True)))  # D.2

    def _record_delivery(self, sender: int, meta: Matrix) -> None:
        self._deliv[sender] += 1  # U.1
        self._merge(meta)

    def _merge(self, meta: Matrix) -> None:
        merge(self._sent, meta)  # U.2

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        number = packet.meta[sender][self._group.identity]
        if number <= self._deliv[sender]:
            return []
        self._arrivals += 1
        self._waiting[self._arrivals] = sender, packet
        return self._deliver([self._arrivals])

    def _deliver(self, candidates: list[int]) -> list[Command]:
        """Deliver whatever is deliverable; of what waits, all but the candidates are known not to be."""
        commands: list[Command] = []
        while candidates:  # D.3
            before = len(commands)
            for arrival in candidates:
                sender, packet = self._waiting[arrival]
                if packet.meta[sender][self._group.identity] <= self._deliv[sender]:
                    del self._waiting[arrival]
                elif self._deliverable(sender, packet.meta):
                    del self._waiting[arrival]
                    commands.append(Deliver(sender, packet.message))
                    self._record_delivery(sender, packet.meta)
            candidates = list(self._waiting) if len(commands) > before else []
        return commands

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_message(packet.message)
        me = self._group.identity
        require_matrix(packet.meta, self._sent)
        if packet.meta[sender][me] < 1:
            raise ProtocolError(f"process {sender} has not counted its own message")
        require_known(packet.meta[me], self._sent[me], sender)
