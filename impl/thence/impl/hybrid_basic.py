"""Almeida's basic algorithm: causal delivery by hybrid buffering, on channels that lose, duplicate and reorder.

Source: Paulo Sérgio Almeida, "Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering", section 5.4, Algorithm 1. The sender numbers its messages and retransmits them until
they are acknowledged; a message that leaves while an earlier one is unacknowledged asks its receiver to hold back what
that sends afterwards until a permit comes; a receiver delivers the messages of each sender in their order.

Listing, in our own words (labels: lines of Algorithm 1; process i):

    Try to send
      A1.29  as long as there is a message in the send buffer
      A1.30  look at the oldest, m
      A1.31  if a permit below the index kept with m is missing
      A1.32  stop
      A1.33  take m from the send buffer
      A1.34  m needs a permit if any message is unacknowledged
      A1.35  append m to the unacknowledged messages
      A1.36  send it to its receiver
    Causal-send of p to j
      A1.38  m gets the clock as its id, and the id of the last message to j as its predecessor
      A1.39  and the index that the next missing permit will have; p is its payload
      A1.40  m is now the last message to j
      A1.41  advance the clock
      A1.42  append m to the send buffer
      A1.43  try to send
    A message m arrives from j
      A1.45  if it is not newer than the last one delivered from j
      A1.46  acknowledge it again
      A1.47  and no more
      A1.48  the receive buffer for j
      A1.49  gets m, under the id of its predecessor
      A1.50  as long as the successor of the last message delivered from j is in it
      A1.51  take that one out, b
      A1.52  b is now the last message delivered from j
      A1.53  if b needs a permit
      A1.54  add it to the missing permits
      A1.55  acknowledge b
      A1.56  deliver its payload
    An acknowledgement of message n arrives from j
      A1.58  if n has left the unacknowledged messages
      A1.59  send a permit for n
      A1.60  and no more
      A1.61  forget the payload of n
      A1.62  if n is the oldest of them
      A1.63  remove it
      A1.64  and as long as there is another
      A1.65  look at the oldest, m
      A1.66  if m needs a permit
      A1.67  send it to the receiver of m
      A1.68  if m is unacknowledged itself
      A1.69  stop
      A1.70  remove m
    A permit for message n arrives from j
      A1.72  remove it from the missing permits
      A1.73  try to send
    Periodically
      A1.75  for each message in the window of unacknowledged ones
      A1.76  that is unacknowledged itself
      A1.77  send it again
      A1.78  for each missing permit
      A1.79  acknowledge its message again, which makes the sender send the permit

Symbols:

    paper                  here
    ck                     _ck
    u                      _u, a sliding array; index = message id
    p                      _p, a sliding map
    ls, ld                 _ls, _ld; 0 where nothing was sent or delivered
    sb                     _sb
    rb                     _rb
    Msg in the send buffer Unsent
    Msg in u               Unacked; payload removed = packet is None
    Msg in transit, Rcv    Msg
    Per                    Per

Departures:
    - Ids start at 1 (the text has ck = 0, and ld defaulting to 0: the first message would count as delivered).
    - A1.46 acknowledges m (the text has b, which is not bound there).
    - A1.64 to A1.70 run only if the acknowledgement was for the oldest message, as section 5.4 explains; by its
      indentation in the text that we have, the loop would run for every acknowledgement, and send again the permit of
      the oldest.
    - One record type for each place instead of one whose `per` is an index or a flag.
    - The group of processes is fixed, and used only to reject unknown ones; the algorithm does not need to know it.
    - What no correct peer can send is a ProtocolError: an acknowledgement of a message that was not sent, or not sent
      to that process; a message that contradicts the predecessors already received.

A permit that arrives before its message is ignored (A1.72 removes nothing), and the message then misses it until the
next `tick` asks for it again. On channels that reorder, the algorithm needs its timer even where nothing is lost.
Messages to oneself are allowed: they take the way over the network like any other.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.impl.sliding import SlidingArray, SlidingMap
from thence.spec.value import value


@value
class Msg:
    """An application message, its id, the id of its predecessor on the same channel (0: none), and its permit flag."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    mid: int
    pid: int
    per: bool


@value
class Ack:
    """The receiver's message `mid` has been delivered."""

    kind: ClassVar[str] = "ACK"
    message: ClassVar[None] = None
    mid: int


@value
class Permit:
    """All messages of the sender before its message `mid` have been delivered."""

    kind: ClassVar[str] = "PERMIT"
    message: ClassVar[None] = None
    mid: int


class Unsent(NamedTuple):
    """A message in the send buffer; it leaves once all missing permits below index `per` have come."""

    receiver: int
    mid: int
    pid: int
    per: int
    message: Hashable


@dataclass(slots=True)
class Unacked:
    """A message in the window of unacknowledged ones; `packet` is None once it has been acknowledged itself."""

    receiver: int
    per: bool
    packet: Msg | None


class Per(NamedTuple):
    """A permit: the sender of the message and its id."""

    sender: int
    mid: int


