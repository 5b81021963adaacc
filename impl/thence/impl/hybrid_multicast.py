"""Almeida's multicast algorithm: hybrid buffering for messages to sets of processes, on channels that may do anything.

Source: Paulo Sérgio Almeida, "Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering", section 5.7, Algorithm 3, which lists the differences from Algorithm 1. Channels:
packets may be lost, duplicated and reordered. A message to several processes asks each of them to hold back what it
sends afterwards until all of them have delivered it.

Listing, in our own words (labels: lines of Algorithm 3, A1 for what is unchanged from Algorithm 1; process i):

    Try to send
      A3.8   as long as there is a message in the send buffer
      A3.9   look at the oldest, m
      A3.10  if a permit below the index kept with m is missing
      A3.11  stop
      A3.12  take m from the send buffer
      A3.13  m needs permits if any message is unacknowledged, or if it has several receivers
      A3.14  append m to the unacknowledged messages
      A3.15  for each of its receivers
      A3.16  send it there
    Causal-send of p to the set J
      A3.18  m gets the clock as its id, for each of J the id of the last message to it as predecessor, all of J as
             those that have to acknowledge, the index that the next missing permit will have, and p as its payload
      A3.19  for each of J
      A3.20  m is now the last message to it
      A3.21  advance the clock (once, after the loop: see Departures)
      A3.22  append m to the send buffer (once)
      A3.23  try to send
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
      A3.25  if n has left the unacknowledged messages
      A3.26  send j its permit (again)
      A3.27  and no more
      A3.28  j has not to acknowledge n any more
      A3.29  if nobody has
      A3.30  drop its payload
      A3.31  if n is the oldest of the unacknowledged messages
      A3.32  as long as there are any
      A3.33  look at the oldest
      A3.34  if somebody has still to acknowledge it
      A3.35  stop
      A3.36  if it needs permits
      A3.37  for each of its receivers
      A3.38  send the permit there
      A3.39  remove it (in the loop: see Departures)
    A permit for message n arrives from j
      A1.72  it is not missing any more
      A1.73  try to send
    Now and then
      A3.41  for each unacknowledged message
      A3.42  for each process that has to acknowledge it
      A3.43  send it there again
      A3.44  for each missing permit
      A3.45  acknowledge its message again, which makes the sender send the permit

Symbols:

    paper                  here
    ck                     _ck
    u                      _u, a sliding array; index = message id
    p                      _p, a sliding map
    ls, ld                 _ls, _ld; 0 where nothing was sent or delivered
    sb                     _sb
    rb                     _rb
    Msg in the send buffer Unsent
    Msg in u               Unacked; rcv = the keys of pids, unack = those of packets, no payload = packets is empty
    Msg in transit, Rcv    Msg of `hybrid_basic`
    Per                    Per of `hybrid_basic`

Departures:
    - Those of Algorithm 1: ids start at 1; a duplicate is acknowledged by its own id (A1.46).
    - A3.18 leaves the predecessor open: it has to be one for each receiver.
    - A3.21 and A3.22 come once for a message: in the text that we have, they stand in the loop over its receivers.
    - A3.39 stands in the loop: after it, the loop would never end.
    - A message to nobody is a ValueError. In the text it would never be acknowledged, and the permits of all later
      messages would wait for it.
    - Receivers are visited in ascending order; the paper leaves the order open.
    - The optimization that section 5.7 mentions, an early permit for the last process to acknowledge, is left out, as
      in the paper.
    - What no correct peer can send is a ProtocolError: an acknowledgement of a message that was not sent, or not sent
      to that process; a message that contradicts the predecessors already received.

As in Algorithm 1, a permit that arrives before its message is ignored, and asked for by the next `tick`. A process may
be among the receivers of its own message: that one takes the way over the network like any other.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, NamedTuple

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, unknown_packet
from thence.impl.hybrid_basic import Ack, Msg, Per, Permit, require_consistent, require_id
from thence.impl.sliding import SlidingArray, SlidingMap

_make: Final[Callable[..., Any]] = tuple.__new__
"""`_make(Per, (s, m))` is `Per(s, m)`, made directly: one for every message and permit."""

_NONE: Final[dict[int, Msg]] = {}
"""Nothing received."""


class Unsent(NamedTuple):
    """A message in the send buffer; it leaves once all missing permits below index `per` have come.

    `pids` has its receivers, ascending, and for each of them the id of the message's predecessor.
    """

    pids: dict[int, int]
    mid: int
    per: int
    message: Hashable


@dataclass(slots=True)
class Unacked:
    """A message in the window of unacknowledged ones; `packets` are for the receivers that have to acknowledge it.

    `pids` has all its receivers, ascending.
    """

    pids: dict[int, int]
    per: bool
    packets: dict[int, Msg]


class HybridMulticast:
    """One process of Algorithm 3. See the module for the algorithm and `MulticastProcess` for the interface.

    A call takes amortised constant time for each packet that it sends and each message that it delivers, and for the
    sorting of a message's receivers.
    """

    delivery: ClassVar[Literal["multicast"]] = "multicast"
    channels: ClassVar[Literal["lossy"]] = "lossy"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._ck = 1
        self._u: SlidingArray[Unacked] = SlidingArray(first=1)
        """Network-sent messages from the oldest unacknowledged on. Index = id; never acknowledged at the front."""
        self._p: SlidingMap[Per] = SlidingMap()
        """The permits that delivered messages need and that have not come."""
        self._ls: defaultdict[int, int] = defaultdict(int)
        self._ld: defaultdict[int, int] = defaultdict(int)
        self._sb: deque[Unsent] = deque()
        self._rb: defaultdict[int, dict[int, Msg]] = defaultdict(dict)
        """For each sender: messages received and not delivered, by the id of their predecessor."""

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        """Send `message` to `destinations`. Raises ValueError for none or unknown ones, or a message None."""
        self._group.require_multicast(destinations, message)
        mid, last = self._ck, self._ls
        pids = {receiver: last[receiver] for receiver in sorted(destinations)}
        unsent = _make(Unsent, (pids, mid, self._p.next, message))  # A3.18
        for receiver in pids:  # A3.19
            last[receiver] = mid  # A3.20
        self._ck = mid + 1  # A3.21
        self._sb.append(unsent)  # A3.22
        return self._try_send()  # A3.23

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct peer can have sent."""
        self._group.require_sender(sender)
        match packet:
            case Ack():
                return self._receive_ack(sender, packet.mid)
            case Msg():
                return self._receive_msg(sender, packet)
            case Permit():
                return self._receive_permit(sender, packet.mid)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Send again what may have been lost: first unacknowledged messages, then requests for missing permits."""
        commands: list[Command] = []
        for unacked in self._u:  # A3.41
            for receiver, packet in unacked.packets.items():  # A3.42
                commands.append(Send(receiver, packet))  # A3.43
        for permit in self._p:  # A3.44
            commands.append(Send(permit.sender, Ack(permit.mid)))  # A3.45
        return commands

    def _permitted(self, unsent: Unsent) -> bool:
        """Whether the permits of all messages delivered before the causal-send of `unsent` have come."""
        return self._p.first >= unsent.per  # A3.10

    def _needs_permits(self, unsent: Unsent) -> bool:
        """Whether who delivers the message has to wait for others: for earlier receivers, or for its other ones."""
        return self._u.size > 0 or len(unsent.pids) > 1  # A3.13

    def _deliverable(self, sender: int) -> bool:
        """Whether the successor of the last message delivered from `sender` has been received."""
        return self._ld[sender] in self._rb[sender]  # A1.50

    def _try_send(self) -> list[Command]:
        commands: list[Command] = []
        while self._sb:  # A3.8
            unsent = self._sb[0]  # A3.9
            if not self._permitted(unsent):
                break  # A3.11
            self._sb.popleft()  # A3.12
            per = self._needs_permits(unsent)
            pids, mid, _, message = unsent
            packets = {receiver: Msg(message, mid, pid, per) for receiver, pid in pids.items()}
            index = self._u.add(Unacked(pids, per, packets))  # A3.14
            assert index == mid, "the window of unacknowledged messages is indexed by message id"
            for receiver, packet in packets.items():  # A3.15
                commands.append(Send(receiver, packet))  # A3.16
        return commands

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        require_consistent(packet, self._ld.get(sender, 0), self._rb.get(sender, _NONE))
        if packet.mid <= self._ld[sender]:  # A1.45
            return [Send(sender, Ack(packet.mid))]  # A1.46, A1.47
        received = self._rb[sender]  # A1.48
        received[packet.pid] = packet  # A1.49
        commands: list[Command] = []
        while self._deliverable(sender):
            successor = received.pop(self._ld[sender])  # A1.51
            mid = self._ld[sender] = successor.mid  # A1.52
            if successor.per:  # A1.53
                self._p.add(_make(Per, (sender, mid)))  # A1.54
            commands.append(Send(sender, Ack(mid)))  # A1.55
            commands.append(Deliver(sender, successor.message))  # A1.56
        return commands

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        require_id(mid)
        if mid >= self._u.next:
            raise ProtocolError(f"process {sender} acknowledges message {mid}, which was not sent")
        if mid < self._u.first:  # A3.25
            return [Send(sender, Permit(mid))]  # A3.26, A3.27
        unacked = self._u[mid]
        if sender not in unacked.pids:
            raise ProtocolError(f"process {sender} acknowledges message {mid}, which was not sent to it")
        unacked.packets.pop(sender, None)  # A3.28, A3.29, A3.30
        return self._advance() if mid == self._u.first else []  # A3.31

    def _advance(self) -> list[Command]:
        """Remove the acknowledged messages at the front of the window, and send the permits that come due."""
        commands: list[Command] = []
        window = self._u
        while window.size > 0:  # A3.32
            oldest = window.peek()  # A3.33
            if oldest.packets:  # A3.34
                break  # A3.35
            if oldest.per:  # A3.36
                permit = Permit(window.first)
                for receiver in oldest.pids:  # A3.37
                    commands.append(Send(receiver, permit))  # A3.38
            window.remove()  # A3.39
        return commands

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        require_id(mid)
        self._p.remove(_make(Per, (sender, mid)))  # A1.72
        return self._try_send() if self._sb else []  # A1.73
