"""What is wrong with a finished execution, found in one pass over its events.

It judges as `thence.spec.oracle` does, and tests hold the two against each other. The oracle compares vectors of counts
entry by entry; here a vector is one number with a field for each process, so that comparing two vectors, or taking
their maximum, is a few operations on numbers, whatever the number of processes.

NOTE(fields): a field has `width` bits, and the uppermost of them, its guard, is 0 in a vector. With all guards of `a`
set, `a - b` borrows from no other field, and the guard of a field stays set exactly where `a >= b` in that field. The
pasts of messages have them set, since they are what is compared.
A field is a whole number of machine words wide, so that a vector is taken apart in one step.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from thence.spec.awaited import Awaited, deliverers, width_of
from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.happens_before import shortest_chain
from thence.spec.oracle import Queue
from thence.spec.packed_events import DELIVER, OTHER, RECEIVE, SEND, PackedEvents


class UnderWay:
    """A message that is not delivered everywhere.

    Attributes:
        message: its number among the messages of the execution.
        sender: the process that causal-sent it.
        number: its number among the sends of its sender, from 1.
        undelivered: bitmask of the destinations that have not delivered it yet.
        past: as one number, for every process how many of its sends happened before this one, or are this one.
            NOTE(fields) with all guards set, NOTE(prefix).
    """

    __slots__ = ("message", "number", "past", "sender", "undelivered")

    def __init__(self, message: int, sender: int, number: int, undelivered: int, past: int) -> None:
        self.message = message
        self.sender = sender
        self.number = number
        self.undelivered = undelivered
        self.past = past


Route: TypeAlias = tuple[int, tuple[Callable[[UnderWay], None], ...]]
"""A set of destinations as a mask, and what puts a message into each of their queues."""

MOST_ROUTED: Final = 1_000_000
"""Routes are kept as long as they have no more destinations than this, all together."""


@dataclass(slots=True)
class Fault:
    """A delivery that is wrong.

    Attributes:
        kind: `overtaking`: over predecessors that are not delivered yet; `duplicate`: delivered here before;
            `phantom`: not sent to this process.
        index: position of the delivery.
        message: the number of the delivered one.
        past: of the message (`UnderWay.past`), where it is overtaking; otherwise 0.
        late: how many predecessors come later. `FinishedRun.missing` names them.
        late_from_sender: whether one of them has the same sender.
        never: whether a predecessor never comes.
    """

    kind: Literal["overtaking", "duplicate", "phantom"]
    index: int
    process: int
    message: int
    past: int = 0
    late: int = 0
    late_from_sender: bool = False
    never: bool = False


class FinishedRun:
    """A finished execution under examination. The attributes are complete when `faults` has come to its end.

    Attributes:
        sends, deliveries: how many there are.
        arrivals: whether any is recorded.
        violating_deliveries, violating_pairs: how many deliveries overtake messages that come later, and how many of
            these there are in all.
        fifo: whether none of them has the same sender.
        tells_late, tells_never: whether `faults` tells of a delivery that overtakes messages that come later, or that
            never come. Whoever has heard enough sets them to False; they are counted still.
        received: (process, message) of each arrival of a message that is not delivered everywhere, by its number.
    """

    __slots__ = (
        "_awaited",
        "_deliverers",
        "_events",
        "_logs",
        "_pending",
        "_positions",
        "_under_way",
        "_width",
        "arrivals",
        "deliveries",
        "fifo",
        "received",
        "sends",
        "tells_late",
        "tells_never",
        "violating_deliveries",
        "violating_pairs",
    )

    def __init__(self, execution: Execution) -> None:
        self._events = PackedEvents.of(execution)
        self._under_way: list[UnderWay | None] = []  # of each message, None where it is delivered everywhere
        self._logs = [array("I") for _ in range(execution.processes)]
        self._positions = array("I")
        self._width = width_of(len(execution.events))
        self._pending: list[dict[int, Queue[UnderWay]]] = [{} for _ in range(execution.processes)]
        self._deliverers: list[int] = []  # worked out for the first overtaking: most executions have none
        self._awaited: dict[int, Awaited] = {}  # of each process that overtook
        self.sends = self.deliveries = self.violating_deliveries = self.violating_pairs = 0
        self.fifo = self.tells_late = self.tells_never = True
        self.arrivals = False
        self.received: set[tuple[int, int]] = set()

    def faults(self) -> Iterator[Fault]:
        """The wrong deliveries, in order. To be called once.

        Raises:
            ValueError: the events are not an execution.
        """
        events = self._events
        count = events.processes
        width = self._width
        guard, nothing = width - 1, (1 << width - 1) - 1
        shifts = range(0, count * width, width)
        units = [1 << shift for shift in shifts]
        bits = [1 << process for process in range(count)]
        ones = sum(units)
        guards = ones << guard
        known = [0] * count
        pending, awaited, overtakers = self._pending, self._awaited, 0
        self.sends, self.deliveries = events.kinds.count(SEND), events.kinds.count(DELIVER)
        untold = 0  # the processes whose queues are of no use any more, see `_untold`
        heads = [ones * nothing] * count  # of each queue the number of its first message
        empty = [(1 << count) - 1] * count  # of each sender the destinations whose queue is empty
        routes: list[dict[int, Route]] = [{} for _ in range(count)]
        room = MOST_ROUTED
        under_way, logs, positions = self._under_way, self._logs, self._positions
        columns = zip(events.kinds, events.places, events.numbers, strict=True)
        for index, (kind, process, message) in enumerate(columns):
            if kind == DELIVER:
                record, bit = under_way[message], bits[process]
                if record is None or not record.undelivered & bit:
                    sent_here = process in events.destinations[events.routes[message]]
                    yield Fault("duplicate" if sent_here else "phantom", index, process, message)
                    continue
                record.undelivered ^= bit
                logs[process].append(message)
                sender, past, here = record.sender, record.past, known[process]
                larger = (past - here) & guards  # the guards of the fields where `past` is not less
                known[process] = here ^ ((here ^ past) & (larger - (larger >> guard)))
                if untold & bit:
                    one = awaited[process]
                    one.delivered(sender, record.number)
                    late = one.late(past)
                    if late:
                        self.violating_deliveries += 1
                        self.violating_pairs += late
                    if not record.undelivered:
                        under_way[message] = None
                        record.past = 0
                    continue
                queue = pending[process][sender]
                before = queue.messages[0].number
                after = queue.remove(record)
                if after > nothing:
                    after = nothing
                if after != before:
                    heads[process] += (after - before) << shifts[sender]
                    if after == nothing:
                        empty[sender] |= bit
                if overtakers & bit:
                    awaited[process].delivered(sender, record.number)
                if (past - heads[process]) & guards:
                    if not overtakers & bit:
                        overtakers |= bit
                        self._begin_awaiting(process)
                    late, of_sender, never = awaited[process].overtaken(past, sender, record.number)
                    if late:
                        self.violating_deliveries += 1
                        self.violating_pairs += late
                        self.fifo = self.fifo and not of_sender
                    if (late and self.tells_late) or (never and self.tells_never):
                        yield Fault("overtaking", index, process, message, past, late, of_sender, never)
                    if not (self.tells_late or self.tells_never or self.fifo):
                        untold = self._untold(overtakers, untold)
                if not record.undelivered:
                    under_way[message] = None
                    record.past = 0  # it may still stand in a queue
            elif kind == SEND:
                shift, log = shifts[process], logs[process]
                known[process] = past = known[process] + units[process]
                number = past >> shift & nothing
                past |= guards
                place = events.routes[message]
                route = routes[process].get(place)
                if route is None:
                    destinations = events.destinations[place]
                    route = self._route(index, process, destinations)
                    if room > 0:
                        room -= 1 + len(destinations)
                        routes[process][place] = route
                mask, appends = route
                record = UnderWay(message, process, number, mask, past)
                under_way.append(record if mask else None)
                positions.append(len(log))
                log.append(message)
                if mask & untold:
                    if mask & ~untold:
                        self._put(record, mask & ~untold)
                else:
                    for append in appends:
                        append(record)
                fresh = mask & empty[process] & ~untold
                empty[process] ^= fresh
                while fresh:
                    destination = fresh.bit_length() - 1
                    fresh ^= 1 << destination
                    heads[destination] += (number - nothing) << shift
                touched = mask & overtakers
                while touched:
                    destination = touched.bit_length() - 1
                    touched ^= 1 << destination
                    if self._deliverers[message] & bits[destination]:
                        awaited[destination].sent(process, number)
                    else:
                        awaited[destination].lost(process, number)
            elif kind == OTHER:
                self._other(index, message)
        if RECEIVE in events.kinds:
            self.arrivals = True
            columns = zip(events.kinds, events.places, events.numbers, strict=True)
            self.received |= {
                (process, message) for kind, process, message in columns if kind == RECEIVE and under_way[message]
            }

    def _other(self, index: int, place: int) -> None:
        """Judge an event that is in no column. Raises ValueError: no execution has it."""
        event = self._events.others[place]
        if isinstance(event, Send | Deliver):
            if not 0 <= event.process < self._events.processes:
                raise _no_process(index, event.process, self._events.processes)
            what = "sent a second time" if isinstance(event, Send) else "delivered before it is sent"
            raise ValueError(f"event {index}: message {event.message!r} is {what}")
        if isinstance(event, Receive):
            self.arrivals = True
            message = self._events.names.number(event.message)
            if message is not None:
                self.received.add((event.process, message))

    def undelivered(self) -> Iterator[UnderWay]:
        """The messages that are not delivered everywhere, in the order of sending."""
        return (record for record in self._under_way if record is not None)

    def name(self, message: int) -> str:
        """The name of the message of this number."""
        return self._events.names[message]

    def sent_at(self, message: int) -> int:
        """The position of the send of the message of this number."""
        return self._events.starts[message]

    def chain(self, first: int, last: int) -> tuple[int, ...]:
        """A shortest chain of direct steps from one message to another, by their numbers."""
        return shortest_chain(self._logs, self._events.senders, self._positions, first, last)

    def missing(self, fault: Fault) -> tuple[list[int], list[int]]:
        """The numbers of the overtaken messages that come later and of those that never come, in the order of sending.

        To be called before the next fault is asked for.
        """
        late: list[int] = []
        never: list[int] = []
        process, bit = fault.process, 1 << fault.process
        field = (1 << self._width - 1) - 1
        for sender, queue in self._pending[process].items():
            limit = fault.past >> sender * self._width & field
            for earlier in queue.messages:
                if earlier.number > limit:
                    break
                if earlier.undelivered & bit:
                    (late if self._deliverers[earlier.message] & bit else never).append(earlier.message)
        return sorted(late), sorted(never)

    def _untold(self, overtakers: int, before: int) -> int:
        """The processes of which nothing is told any more, and little counted: those that overtook, once nobody asks
        what is missing. What they await is known by numbers, and their queues are let go of."""
        fresh = overtakers & ~before
        while fresh:
            process = fresh.bit_length() - 1
            fresh ^= 1 << process
            self._pending[process].clear()
        return overtakers

    def _put(self, record: UnderWay, mask: int) -> None:
        """Put a message into the queues of these destinations, to which there is a route."""
        while mask:
            destination = mask.bit_length() - 1
            mask ^= 1 << destination
            self._pending[destination][record.sender].messages.append(record)

    def _begin_awaiting(self, process: int) -> None:
        """A process overtakes for the first time: messages to it are counted from now on."""
        if not self._deliverers:
            self._deliverers = deliverers(self._events)
        pending = {sender: queue.messages for sender, queue in self._pending[process].items()}
        self._awaited[process] = Awaited(process, self._events.processes, self._width)
        self._awaited[process].begin(pending, self._deliverers)

    def _route(self, index: int, process: int, destinations: tuple[int, ...]) -> Route:
        """The destinations as a mask, and what puts a message into the queue of each."""
        mask = 0
        for destination in destinations:
            if not 0 <= destination < self._events.processes:
                raise _no_process(index, destination, self._events.processes)
            mask |= 1 << destination
        appends = []
        for destination in {*destinations}:
            queues = self._pending[destination]
            if process not in queues:
                queues[process] = Queue(1 << destination)
            appends.append(queues[process].messages.append)
        return mask, tuple(appends)


def _no_process(index: int, process: int, count: int) -> ValueError:
    return ValueError(f"event {index}: no process {process}: processes are 0 to {count - 1}")
