"""What is wrong with a finished execution, found in one pass over its events.

It judges as `thence.spec.oracle` does, and tests hold the two against each other. The oracle compares vectors of counts
entry by entry; here a vector is one number with a field for each process, so that comparing two vectors, or taking
their maximum, is a few operations on numbers, whatever the number of processes.

NOTE(fields): a field has `width` bits, and the uppermost of them, its guard, is 0 in a vector. With all guards of `a`
set, `a - b` borrows from no other field, and the guard of a field stays set exactly where `a >= b` in that field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.happens_before import MessageRecord, shortest_chain
from thence.spec.oracle import Finding, Queue

PackedRecord: TypeAlias = MessageRecord[int]
"""A record whose `past` is one number, with the message itself among its past. NOTE(fields)."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A delivery that is wrong.

    Attributes:
        kind: `overtaking`: over predecessors that are not delivered yet; `duplicate`: delivered here before;
            `phantom`: not sent to this process.
        index: position of the delivery.
        message: the delivered one.
        missing: the predecessors, in the order of their sends.
    """

    kind: Literal["overtaking", "duplicate", "phantom"]
    index: int
    process: int
    message: PackedRecord
    missing: tuple[PackedRecord, ...] = ()


class FinishedRun:
    """A finished execution under examination. The attributes are complete when `faults` has come to its end.

    Attributes:
        sends, deliveries: how many there are.
        received: (process, message) of each arrival.
    """

    __slots__ = ("_execution", "_logs", "_records", "deliveries", "received", "sends")

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._records: dict[str, PackedRecord] = {}
        self._logs: list[list[PackedRecord]] = [[] for _ in range(execution.processes)]
        self.sends = self.deliveries = 0
        self.received: set[tuple[int, str]] = set()

    def faults(self) -> Iterator[Fault]:
        """The wrong deliveries, in order. To be called once.

        Raises:
            ValueError: the events are not an execution.
        """
        count = self._execution.processes
        width = len(self._execution.events).bit_length() + 2
        guard, nothing = width - 1, (1 << width - 1) - 1
        shifts = range(0, count * width, width)
        units = [1 << shift for shift in shifts]
        ones = sum(units)
        guards = ones << guard
        known = [0] * count
        pending: list[dict[int, Queue[int]]] = [{} for _ in range(count)]
        heads = [ones * nothing] * count  # of each queue the number of its first message
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
                larger = ((here | guards) - past) & guards  # the guards of the fields where `here` is not less
                if larger != guards:
                    known[process] = past ^ ((here ^ past) & (larger - (larger >> guard)))
                if ((past | guards) - heads[process]) & guards:
                    yield Fault("overtaking", index, process, record, self._missing(pending[process], record, width))
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
                mask = 0
                for destination in event.destinations:
                    if not 0 <= destination < count:
                        raise _no_process(index, destination, count)
                    mask |= 1 << destination
                records[name] = record = MessageRecord(name, process, number, index, len(log), mask, past)
                log.append(record)
                while mask:
                    destination = mask.bit_length() - 1
                    mask ^= 1 << destination
                    queues = pending[destination]
                    if process not in queues:
                        queues[process] = Queue(1 << destination)
                    messages = queues[process].messages
                    if not messages:
                        heads[destination] += (number - nothing) << shift
                    messages.append(record)
            elif isinstance(event, Receive):
                self.received.add((process, event.message))

    def undelivered(self) -> tuple[Finding, ...]:
        """One `stuck` for each message and destination that has not delivered it, in the order of sending."""
        return tuple(
            Finding("stuck", process, record.name, (), record.event_index)
            for record in self._records.values()
            if record.undelivered
            for process in range(self._execution.processes)
            if record.undelivered >> process & 1
        )

    def chain(self, first: str, last: str) -> tuple[str, ...]:
        """A shortest chain of direct steps from one message to another."""
        return shortest_chain(self._logs, self._records[first], self._records[last])

    def _missing(self, queues: dict[int, Queue[int]], record: PackedRecord, width: int) -> tuple[PackedRecord, ...]:
        """The messages in the queues of a process that happen before the one that it delivers."""
        missing: list[PackedRecord] = []
        bit, field = queues[record.sender].bit, (1 << width) - 1
        for sender, queue in queues.items():
            limit = record.past >> sender * width & field
            for earlier in queue.messages:
                if earlier.number > limit:
                    break
                if earlier.undelivered & bit:
                    missing.append(earlier)
        missing.sort(key=lambda earlier: earlier.event_index)
        return tuple(missing)


def _no_process(index: int, process: int, count: int) -> ValueError:
    return ValueError(f"event {index}: no process {process}: processes are 0 to {count - 1}")