class HybridBasic:
    """One process of Algorithm 1. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["lossy"]] = "lossy"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._ck = 1
        self._u: SlidingArray[Unacked] = SlidingArray(first=1)
        """Network-sent messages from the oldest unacknowledged on. Index = id; never empty at the front."""
        self._p: SlidingMap[Per] = SlidingMap()
        """The permits that delivered messages need and that have not come."""
        self._ls: defaultdict[int, int] = defaultdict(int)
        self._ld: defaultdict[int, int] = defaultdict(int)
        self._sb: deque[Unsent] = deque()
        self._rb: defaultdict[int, dict[int, Msg]] = defaultdict(dict)
        """For each sender: messages received and not delivered, by the id of their predecessor."""

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message` to `destination`. Raises ValueError for an unknown destination or a message None."""
        self._group.require_sendable(destination, message)
        unsent = Unsent(
            destination,
            self._ck,  # A1.38
            self._ls[destination],  # A1.38
            self._p.next,  # A1.39
            message,  # A1.39
        )
        self._ls[destination] = self._ck  # A1.40
        self._ck += 1  # A1.41
        self._sb.append(unsent)  # A1.42
        return self._try_send()  # A1.43

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct peer can have sent."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                return self._receive_msg(sender, packet)
            case Ack():
                return self._receive_ack(sender, packet.mid)
            case Permit():
                return self._receive_permit(sender, packet.mid)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Send again what may have been lost: first unacknowledged messages, then requests for missing permits."""
        commands: list[Command] = []
        for unacked in self._u:  # A1.75
            if unacked.packet is not None:  # A1.76
                commands.append(Send(unacked.receiver, unacked.packet))  # A1.77
        for permit in self._p:  # A1.78
            commands.append(Send(permit.sender, Ack(permit.mid)))  # A1.79
        return commands

    def _permitted(self, unsent: Unsent) -> bool:
        """Whether the permits of all messages delivered before the causal-send of `unsent` have come."""
        return self._p.first >= unsent.per  # A1.31

    def _deliverable(self, sender: int) -> bool:
        """Whether the successor of the last message delivered from `sender` has been received."""
        return self._ld[sender] in self._rb[sender]  # A1.50

    def _try_send(self) -> list[Command]:
        commands: list[Command] = []
        while self._sb:  # A1.29
            unsent = self._sb[0]  # A1.30
            if not self._permitted(unsent):
                break  # A1.32
            self._sb.popleft()  # A1.33
            per = self._u.size > 0  # A1.34
            packet = Msg(unsent.message, unsent.mid, unsent.pid, per)
            index = self._u.add(Unacked(unsent.receiver, per, packet))  # A1.35
            assert index == unsent.mid, "the window of unacknowledged messages is indexed by message id"
            commands.append(Send(unsent.receiver, packet))  # A1.36
        return commands

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        self._require_consistent(sender, packet)
        if packet.mid <= self._ld[sender]:  # A1.45
            return [Send(sender, Ack(packet.mid))]  # A1.46, A1.47
        received = self._rb[sender]  # A1.48
        received[packet.pid] = packet  # A1.49
        commands: list[Command] = []
        while self._deliverable(sender):  # A1.50
            successor = received.pop(self._ld[sender])  # A1.51
            self._ld[sender] = successor.mid  # A1.52
            if successor.per:  # A1.53
                self._p.add(Per(sender, successor.mid))  # A1.54
            commands.append(Send(sender, Ack(successor.mid)))  # A1.55
            commands.append(Deliver(sender, successor.message))  # A1.56
        return commands

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        require_id(mid)
        if mid >= self._u.next:
            raise ProtocolError(f"process {sender} acknowledges message {mid}, which was not sent")
        if mid < self._u.first:  # A1.58
            return [Send(sender, Permit(mid))]  # A1.59, A1.60
        unacked = self._u[mid]
        if unacked.receiver != sender:
            raise ProtocolError(f"process {sender} acknowledges message {mid} to process {unacked.receiver}")
        unacked.packet = None  # A1.61
        if mid != self._u.first:  # A1.62
            return []
        self._u.remove()  # A1.63
        return self._advance()

    def _advance(self) -> list[Command]:
        """Remove the acknowledged messages at the front of the window, and send the permits that come due."""
        commands: list[Command] = []
        while self._u.size > 0:  # A1.64
            oldest = self._u.peek()  # A1.65
            if oldest.per:  # A1.66
                commands.append(Send(oldest.receiver, Permit(self._u.first)))  # A1.67
            if oldest.packet is not None:  # A1.68
                break  # A1.69
            self._u.remove()  # A1.70
        return commands

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        require_id(mid)
        self._p.remove(Per(sender, mid))  # A1.72
        return self._try_send()  # A1.73

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_consistent(packet, self._ld.get(sender, 0), self._rb.get(sender, {}))


def require_consistent(packet: Msg, delivered: int, received: Mapping[int, Msg]) -> None:
    """Raise ProtocolError for a message that no correct sender can send after what it has sent before: `delivered` is
    the id of the last message delivered from it, `received` its messages that wait, by the id of their predecessor."""
    require_message(packet.message)
    require_id(packet.mid)
    if not isinstance(packet.pid, int) or not 0 <= packet.pid < packet.mid:
        raise ProtocolError(f"message {packet.mid} with predecessor {packet.pid!r}")
    if packet.pid < delivered < packet.mid:
        raise ProtocolError(f"message {packet.mid} after {packet.pid}, but {delivered} has been delivered")
    other = received.get(packet.pid, packet)
    if other.mid != packet.mid:
        raise ProtocolError(f"message {packet.mid} after {packet.pid}, but {other.mid} came after that too")


def require_id(mid: object) -> None:
    """Raise ProtocolError unless `mid` is a number that a message can have."""
    if not isinstance(mid, int) or mid < 1:
        raise ProtocolError(f"not a message id: {mid!r}")
