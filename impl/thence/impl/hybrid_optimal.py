"""Almeida's SPS-optimal algorithm: a message waits only for permits of others than its destination.

Source: Paulo Sérgio Almeida, "Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering", section 5.6, Algorithm 2. It improves on Algorithm 1 (`hybrid_basic`) in three ways,
for channels that lose, duplicate and reorder as well: a message asks for a permit only if an earlier one to somebody
else is unacknowledged, the permit goes out as soon as those are acknowledged, and a message is held back only by
missing permits of others than its own destination. Messages need not leave in the order of their causal-sends.

Listing, in our own words (labels: lines of Algorithm 2; process i):

    Causal-send of p to j
      A2.13  m gets the clock as its id, and the id of the last message to j as its predecessor
      A2.14  and the index that the next missing permit will have; p is its payload; it has not been sent
      A2.15  m is now the last message to j
      A2.16  advance the clock
      A2.17  append m to the buffer
      A2.18  try to send m
    Periodically
      A2.20  for each message in the buffer
      A2.21  that has been sent and is unacknowledged itself
      A2.22  send it again
      A2.23  for each missing permit
      A2.24  acknowledge its message again, which makes the sender send the permit
    Send from k on what depends on no permit at index p or later
      A2.26  p1 is the index of the first missing permit
      A2.27  s is who sent the message that it is for
      A2.28  r is the receiver of the oldest message in the buffer
      A2.29  as long as there is a message at k that depends on no such permit
      A2.30  look at it, m
      A2.31  if it has not been sent and depends on no missing permit, or goes to s
      A2.32  it is now sent
      A2.33  it needs a permit if u2 is before it, or it goes to another than r
      A2.34  send it to its receiver
      A2.35  the next k
      A2.36  as long as the message at m1 has been sent
      A2.37  advance m1
    Make p2 and m2 mean again what they mean
      A2.39  p1 is the index of the first missing permit
      A2.40  if there is none
      A2.41  stop
      A2.42  s is who sent the message that it is for
      A2.43  as long as there is an index p2 given out
      A2.44  whose permit is not missing, or is for a message of s
      A2.45  advance p2
      A2.46  as long as the message at m2 depends on no permit at p2 or later
      A2.47  advance m2
    An acknowledgement of message n arrives from j
      A2.49  if n has left the buffer
      A2.50  send a permit for n
      A2.51  and no more
      A2.52  forget the payload of n
      A2.53  if n is the oldest in the buffer
      A2.54  remove it
      A2.55  and as long as there is another
      A2.56  look at the oldest, m
      A2.57  if m has been sent, needs a permit and does not go to j
      A2.58  send the permit to its receiver
      A2.59  if m is unacknowledged itself
      A2.60  stop
      A2.61  remove m
      A2.62  n is now the oldest in the buffer
      A2.63  if n is u2, and there is a message
      A2.64  r is the receiver of the oldest message in the buffer
      A2.65  as long as there is a message at u2
      A2.66  look at it, m
      A2.67  if it is unacknowledged and goes to another than r
      A2.68  stop
      A2.69  if it has been sent, needs a permit and goes to r
      A2.70  send the permit to its receiver
      A2.71  advance u2
    A message m arrives from j
      A2.73  if it is not newer than the last one delivered from j
      A2.74  acknowledge it again
      A2.75  and no more
      A2.76  the receive buffer for j
      A2.77  gets m, under the id of its predecessor
      A2.78  as long as the successor of the last message delivered from j is in it
      A2.79  take that one out, r
      A2.80  r is now the last message delivered from j
      A2.81  if r needs a permit
      A2.82  k is the index that the next missing permit gets
      A2.83  add that of r to the missing permits
      A2.84  if p2 is k, and the first missing permit is for a message of j too
      A2.85  advance p2
      A2.86  acknowledge r
      A2.87  deliver its payload
    A permit for message n arrives from j
      A2.89  k is its index among the missing permits
      A2.90  if it is not missing
      A2.91  do nothing
      A2.92  p1 is the index of the first missing permit
      A2.93  remove it from the missing permits
      A2.94  if it was the first
      A2.95  k is the index of what is now the first
      A2.96  send from m1 on what depends on no permit at k or later
      A2.97  if k is p2
      A2.98  remember m2
      A2.99  make p2 and m2 mean again what they mean
      A2.100 send from there on what depends on no permit at p2 or later

Symbols:

    paper                  here
    ck                     _ck
    u                      _u, a sliding array; index = message id
    p                      _p, an indexed sliding map
    ls, ld                 _ls, _ld; 0 where nothing was sent or delivered
    rb                     _rb
    p2, m1, m2, u2         _p2, _m1, _m2, _u2
    Msg in u               Buffered; payload removed = message is None
    Msg in transit, Rcv    hybrid_basic.Msg
    Per                    hybrid_basic.Per

Departures:
    - Ids start at 1, and with them m1, m2 and u2 (the text has ck = 0, and ld defaulting to 0: the first message would
      count as delivered).
    - A causal-send advances u2 past the new message if all unacknowledged messages go to one receiver, and m2 if the
      new message does not depend on p2. In the text neither moves there: u2 then stays at a message to the first
      receiver, so that later ones to it ask for permits in vain, and m2 falls out of the window.
    - A2.70 passes over the oldest message, whose permit has been sent by A2.58 (the text sends it twice).
    - A2.74 acknowledges m (the text has b, which is not bound there).
    - A2.55 to A2.62 run only if the acknowledgement was for the oldest message, A2.71 belongs to the loop, and A2.86
      and A2.87 are not under A2.81, as section 5.6 explains; by the indentation in the text that we have it is
      otherwise.
    - One field for the index of a permit (`perm`) and another for the flag (`per`), where the text overwrites the one
      with the other in A2.33 and reads both names.
    - Messages to oneself raise ValueError: SPS with FIFO implies causal delivery only without them (Proposition 4.2
      leaves that out).
    - The group of processes is fixed, and used only to reject unknown ones; the algorithm does not need to know it.
    - What no correct peer can send is a ProtocolError, as in `hybrid_basic`.

A permit that arrives before its message is ignored (A2.91), and the message then misses it until the next `tick` asks
for it again. On channels that reorder, the algorithm needs its timer even where nothing is lost; `hybrid_remembering`
does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, unknown_packet
from thence.impl.hybrid_basic import Ack, Msg, Per, Permit, require_consistent, require_id
from thence.impl.sliding import IndexedSlidingMap, SlidingArray


@dataclass(slots=True)
class Buffered:
    """A message in the buffer, sent or not; `message` is None once it has been acknowledged itself.

    It may be sent once no permit below index `perm` is missing, except for messages of its own receiver. `per`: it asks
    its receiver for a permit.
    """

    receiver: int
    mid: int
    pid: int
    perm: int
    message: Hashable
    sent: bool = False
    per: bool = False

    @property
    def packet(self) -> Msg:
        return Msg(self.message, self.mid, self.pid, self.per)


class HybridOptimal:
    """One process of Algorithm 2. See the module for the algorithm and `CausalProcess` for the interface."""

    channels: ClassVar[Literal["lossy"]] = "lossy"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._ck = 1
        self._u: SlidingArray[Buffered] = SlidingArray(first=1)
        """Messages from the oldest unacknowledged on, sent or not. Index = id."""
        self._p: IndexedSlidingMap[Per] = IndexedSlidingMap()
        """The permits that delivered messages need and that have not come."""
        self._ls: defaultdict[int, int] = defaultdict(int)
        self._ld: defaultdict[int, int] = defaultdict(int)
        self._rb: defaultdict[int, dict[int, Msg]] = defaultdict(dict)
        """For each sender: messages received and not delivered, by the id of their predecessor."""
        self._p2 = 0
        """The index of the first missing permit for a message of another sender than the first one; `next` if none."""
        self._m1 = 1
        """The id of the first message that has not been sent."""
        self._m2 = 1
        """The id of the first message that depends on the permit at p2."""
        self._u2 = 1
        """The id of the first unacknowledged message to another receiver than the oldest one's; `next` if none."""

    def causal_send(self, destination: int, message: Hashable) -> list[Command]:
        """Send `message`. Raises ValueError for an unknown destination, oneself as destination, or a message None."""
        self._group.require_sendable(destination, message)
        if destination == self._group.identity:
            raise ValueError("this protocol cannot deliver messages to oneself")
        unsent = Buffered(
            destination,
            mid=self._ck,  # A2.13
            pid=self._ls[destination],  # A2.13
            perm=self._p.next,  # A2.14
            message=message,  # A2.14
        )
        self._ls[destination] = self._ck  # A2.15
        self._ck += 1  # A2.16
        index = self._u.add(unsent)  # A2.17
        assert index == unsent.mid, "the buffer is indexed by message id"
        if self._u2 == index and self._u.peek().receiver == destination:
            self._u2 = self._u.next
        commands = self._send_interval(index, self._p2)  # A2.18
        if self._m2 == index and unsent.perm <= self._p2:
            self._m2 = self._u.next
        return commands

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
        for buffered in self._u:  # A2.20
            if buffered.sent and buffered.message is not None:  # A2.21
                commands.append(Send(buffered.receiver, buffered.packet))  # A2.22
        for permit in self._p:  # A2.23
            commands.append(Send(permit.sender, Ack(permit.mid)))  # A2.24
        return commands

    def _permitted(self, buffered: Buffered) -> bool:
        """Whether no permit is missing for a message that was delivered before the causal-send of `buffered`, except
        for messages of its own receiver. Only for what depends on no permit at p2 or later."""
        return buffered.perm <= self._p.first or buffered.receiver == self._p.peek().sender  # A2.26, A2.27, A2.31

    def _needs_permit(self, buffered: Buffered) -> bool:
        """Whether an earlier message to another receiver is unacknowledged."""
        return self._u2 < buffered.mid or buffered.receiver != self._u.peek().receiver  # A2.28, A2.33

    def _deliverable(self, sender: int) -> bool:
        """Whether the successor of the last message delivered from `sender` has been received."""
        return self._ld[sender] in self._rb[sender]  # A2.78

    def _send_interval(self, start: int, limit: int) -> list[Command]:
        """Send what can be sent among the messages from `start` on that depend on no permit at `limit` or later."""
        commands: list[Command] = []
        k = start
        while k < self._u.next and self._u[k].perm <= limit:  # A2.29
            buffered = self._u[k]  # A2.30
            if not buffered.sent and self._permitted(buffered):
                buffered.sent = True  # A2.32
                buffered.per = self._needs_permit(buffered)
                commands.append(Send(buffered.receiver, buffered.packet))  # A2.34
            k += 1  # A2.35
        while self._m1 < self._u.next and self._u[self._m1].sent:  # A2.36
            self._m1 += 1  # A2.37
        return commands

    def _update_p2_and_m2(self) -> None:
        if self._p.size == 0:  # A2.39, A2.40
            return  # A2.41
        first = self._p.peek().sender  # A2.42
        while self._p2 < self._p.next and self._passed_by_p2(first):  # A2.43
            self._p2 += 1  # A2.45
        while self._m2 < self._u.next and self._u[self._m2].perm <= self._p2:  # A2.46
            self._m2 += 1  # A2.47

    def _passed_by_p2(self, first: int) -> bool:
        permit = self._p[self._p2]
        return permit is None or permit.sender == first  # A2.44

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        self._require_consistent(sender, packet)
        if packet.mid <= self._ld[sender]:  # A2.73
            return [Send(sender, Ack(packet.mid))]  # A2.74, A2.75
        received = self._rb[sender]  # A2.76
        received[packet.pid] = packet  # A2.77
        commands: list[Command] = []
        while self._deliverable(sender):
            successor = received.pop(self._ld[sender])  # A2.79
            self._ld[sender] = successor.mid  # A2.80
            if successor.per:  # A2.81
                self._await_permit(Per(sender, successor.mid))
            commands.append(Send(sender, Ack(successor.mid)))  # A2.86
            commands.append(Deliver(sender, successor.message))  # A2.87
        return commands

    def _await_permit(self, permit: Per) -> None:
        """From now on, what is causal-sent waits for `permit`."""
        index = self._p.add(permit)  # A2.82, A2.83
        if self._p2 == index and self._p.peek().sender == permit.sender:  # A2.84
            self._p2 = index + 1  # A2.85

    def _receive_ack(self, sender: int, mid: int) -> list[Command]:
        require_id(mid)
        if mid >= self._u.next:
            raise ProtocolError(f"process {sender} acknowledges message {mid}, which was not sent")
        if mid < self._u.first:  # A2.49
            return [Send(sender, Permit(mid))]  # A2.50, A2.51
        buffered = self._u[mid]
        if buffered.receiver != sender:
            raise ProtocolError(f"process {sender} acknowledges message {mid} to process {buffered.receiver}")
        if not buffered.sent:
            raise ProtocolError(f"process {sender} acknowledges message {mid}, which was not sent")
        buffered.message = None  # A2.52
        commands: list[Command] = []
        if mid == self._u.first:  # A2.53
            self._u.remove()  # A2.54
            commands += self._advance(sender)
            mid = self._u.first  # A2.62
        if mid == self._u2 < self._u.next:  # A2.63
            commands += self._advance_u2()
        return commands

    def _advance(self, sender: int) -> list[Command]:
        """Remove the acknowledged messages at the front of the buffer, and send the permits that come due."""
        commands: list[Command] = []
        while self._u.size > 0:  # A2.55
            oldest = self._u.peek()  # A2.56
            if oldest.sent and oldest.per and oldest.receiver != sender:  # A2.57
                commands.append(Send(oldest.receiver, Permit(oldest.mid)))  # A2.58
            if oldest.message is not None:  # A2.59
                break  # A2.60
            self._u.remove()  # A2.61
        return commands

    def _advance_u2(self) -> list[Command]:
        """Move u2 to the next unacknowledged message to another receiver, and send the permits that come due."""
        commands: list[Command] = []
        first, receiver = self._u.first, self._u.peek().receiver  # A2.64
        while self._u2 < self._u.next:  # A2.65
            buffered = self._u[self._u2]  # A2.66
            if buffered.message is not None and buffered.receiver != receiver:  # A2.67
                break  # A2.68
            if buffered.sent and buffered.per and buffered.receiver == receiver and first < self._u2:  # A2.69
                commands.append(Send(buffered.receiver, Permit(buffered.mid)))  # A2.70
            self._u2 += 1  # A2.71
        return commands

    def _receive_permit(self, sender: int, mid: int) -> list[Command]:
        require_id(mid)
        return self._take_permit(Per(sender, mid))

    def _take_permit(self, permit: Per) -> list[Command]:
        """Send what `permit` lets go. One that is not missing changes nothing."""
        index = self._p.index(permit)  # A2.89
        if index is None:  # A2.90
            return []  # A2.91
        first = self._p.first  # A2.92
        self._p.remove(permit)  # A2.93
        commands: list[Command] = []
        if index == first:  # A2.94
            index = self._p.first  # A2.95
            commands += self._send_interval(self._m1, index)  # A2.96
        if index == self._p2:  # A2.97
            start = self._m2  # A2.98
            self._update_p2_and_m2()  # A2.99
            commands += self._send_interval(start, self._p2)  # A2.100
        return commands

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_consistent(packet, self._ld.get(sender, 0), self._rb.get(sender, {}))
