"""Happens-before between application messages (Almeida, section 4.1), and chains that witness it.

1. a hb b if a is delivered at a process before that process causal-sends b;
2. a hb b if one process causal-sends a and later b;
3. closed under composition.

Network sends and receives do not matter: no information has reached an application by them.
NOTE(prefix): by rule 2 whoever knows a message knows all earlier ones of its sender. So the past of a message is
one prefix of every process's sends, and a vector of send counts says it exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.spec.events import Deliver, Execution, Receive, Send


class MessageRecord:
    """The record of one message.

    Attributes:
        name: unique in the execution.
        sender: the process that causal-sent it.
        number: its number among the sends of its sender, from 1.
        event_index: position of its causal send in the execution.
        position: position of its causal send in its sender's log.
        destinations: bitmask of the processes that it is for.
        undelivered: bitmask of those that have not delivered it yet.
        past: for every process, how many of its sends happened before this one. NOTE(prefix).
    """

    __slots__ = ("destinations", "event_index", "name", "number", "past", "position", "sender", "undelivered")

    def __init__(
        self,
        name: str,
        sender: int,
        number: int,
        event_index: int,
        position: int,
        destinations: int,
        past: tuple[int, ...],
    ) -> None:
        self.name = name
        self.sender = sender
        self.number = number
        self.event_index = event_index
        self.position = position
        self.destinations = destinations
        self.undelivered = destinations
        self.past = past


def shortest_chain(
    logs: Sequence[Sequence[MessageRecord]], first: MessageRecord, last: MessageRecord
) -> tuple[str, ...]:
    """Names `first`, ..., `last`, each related to the next by rule 1 or 2 alone; as few as possible.

    Args:
        logs: for every process, the messages that it causal-sent and (first) delivered, in its own order.

    Returns:
        The chain, or `()` where `first` does not happen before `last`. Linear in the events.
    """
    successor: dict[MessageRecord, MessageRecord] = {}
    scanned = [0] * len(logs)
    frontier = [last]
    while frontier and first not in successor:
        found: list[MessageRecord] = []
        for message in frontier:
            process = message.sender
            for earlier in logs[process][scanned[process] : message.position]:
                if earlier not in successor and earlier.event_index >= first.event_index:
                    successor[earlier] = message
                    found.append(earlier)
            scanned[process] = max(scanned[process], message.position)
        frontier = found
    if first not in successor:
        return ()
    chain = [first]
    while chain[-1] is not last:
        chain.append(successor[chain[-1]])
    return tuple(message.name for message in chain)


class HappensBefore:
    """The happens-before relation of a finished execution, over message names.

    Raises:
        ValueError: a process is out of range, a message is sent twice, or an unsent one is delivered.
    """

    def __init__(self, execution: Execution) -> None:
        self._logs: list[list[MessageRecord]] = [[] for _ in range(execution.processes)]
        self._records: dict[str, MessageRecord] = {}
        known = [[0] * execution.processes for _ in range(execution.processes)]
        delivered: set[tuple[int, str]] = set()
        for index, event in enumerate(execution.events):
            if not 0 <= event.process < execution.processes:
                raise ValueError(f"event {index}: no process {event.process}")
            log = self._logs[event.process]
            past = known[event.process]
            match event:
                case Send(process, name, destinations):
                    if name in self._records:
                        raise ValueError(f"event {index}: message {name!r} is sent a second time")
                    mask = sum(1 << destination for destination in set(destinations))
                    record = MessageRecord(name, process, past[process] + 1, index, len(log), mask, tuple(past))
                    self._records[name] = record
                    past[process] += 1
                    log.append(record)
                case Deliver(process, name):
                    if name not in self._records:
                        raise ValueError(f"event {index}: message {name!r} is delivered before it is sent")
                    if (process, name) not in delivered:
                        delivered.add((process, name))
                        record = self._records[name]
                        for other, count in enumerate(record.past):
                            past[other] = max(past[other], count)
                        past[record.sender] = max(past[record.sender], record.number)
                        log.append(record)
                case Receive():
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
        return shortest_chain(self._logs, self._records[first], self._records[second])
