"""Causal multicast with no more metadata than has to be sent: the optimal protocol of Kshemkalyani and Singhal.

Source: Ajay Kshemkalyani, Mukesh Singhal, "Necessary and Sufficient Conditions on Information for Causal Message
Ordering and Their Optimal Implementation" (1998), as their textbook "Distributed Computing" (chapter 6) lists it;
Almeida, "Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal Delivery through Hybrid
Buffering" (section 3.1), tells the idea. Channels: reliable, in any order. A message carries, for each message of its
causal past that still matters, the destinations of which it is not known that they have delivered it, or that they
will deliver it in order.

Listing, in our own words (labels: event and step; process j):

    S, the application multicasts m to a set D
      S.1  advance the clock; m has that number
      S.2  to each d of D goes m with a copy of the log, from which these are left out: the destinations in D other than
           d (they wait for what is missing because of m itself), then entries that are purged (P)
      S.3  in the log itself, nothing needs to go to D any more: whoever gets m waits for what is before it
      S.4  add m to the log, with the destinations D, and purge (P)
    R, m with the number t and the log O arrives from k
      R.1  m waits for each message in O that has j among its destinations and is not delivered here
      R.2  deliver m; it is now the last message delivered from k
      R.3  add m to O, and take j out of all destinations in O: that is delivered
      R.4  merge O into the log: an entry that one of them has not, though it has a later one of the same sender, has
           been purged there, and goes; of what both have, the destinations in common stay; all other entries stay
      R.5  purge the log (P), and look again at what waits
    P, purge
      P.1  leave out each entry without destinations, if there is a later one of the same sender

Symbols:

    source     here
    clock_j    _clock
    SR_j       _delivered: of each sender, the number of the last message delivered here
    LOG_j      _log: a tuple of entries, ascending by sender and number; a set of destinations is a bit mask
    O_M        Msg.log
    M.Dests    Msg.destinations

Departures:
    - Destinations are bit masks: bit p is set if process p is one.
    - Entries that are there from the beginning in the source (number 0, no destinations) are left out: they say
      nothing.
    - "Look again at what waits" is made definite: in rounds, each in order of arrival, until a round delivers nothing.
      The source leaves open which of several deliverable messages is next.
    - A packet that makes several messages deliverable delivers them in one step: a message that the application sends
      from inside the first delivery counts as sent after all of them.
    - A message to nobody is a ValueError.
    - A message for somebody else, one that has arrived before, and a log that tells of messages that have not been
      sent, or is not in ascending order, are ProtocolErrors.

A process may be among the destinations of its own message: that one takes the way over the network like any other.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable, Set
from itertools import pairwise
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.spec.value import value

_make: Final = tuple.__new__
"""`_make(Entry, (s, n, d))` is `Entry(s, n, d)`, made directly: logs are made by the million."""


class Entry(NamedTuple):
    """Of message `number` of `sender`: the destinations that are not known to be served, as a bit mask."""

    sender: int
    number: int
    destinations: int


Log: TypeAlias = tuple[Entry, ...]
"""Entries in ascending order: by sender, then by number."""

_NOBODY: Final = Entry(-1, 0, 0)
"""Comes before all entries."""


@value
class Msg:
    """An application message, its number among those of its sender, its destinations, and what it tells of others.

    `destinations` is a bit mask.
    """

    kind: ClassVar[str] = "MSG"
    message: Hashable
    number: int
    destinations: int
    log: Log


class KS:
    """One process of the protocol. See the module for the algorithm and `MulticastProcess` for the interface."""

    delivery: ClassVar[Literal["multicast"]] = "multicast"
    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._everybody = 1 << processes
        """Above all sets of destinations."""
        self._clock = 0
        self._delivered = [0] * processes
        self._log: Log = ()
        self._waiting: list[tuple[int, Msg]] = []
        """Messages that have arrived and are not deliverable, with their senders, in order of arrival."""

    @property
    def log(self) -> Log:
        """The log."""
        return self._log

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        """Send `message` to `destinations`. Raises ValueError for none or unknown ones, or a message None."""
        self._group.require_multicast(destinations, message)
        self._clock += 1  # S.1
        receivers = sorted(destinations)
        mask = 0
        for receiver in receivers:
            mask |= 1 << receiver
        clock = self._clock
        commands: list[Command] = [
            Send(receiver, Msg(message, clock, mask, self._log_for(receiver, mask))) for receiver in receivers
        ]  # S.2
        self._record_send(mask)
        return commands

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct peer can have sent."""
        self._group.require_sender(sender)
        if not isinstance(packet, Msg):
            raise unknown_packet(packet)
        self._require_consistent(sender, packet)
        self._waiting.append((sender, packet))
        return self._deliver_from(len(self._waiting) - 1)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _log_for(self, receiver: int, mask: int) -> Log:
        """What goes with a message to the destinations `mask`, in the packet to `receiver`."""
        others = mask & ~(1 << receiver)
        return purged(without(self._log, others)) if others else self._log

    def _record_send(self, mask: int) -> None:
        self._log = without(self._log, mask)  # S.3
        entry = _make(Entry, (self._group.identity, self._clock, mask))
        self._log = purged(added(self._log, entry))  # S.4

    def _deliverable(self, packet: Msg) -> bool:
        """Whether everything that the message has to wait for here is delivered."""
        bit, delivered = 1 << self._group.identity, self._delivered
        for other, number, destinations in packet.log:  # noqa: SIM110  # a generator takes longer
            if destinations & bit and number > delivered[other]:
                return False  # R.1
        return True

    def _record_delivery(self, sender: int, packet: Msg) -> None:
        self._delivered[sender] = packet.number  # R.2
        bit = 1 << self._group.identity
        entry = _make(Entry, (sender, packet.number, packet.destinations & ~bit))
        self._merge(added(without(packet.log, bit), entry))  # R.3
        self._log = purged(self._log)  # R.5

    def _merge(self, told: Log) -> None:
        """Merge what has come with a message into the log."""
        self._log = merged(self._log, told)  # R.4

    def _deliver_from(self, start: int) -> list[Command]:
        """Deliver whatever is deliverable; of the messages waiting, those before `start` are known not to be."""
        commands: list[Command] = []
        progress = True
        while progress:
            progress = False
            still_waiting = self._waiting[:start]
            for sender, packet in self._waiting[start:]:
                if self._deliverable(packet):
                    commands.append(Deliver(sender, packet.message))  # R.2
                    self._record_delivery(sender, packet)
                    progress = True
                else:
                    still_waiting.append((sender, packet))
            self._waiting = still_waiting
            start = 0
        return commands

    def _require_consistent(self, sender: int, packet: Msg) -> None:
        require_message(packet.message)
        me, number, destinations = self._group.identity, packet.number, packet.destinations
        if type(number) is not int or number < 1:
            raise ProtocolError(f"not a message number: {number!r}")
        if type(destinations) is not int or not 0 <= destinations < self._everybody or not destinations >> me & 1:
            raise ProtocolError(f"not a message for process {me}: its destinations are {destinations!r}")
        if sender == me and number > self._clock:
            raise ProtocolError(f"message {number} of our own, and {self._clock} are sent")
        waiting = self._waiting
        if number <= self._delivered[sender] or (
            waiting and number in [known.number for other, known in waiting if other == sender]
        ):
            raise ProtocolError(f"message {number} of process {sender} has arrived before")
        if not isinstance(packet.log, tuple):
            raise ProtocolError(f"not a log: {packet.log!r}")
        other = latest = -1
        for entry in packet.log:
            if not isinstance(entry, Entry) or not self._can_know(sender, number, *entry):
                raise ProtocolError(f"process {sender} tells of {entry!r}, which it cannot know")
            if entry[0] <= other and (entry[0] < other or entry[1] <= latest):
                raise ProtocolError(f"not a log in ascending order: {packet.log!r}")
            other, latest = entry[0], entry[1]

    def _can_know(self, sender: int, number: int, other: object, known: object, destinations: object) -> bool:
        """Whether `sender` can have told this entry with its message of that number."""
        if type(other) is not int or type(known) is not int or type(destinations) is not int:
            return False
        if not (0 <= other < self._group.processes and known >= 1 and 0 <= destinations < self._everybody):
            return False
        if other == self._group.identity:
            return known <= self._clock
        return other != sender or known < number


