"""Multicast in a total order, by priorities that destinations propose and the sender decides: ABCAST of ISIS.

Source: Dale Skeen, unpublished; Kenneth Birman, Thomas Joseph, "Reliable Communication in the Presence of Failures"
(1987), in the section on ABCAST. Channels: reliable, in any order. It is *not* causal, and not FIFO either.

Listing, in our own words (the paper's text was not at hand; labels are ours; process i):

    S, the application multicasts m to a set D
      S.1  number m among our own messages
      S.2  send it to each process of D
    P, m arrives from j
      P.1  add one to the clock: this is above every priority that we have seen
      P.2  put m into the queue, undeliverable, with the clock as its priority, and our own number to break ties
      P.3  propose this priority to j
    D, j proposes a priority for our message m
      D.1  keep it if it is the highest so far; of equal ones, that of the higher process
      D.2  if all of D have proposed, send the highest to each of them: it is the final priority of m
    F, the final priority of m arrives
      F.1  raise the clock to it, if it is larger
      F.2  re-sort the queue: m has this priority, and is deliverable
      F.3  while the message with the lowest priority is deliverable, take it out of the queue and deliver it

Symbols:

    paper                            here
    priority, with the process id    Priority: a number and a process
    the priority queue               _waiting, by sender and number of the message; _order, a heap of priorities
    undeliverable, deliverable       Waiting.final
    responses of the recipients      _rounds: of each own message, who has not answered, and the highest so far

Departures:
    - Failures are left out: if a sender fails in the paper, one of the destinations finishes its work.
    - The paper has a queue for each ABCAST label. Here all messages have the same label.
    - A message is named by its sender and a number, which the sender gives it.
    - A message to nobody is a ValueError. A process may be a destination of its own message, which then takes the way
      over the network like any other.
    - A proposal or final priority that nobody waits for is a ProtocolError, and so is a second copy of a message that
      waits. A copy that comes after its message has been delivered is not noticed: channels do not duplicate.
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from heapq import heappop, heappush
from typing import Any, ClassVar, Literal, NamedTuple

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.group import Group, require_message, unknown_packet
from thence.spec.value import value


class Priority(NamedTuple):
    """What messages are ordered by: the number, then the process that proposed it. No two messages share one."""

    number: int
    process: int


class Name(NamedTuple):
    """A message: its sender, and its number among the sender's messages, from 1."""

    sender: int
    number: int


class Waiting(NamedTuple):
    """A message in the queue. It is deliverable if its priority is final."""

    message: Hashable
    priority: Priority
    final: bool


class Round(NamedTuple):
    """Of an own message: its destinations, those of them that have not proposed, and the highest proposal so far."""

    destinations: tuple[int, ...]
    missing: frozenset[int]
    highest: Priority


NOTHING = Priority(0, -1)
"""Below all proposals."""


@value
class Msg:
    """An application message; `mid` is its number among those of its sender."""

    kind: ClassVar[str] = "MSG"
    message: Hashable
    mid: int


@value
class Propose:
    """A destination proposes a priority for message `mid` of the receiver: `number`, with itself as the process."""

    kind: ClassVar[str] = "PROPOSE"
    message: ClassVar[None] = None
    mid: int
    number: int


@value
class Final:
    """The priority of message `mid` of the sender: `number`, as `process` proposed it."""

    kind: ClassVar[str] = "FINAL"
    message: ClassVar[None] = None
    mid: int
    number: int
    process: int


