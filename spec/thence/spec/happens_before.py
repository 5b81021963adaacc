"""Happens-before between application messages (Almeida, section 4.1), and chains that witness it.

1. a hb b if a is delivered at a process before that process causal-sends b;
2. a hb b if one process causal-sends a and later b;
3. closed under composition.

Network sends and receives do not matter: no information has reached an application by them.
NOTE(prefix): by rule 2 whoever knows a message knows all earlier ones of its sender. So the past of a message is
one prefix of every process's sends, and a vector of send counts says it exactly.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

from thence.spec.events import Deliver, Execution, Input, Receive, Send

Past = TypeVar("Past")


class MessageRecord(Generic[Past]):
    """The record of one message.

    Attributes:
        name: unique in the execution.
        sender: the process that causal-sent it.
        number: its number among the sends of its sender, from 1.
        event_index: position of its causal send in the execution.
        message: its number among the messages of the execution, from 0 in the order of sending.
        destinations: bitmask of the processes that it is for.
        undelivered: bitmask of those that have not delivered it yet.
        past: for every process, how many of its sends happened before this one: a tuple, or packed into one number
            (`thence.spec.finished_run`). NOTE(prefix).
    """

    __slots__ = ("destinations", "event_index", "message", "name", "number", "past", "sender", "undelivered")

    def __init__(
        self,
        name: str,
        sender: int,
        number: int,
        event_index: int,
        message: int,
        destinations: int,
        past: Past,
    ) -> None:
        self.name = name
        self.sender = sender
        self.number = number
        self.event_index = event_index
        self.message = message
        self.destinations = destinations
        self.undelivered = destinations
        self.past = past


Record: TypeAlias = MessageRecord[tuple[int, ...]]
"""A record with a vector of counts."""


class _Step:
    """A message on the way back from the last one of a chain, and the step after it."""

    __slots__ = ("after", "message")

    def __init__(self, message: int, after: _Step | None) -> None:
        self.message = message
        self.after = after


def shortest_chain(
    logs: Sequence[Sequence[int]], senders: Sequence[int], positions: Sequence[int], first: int, last: int
) -> tuple[int, ...]:
    """The messages `first`, ..., `last`, each related to the next by rule 1 or 2 alone; as few as possible.

    The search goes backwards from `last`. The direct predecessors of a message are a prefix of its sender's log, so of
    each sender only the latest message that was met matters, and each log is read once at most.

    Args:
        logs: for every process, the messages that it causal-sent and (first) delivered, in its own order. Messages are
            numbered from 0.
        senders: of each message.
        positions: of each message, the position of its causal send in its sender's log.

    Returns:
        The chain, or `()` where `first` does not happen before `last`. Time is linear in the events, memory in the
        processes.
    """
    furthest = [0] * len(logs)  # the position of the latest message of each sender that was met
    scanned = [0] * len(logs)
    frontier = {senders[last]: _Step(last, None)}
    while frontier:
        ends = {process: positions[step.message] for process, step in frontier.items()}
        unread = {process: logs[process][scanned[process] : end] for process, end in ends.items()}
        for process, step in frontier.items():
            if first in unread[process]:
                return _messages(_Step(first, step))
        found: dict[int, _Step] = {}
        for process, step in frontier.items():
            for earlier in unread[process]:
                sender = senders[earlier]
                if sender != process and positions[earlier] > furthest[sender]:
                    furthest[sender] = positions[earlier]
                    found[sender] = _Step(earlier, step)
            scanned[process] = max(scanned[process], ends[process])
        frontier = found
    return ()


def _messages(step: _Step | None) -> tuple[int, ...]:
    messages = []
    while step is not None:
        messages.append(step.message)
        step = step.after
    return tuple(messages)


class SentOrDelivered:
    """What processes causal-sent and delivered: the logs that chains are found in."""

    __slots__ = ("_logs", "_positions", "_senders")

    def __init__(self, processes: int) -> None:
        self._logs = [array("I") for _ in range(processes)]
        self._senders = array("I")
        self._positions = array("I")

    def sent(self, process: int, message: int) -> None:
        """A process causal-sends the next message, of this number."""
        log = self._logs[process]
        self._senders.append(process)
        self._positions.append(len(log))
        log.append(message)

    def delivered(self, process: int, message: int) -> None:
        """A process delivers a message for the first time."""
        self._logs[process].append(message)

    def chain(self, first: int, last: int) -> tuple[int, ...]:
        """As `shortest_chain`."""
        return shortest_chain(self._logs, self._senders, self._positions, first, last)


class HappensBefore:
    """The happens-before relation of a finished execution, over message names.

    Raises:
        ValueError: a process is out of range, a message is sent twice, or an unsent one is delivered.
    """

    def __init__(self, execution: Execution) -> None:
        self._logs = SentOrDelivered(execution.processes)
        self._records: dict[str, Record] = {}
        known = [[0] * execution.processes for _ in range(execution.processes)]
        delivered: set[tuple[int, str]] = set()
        for index, event in enumerate(execution.events):
            if not 0 <= event.process < execution.processes:
                raise ValueError(f"event {index}: no process {event.process}")
            past = known[event.process]
            match event:
                case Send(process, name, destinations):
                    if name in self._records:
                        raise ValueError(f"event {index}: message {name!r} is sent a second time")
                    mask = sum(1 << destination for destination in set(destinations))
                    number = len(self._records)
                    record = MessageRecord(name, process, past[process] + 1, index, number, mask, tuple(past))
                    self._records[name] = record
                    past[process] += 1
                    self._logs.sent(process, number)
                case Deliver(process, name):
                    if name not in self._records:
                        raise ValueError(f"event {index}: message {name!r} is delivered before it is sent")
                    if (process, name) not in delivered:
                        delivered.add((process, name))
                        record = self._records[name]
                        for other, count in enumerate(record.past):
                            past[other] = max(past[other], count)
                        past[record.sender] = max(past[record.sender], record.number)
                        self._logs.delivered(process, record.message)
                case Receive() | Input():
                    pass

    def before(self, first: str, second: str) -> bool:
        """Whether `first` happens before `second`; `KeyError` for a message that was not sent."""
        earlier, later = self._records[first], self._records[second]
        return earlier.number <= later.past[earlier.sender]

    def past(self, message: str) -> Iterator[str]:
        """The messages that happen before `message`, in the order of their sends."""
        later = self._records[message]
        return (name for name, record in self._records.items() if record.number <= later.past[record.sender])

    def chain(self, first: str, second: str) -> tuple[str, ...]:
        """A shortest chain of direct steps from `first` to `second`; `()` where there is none."""
        names = list(self._records)
        chain = self._logs.chain(self._records[first].message, self._records[second].message)
        return tuple(names[message] for message in chain)
