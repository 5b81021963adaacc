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
    LOG_j      _log: for each sender, the entries of its messages by number; a set of destinations is a bit mask
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
    - A message for somebody else, one that has arrived before, and a log that tells of messages that have not been sent
      are ProtocolErrors.

A process may be among the destinations of its own message: that one takes the way over the network like any other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from whence.impl.commands import Command, Deliver, ProtocolError, Send
from whence.impl.group import Group, require_message, unknown_packet
from whence.impl.value import value

Log: TypeAlias = dict[int, dict[int, int]]
"""For each sender that has any, the remaining destinations of its messages by their numbers, as bit masks."""


class Entry(NamedTuple):
    """Of message `number` of `sender`: the destinations that are not known to be served, as a bit mask."""

    sender: int
    number: int
    destinations: int


@value
class Msg:
    """An application message, its number among those of its sender, its destinations, and what it tells of others.

    `destinations` is a bit mask; `log` is in ascending order.
    """

    kind: ClassVar[str] = "MSG"
    message: Hashable
    number: int
    destinations: int
    log: tuple[Entry, ...]


class KS:
    """One process of the protocol. See the module for the algorithm and `MulticastProcess` for the interface."""

    delivery: ClassVar[Literal["multicast"]] = "multicast"
    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._clock = 0
        self._delivered = [0] * processes
        self._log: Log = {}
        self._waiting: list[tuple[int, Msg]] = []
        """Messages that have arrived and are not deliverable, with their senders, in order of arrival."""

    @property
    def log(self) -> tuple[Entry, ...]:
        """The log, in ascending order."""
        return entries(self._log)

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        """Send `message` to `destinations`. Raises ValueError for none or unknown ones, or a message None."""
        self._group.require_multicast(destinations, message)
        self._clock += 1  # S.1
        receivers = sorted(destinations)
        mask = sum(1 << receiver for receiver in receivers)
        commands: list[Command] = [
            Send(receiver, Msg(message, self._clock, mask, self._log_for(receiver, mask))) for receiver in receivers
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

    def _log_for(self, receiver: int, mask: int) -> tuple[Entry, ...]:
        """What goes with a message to the destinations `mask`, in the packet to `receiver`."""
        others = mask & ~(1 << receiver)
        return entries(purged(without(self._log, others)))

    def _record_send(self, mask: int) -> None:
        self._log = without(self._log, mask)  # S.3
        self._log.setdefault(self._group.identity, {})[self._clock] = mask  # S.4
        self._log = purged(self._log)

    def _deliverable(self, packet: Msg) -> bool:
        """Whether everything that the message has to wait for here is delivered."""
        bit = 1 << self._group.identity
        return all(
            number <= self._delivered[sender] for sender, number, destinations in packet.log if destinations & bit
        )  # R.1

    def _record_delivery(self, sender: int, packet: Msg) -> None:
        self._delivered[sender] = packet.number  # R.2
        known = log_of([*packet.log, Entry(sender, packet.number, packet.destinations)])  # R.3
        self._merge(without(known, 1 << self._group.identity))
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
        me, everybody = self._group.identity, (1 << self._group.processes) - 1
        if not is_count(packet.number) or packet.number < 1:
            raise ProtocolError(f"not a message number: {packet.number!r}")
        if not is_count(packet.destinations) or not packet.destinations >> me & 1 or packet.destinations & ~everybody:
            raise ProtocolError(f"not a message for process {me}: its destinations are {packet.destinations!r}")
        if sender == me and packet.number > self._clock:
            raise ProtocolError(f"message {packet.number} of our own, and {self._clock} are sent")
        if packet.number <= self._delivered[sender] or any(
            sender == other and packet.number == waiting.number for other, waiting in self._waiting
        ):
            raise ProtocolError(f"message {packet.number} of process {sender} has arrived before")
        if not isinstance(packet.log, tuple):
            raise ProtocolError(f"not a log: {packet.log!r}")
        for entry in packet.log:
            if not self._can_know(sender, packet.number, entry):
                raise ProtocolError(f"process {sender} tells of {entry!r}, which it cannot know")

    def _can_know(self, sender: int, number: int, entry: object) -> bool:
        """Whether `sender` can have told this with its message of that number."""
        if not isinstance(entry, Entry):
            return False
        other, known, destinations = entry
        if not type(other) is type(known) is type(destinations) is int:
            return False
        processes = self._group.processes
        if not (0 <= other < processes and known >= 1 and 0 <= destinations < 1 << processes):
            return False
        if other == self._group.identity:
            return known <= self._clock
        return other != sender or known < number


def is_count(*numbers: object) -> bool:
    """Whether all of them are integers of at least 0."""
    return all(type(number) is int and number >= 0 for number in numbers)


def entries(log: Log) -> tuple[Entry, ...]:
    """The log as entries, in ascending order."""
    return tuple(
        [Entry(sender, number, log[sender][number]) for sender in sorted(log) for number in sorted(log[sender])]
    )


def log_of(told: Iterable[Entry]) -> Log:
    """The entries as a log."""
    log: Log = {}
    for sender, number, destinations in told:
        log.setdefault(sender, {})[number] = destinations
    return log


def without(log: Log, mask: int) -> Log:
    """The log without the destinations `mask`."""
    kept = ~mask
    return {
        sender: {number: destinations & kept for number, destinations in known.items()} for sender, known in log.items()
    }


def purged(log: Log) -> Log:
    """The log without the entries that say nothing which is not implied by a later one of the same sender."""
    return {sender: known if len(known) == 1 else _without_empty(known) for sender, known in log.items()}  # P.1


def _without_empty(known: dict[int, int]) -> dict[int, int]:
    last = max(known)
    return {number: destinations for number, destinations in known.items() if destinations or number == last}


def merged(one: Log, other: Log) -> Log:
    """What both logs together know."""
    result = dict(one)
    for sender, there in other.items():
        here = one.get(sender)
        result[sender] = there if here is None else _merged_of_one_sender(here, there)
    return result


def _merged_of_one_sender(here: dict[int, int], there: dict[int, int]) -> dict[int, int]:
    last_here, last_there = max(here), max(there)
    merged = {
        number: destinations & there.get(number, destinations)
        for number, destinations in here.items()
        if number in there or number > last_there
    }
    for number, destinations in there.items():
        if number > last_here and number not in here:
            merged[number] = destinations
    return merged
