"""Causal broadcast by vector clocks: CBCAST of the Isis system.

Source: Kenneth Birman, André Schiper, Pat Stephenson, "Lightweight Causal and Atomic Group Multicast" (1991), the
protocol for a single group without failures; its metadata is what Tong, Liittschwager and Kuper (footnote 2) compare
with theirs. Channels: reliable, in any order. A broadcast carries its sender's vector clock, and waits at its receiver
for every broadcast that the clock counts.

Listing, in our own words (labels are ours, by the paper's three rules; process i):

    1, the application broadcasts m
      S.1  count it in the vector clock
      S.2  send m, with the clock as it is now, to every other process
    2, m arrives from j with the clock vt
      R.1  keep m
      R.2  m may be delivered if it is the next of j's broadcasts that is to be delivered here,
      R.3  and for each other process k, as many of k's as vt counts are delivered here
      R.4  otherwise m waits; what waits is looked at again after every delivery
    3, m is delivered
      D.1  hand it over
      D.2  raise each entry of the clock to that of vt, where that is larger

Symbols:

    paper        here
    p_i          _group.identity
    VT(p_i)      _vt: of each process, how many of its broadcasts are delivered here; of our own, how many are sent
    VT(m)        Msg.vt
    delay queue  _delayed: for each sender, its broadcasts that wait, by their number

Departures:
    - "Looked at again" is made definite: in rounds, each by ascending senders, until a round delivers nothing. The
      paper leaves open which of several deliverable broadcasts is next.
    - Only the next broadcast of each sender is looked at: no other can be deliverable.
    - A packet that makes several broadcasts deliverable delivers them in one step: a message that the application
      sends from inside the first delivery counts as sent after all of them.
    - Of one's own broadcasts, the application is told nothing: it knows them.
    - A broadcast that comes again is a ProtocolError: the channels of the paper do not duplicate. So is a clock of
      another shape, and one that counts more of our broadcasts than there are.
"""

from __future__ import annotations

from collections.abc import Hashable
from operator import le
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, require_value, unknown_packet
from thence.spec.value import value


@value
class Msg:
    """A broadcast and the vector clock of its sender, which counts it. `vt[sender]` is its number."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    vt: tuple[int, ...]


class CBCAST:
    """One process of the protocol. See the module for the algorithm and `BroadcastProcess` for the interface.

    A broadcast goes to all processes but its sender.
    """

    delivery: ClassVar[Literal["broadcast"]] = "broadcast"
    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._vt = [0] * processes
        self._delayed: dict[int, dict[int, Msg]] = {}
        """Only senders with a broadcast that waits have an entry."""

    def causal_send(self, message: Hashable) -> list[Command]:
        """Send `message` to all other processes. Raises ValueError for a message None."""
        require_value(message)
        identity = self._group.identity
        self._vt[identity] += 1  # S.1
        packet = Msg(message, tuple(self._vt))
        return [Send(other, packet) for other in range(self._group.processes) if other != identity]  # S.2

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct peer can have sent."""
        self._group.require_sender(sender)
        if not isinstance(packet, Msg):
            raise unknown_packet(packet)
        self._require_consistent(sender, packet)
        self._delayed.setdefault(sender, {})[packet.vt[sender]] = packet  # R.1
        return self._deliver_what_waits_for_nothing()

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _deliverable(self, sender: int, packet: Msg) -> bool:
        """Whether all that the clock of `packet` counts is delivered here, and it is the next one of `sender`."""
        if packet.vt[sender] != self._vt[sender] + 1:  # R.2
            return False
        # The sender's own entry is one more than ours.
        return list(map(le, packet.vt, self._vt)).count(False) == 1  # R.3

    def _deliver_what_waits_for_nothing(self) -> list[Command]:
        commands: list[Command] = []
        before = -1
        while len(commands) != before:  # R.4
            before = len(commands)
            for sender in sorted(self._delayed):
                commands += self._deliver_from(sender)
        return commands

    def _deliver_from(self, sender: int) -> list[Command]:
        """Deliver what waits from `sender`, as far as that goes now."""
        delayed = self._delayed[sender]
        commands: list[Command] = []
        while (packet := delayed.get(self._vt[sender] + 1)) is not None and self._deliverable(sender, packet):
            del delayed[packet.vt[sender]]
            commands.append(Deliver(sender, packet.message))  # D.1
            self._vt = [own if own > other else other for own, other in zip(self._vt, packet.vt, strict=True)]  # D.2
        if not delayed:
            del self._delayed[sender]
        return commands

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_message(packet.message)
        identity, vt = self._group.identity, packet.vt
        if not isinstance(vt, tuple) or len(vt) != self._group.processes:
            raise ProtocolError(f"not a vector clock of {self._group.processes} processes: {vt!r}")
        if not all(type(entry) is int and entry >= 0 for entry in vt):
            raise ProtocolError(f"not a vector clock: {vt!r}")
        if sender == identity:
            raise ProtocolError("a broadcast of our own comes back")
        if vt[sender] < 1:
            raise ProtocolError(f"process {sender} sends a broadcast that its clock does not count")
        if vt[identity] > self._vt[identity]:
            raise ProtocolError(f"process {sender} counts {vt[identity]} broadcasts of ours, not {self._vt[identity]}")
        if vt[sender] <= self._vt[sender] or vt[sender] in self._delayed.get(sender, ()):
            raise ProtocolError(f"broadcast {vt[sender]} of process {sender} has arrived before")