class Skeen:
    """One process of the protocol. See the module for the algorithm and `MulticastProcess` for the interface."""

    delivery: ClassVar[Literal["multicast"]] = "multicast"
    channels: ClassVar[Literal["reordering"]] = "reordering"

    def __init__(self, identity: int, processes: int) -> None:
        self._group = Group(identity, processes)
        self._sent = 0
        self._clock = 0
        self._rounds: dict[int, Round] = {}
        self._waiting: dict[Name, Waiting] = {}
        self._order: list[tuple[Priority, Name]] = []
        """A heap of the priorities that waiting messages have or had. Those that they had are passed over."""

    @property
    def clock(self) -> int:
        """The highest number of all priorities that were seen here."""
        return self._clock

    def causal_send(self, destinations: Set[int], message: Hashable) -> list[Command]:
        """Send `message` to `destinations`. Raises ValueError for none or unknown ones, or a message None."""
        self._group.require_multicast(destinations, message)
        self._sent += 1  # S.1
        receivers = tuple(sorted(destinations))
        self._rounds[self._sent] = Round(receivers, frozenset(receivers), NOTHING)
        packet = Msg(message, self._sent)
        return [Send(receiver, packet) for receiver in receivers]  # S.2

    def receive(self, sender: int, packet: Any) -> list[Command]:
        """Take `packet` from `sender`. Raises ProtocolError for what no correct peer can have sent."""
        self._group.require_sender(sender)
        match packet:
            case Msg():
                return self._receive_msg(sender, packet)
            case Propose():
                return self._receive_propose(sender, packet)
            case Final():
                return self._receive_final(sender, packet)
            case _:
                raise unknown_packet(packet)

    def tick(self) -> list[Command]:
        """Nothing: the protocol has no timers."""
        return []

    def _receive_msg(self, sender: int, packet: Msg) -> list[Command]:
        require_message(packet.message)
        _require_number(packet.mid, "a message")
        name = Name(sender, packet.mid)
        if name in self._waiting:
            raise ProtocolError(f"message {packet.mid} of process {sender} has arrived before")
        self._clock += 1  # P.1
        self._put(name, Waiting(packet.message, Priority(self._clock, self._group.identity), final=False))  # P.2
        return [Send(sender, Propose(packet.mid, self._clock))]  # P.3

    def _receive_propose(self, sender: int, packet: Propose) -> list[Command]:
        _require_number(packet.number, "a priority")
        known = self._rounds.get(packet.mid) if type(packet.mid) is int else None
        if known is None or sender not in known.missing:
            raise ProtocolError(
                f"process {sender} proposes a priority for message {packet.mid!r:.50}, and was not asked"
            )
        missing = known.missing - {sender}
        highest = self._preferred(known.highest, Priority(packet.number, sender))  # D.1
        if missing:
            self._rounds[packet.mid] = Round(known.destinations, missing, highest)
            return []
        del self._rounds[packet.mid]
        final = Final(packet.mid, highest.number, highest.process)
        return [Send(receiver, final) for receiver in known.destinations]  # D.2

    def _receive_final(self, sender: int, packet: Final) -> list[Command]:
        _require_number(packet.mid, "a message")
        _require_number(packet.number, "a priority")
        if type(packet.process) is not int or not self._group.has(packet.process):
            raise ProtocolError(f"process {packet.process!r:.50} proposed a priority, and there is no such process")
        name, final = Name(sender, packet.mid), Priority(packet.number, packet.process)
        known = self._waiting.get(name)
        if known is None or known.final:
            raise ProtocolError(f"message {packet.mid} of process {sender} waits for no priority")
        if final < known.priority:
            raise ProtocolError(f"the priority {tuple(final)} is below the one that we have proposed")
        self._see(packet.number)  # F.1
        self._put(name, Waiting(known.message, final, final=True))  # F.2
        return self._deliver_from_the_head()  # F.3

    def _preferred(self, one: Priority, other: Priority) -> Priority:
        """Which of two proposals is to be the priority."""
        return max(one, other)

    def _see(self, number: int) -> None:
        self._clock = max(self._clock, number)

    def _put(self, name: Name, waiting: Waiting) -> None:
        self._waiting[name] = waiting
        heappush(self._order, (waiting.priority, name))

    def _head(self) -> Name | None:
        """The message with the lowest priority; None if the queue is empty."""
        while self._order:
            priority, name = self._order[0]
            known = self._waiting.get(name)
            if known is not None and known.priority == priority:
                return name
            heappop(self._order)
        return None

    def _deliver_from_the_head(self) -> list[Command]:
        commands: list[Command] = []
        while (name := self._head()) is not None and self._waiting[name].final:
            commands.append(Deliver(name.sender, self._waiting.pop(name).message))
        return commands


def _require_number(number: object, what: str) -> None:
    if type(number) is not int or number < 1:
        raise ProtocolError(f"{number!r:.50} is not the number of {what}")
