"""What is wrong with a finished execution, found in one pass over its events.

It judges as `thence.spec.oracle` does, and tests hold the two against each other. The oracle compares vectors of counts
entry by entry; here a vector is one number with a field for each process, so that comparing two vectors, or taking
their maximum, is a few operations on numbers, whatever the number of processes.

NOTE(fields): a field has `width` bits, and the uppermost of them, its guard, is 0 in a vector. With all guards of `a`
set, `a - b` borrows from no other field, and the guard of a field stays set exactly where `a >= b` in that field.
A field is a whole number of machine words wide, so that a vector is taken apart in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from thence.spec.awaited import Awaited, deliverers, width_of
from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.happens_before import MessageRecord, shortest_chain
from thence.spec.oracle import Queue

PackedRecord: TypeAlias = MessageRecord[int]
"""A record whose `past` is one number, with the message itself among its past. NOTE(fields)."""

Route: TypeAlias = tuple[int, tuple[Callable[[PackedRecord], None], ...]]
"""A set of destinations as a mask, and what puts a message into each of their queues."""

MOST_ROUTED: Final = 1_000_000
"""Routes are kept as long as they have no more destinations than this, all together."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A delivery that is wrong.

    Attributes:
        kind: `overtaking`: over predecessors that are not delivered yet; `duplicate`: delivered here before;
            `phantom`: not sent to this process.
        index: position of the delivery.
        message: the delivered one.
        late: how many predecessors come later. `FinishedRun.missing` names them.
        late_from_sender: whether one of them has the same sender.
        never: whether a predecessor never comes.
    """

    kind: Literal["overtaking", "duplicate", "phantom"]
    index: int
    process: int
    message: PackedRecord
    late: int = 0
    late_from_sender: bool = False
    never: bool = False


class FinishedRun:
    """A finished execution under examination. The attributes are complete when `faults` has come to its end.

    Attributes:
        sends, deliveries: how many there are.
        received: (process, message) of each arrival.
    """

    __slots__ = (
        "_awaited",
        "_deliverers",
        "_execution",
        "_logs",
        "_pending",
        "_records",
        "_width",
        "deliveries",
        "received",
        "sends",
    )

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._records: dict[str, PackedRecord] = {}
        self._logs: list[list[PackedRecord]] = [[] for _ in range(execution.processes)]
        self._width = width_of(len(execution.events))
        self._pending: list[dict[int, Queue[int]]] = [{} for _ in range(execution.processes)]
        self._deliverers: dict[str, int] = {}  # worked out for the first overtaking: most executions have none
        self._awaited: dict[int, Awaited] = {}  # of each process that overtook
        self.sends = self.deliveries = 0
        self.received: set[tuple[int, str]] = set()

    def faults(self) -> Iterator[Fault]:
        """The wrong deliveries, in order. To be called once.

        Raises:
            ValueError: the events are not an execution.
        """
        count = self._execution.processes
        width = self._width
        guard, nothing = width - 1, (1 << width - 1) - 1
        shifts = range(0, count * width, width)
        units = [1 << shift for shift in shifts]
        ones = sum(units)
        guards = ones << guard
        known = [0] * count
        pending, awaited, overtakers = self._pending, self._awaited, 0
        heads = [ones * nothing] * count  # of each queue the number of its first message
        empty = [(1 << count) - 1] * count  # of each sender the destinations whose queue is empty
        routes: list[dict[tuple[int, ...], Route]] = [{} for _ in range(count)]
        room = MOST_ROUTED
        records, logs = self._records, self._logs
        for index, event in enumerate(self._execution.events):
            process = event.process
            if isinstance(event, Deliver):
                if not 0 <= process < count:
                    raise _no_process(index, process, count)
                self.deliveries += 1
                record = records.get(event.message)
                if record is None:
                    raise ValueError(f"event {index}: message {event.message!r} is delivered before it is sent")
                bit = 1 << process
                if not record.undelivered & bit:
                    yield Fault("duplicate" if record.destinations & bit else "phantom", index, process, record)
                    continue
                record.undelivered ^= bit
                logs[process].append(record)
                sender, past, here = record.sender, record.past, known[process]
                queue = pending[process][sender]
                before = queue.messages[0].number
                after = min(queue.remove(record), nothing)
                if after != before:
                    heads[process] += (after - before) << shifts[sender]
                    if after == nothing:
                        empty[sender] |= bit
                if overtakers & bit:
                    awaited[process].delivered(sender, record.number)
                larger = ((here | guards) - past) & guards  # the guards of the fields where `here` is not less
                if larger != guards:
                    known[process] = past ^ ((here ^ past) & (larger - (larger >> guard)))
                if ((past | guards) - heads[process]) & guards:
                    overtakers |= bit
                    yield self._overtaking(index, process, record)
                if not record.undelivered:
                    record.past = 0
            elif isinstance(event, Send):
                if not 0 <= process < count:
                    raise _no_process(index, process, count)
                name = event.message
                if name in records:
                    raise ValueError(f"event {index}: message {name!r} is sent a second time")
                self.sends += 1
                shift, log = shifts[process], logs[process]
                known[process] = past = known[process] + units[process]
                number = past >> shift & nothing
                route = routes[process].get(event.destinations)
                if route is None:
                    route = self._route(index, process, event.destinations)
                    if room > 0:
                        room -= 1 + len(event.destinations)
                        routes[process][event.destinations] = route
                mask, appends = route
                records[name] = record = MessageRecord(name, process, number, index, len(log), mask, past)
                log.append(record)
                for append in appends:
                    append(record)
                fresh = mask & empty[process]
                empty[process] ^= fresh
                while fresh:
                    destination = fresh.bit_length() - 1
                    fresh ^= 1 << destination
                    heads[destination] += (number - nothing) << shift
                touched = mask & overtakers
                while touched:
                    destination = touched.bit_length() - 1
                    touched ^= 1 << destination
                    comes = self._deliverers.get(name, 0) >> destination & 1
                    awaited[destination].sent(process, number, comes=bool(comes))
            elif isinstance(event, Receive):
                self.received.add((process, event.message))

    def undelivered(self) -> Iterator[PackedRecord]:
        """The messages that are not delivered everywhere, in the order of sending."""
        return (record for record in self._records.values() if record.undelivered)

    def chain(self, first: str, last: str) -> tuple[str, ...]:
        """A shortest chain of direct steps from one message to another."""
        return shortest_chain(self._logs, self._records[first], self._records[last])

    def missing(self, fault: Fault) -> tuple[list[PackedRecord], list[PackedRecord]]:
        """The overtaken messages that come later and those that never come, in the order of sending.

        To be called before the next fault is asked for.
        """
        late: list[PackedRecord] = []
        never: list[PackedRecord] = []
        process, past, bit = fault.process, fault.message.past, 1 << fault.process
        field = (1 << self._width) - 1
        for sender, queue in self._pending[process].items():
            limit = past >> sender * self._width & field
            for earlier in queue.messages:
                if earlier.number > limit:
                    break
                if earlier.undelivered & bit:
                    (late if self._deliverers.get(earlier.name, 0) & bit else never).append(earlier)
        for found in (late, never):
            found.sort(key=lambda earlier: earlier.event_index)
        return late, never

    def _overtaking(self, index: int, process: int, record: PackedRecord) -> Fault:
        """The fault of a delivery over undelivered predecessors. Messages to its process are counted from now on."""
        if not self._deliverers:
            self._deliverers = deliverers(self._execution)
        if process not in self._awaited:
            pending = {sender: queue.messages for sender, queue in self._pending[process].items()}
            self._awaited[process] = Awaited(process, self._execution.processes, self._width)
            self._awaited[process].begin(pending, self._deliverers)
        here = self._awaited[process]
        return Fault(
            "overtaking",
            index,
            process,
            record,
            here.within(record.past),
            here.from_sender(record.sender, record.number),
            here.never_within(record.past),
        )

    def _route(self, index: int, process: int, destinations: tuple[int, ...]) -> Route:
        """The destinations as a mask, and what puts a message into the queue of each."""
        mask = 0
        for destination in destinations:
            if not 0 <= destination < self._execution.processes:
                raise _no_process(index, destination, self._execution.processes)
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