def added(log: Log, entry: Entry) -> Log:
    """The log with one more entry."""
    if not log or log[-1] < entry:
        return (*log, entry)
    result = list(log)
    insort(result, entry)
    return tuple(result)


def without(log: Log, mask: int) -> Log:
    """The log without the destinations `mask`."""
    kept = ~mask
    for entry in log:
        if entry[2] & mask:
            return tuple(
                [known if not known[2] & mask else _make(Entry, (known[0], known[1], known[2] & kept)) for known in log]
            )
    return log


def purged(log: Log) -> Log:
    """The log without the entries that say nothing which is not implied by a later one of the same sender."""
    if len(log) < 2:
        return log
    return tuple([entry for entry, later in pairwise((*log, _NOBODY)) if entry[2] or entry[0] != later[0]])  # P.1


def merged(one: Log, other: Log) -> Log:
    """What both logs together know: R.4, from the last entry to the first."""
    if not one or not other:
        return one or other
    result: list[Entry] = []
    left, right = len(one), len(other)
    later_left = later_right = -1
    """The senders of the entries looked at last."""
    while left or right:
        here, there = one[left - 1] if left else _NOBODY, other[right - 1] if right else _NOBODY
        if here[0] == there[0] and here[1] == there[1]:
            common = here[2] & there[2]
            result.append(here if common == here[2] else _make(Entry, (here[0], here[1], common)))
            later_left = later_right = here[0]
            left -= 1
            right -= 1
        elif here > there:
            if later_right != here[0]:
                result.append(here)
            later_left = here[0]
            left -= 1
        else:
            if later_left != there[0]:
                result.append(there)
            later_right = there[0]
            right -= 1
    result.reverse()
    return tuple(result)
