"""Logs of single processes, or of several without a common clock, put together into one execution.

Program order within a log and "sent before received or delivered" are all that is used. Where no order respects both,
the logs contradict each other, and the contradiction is named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send, message_of, printable


class LogError(ValueError):
    """Logs from which no execution can be put together; the message says why."""


@dataclass(frozen=True, slots=True)
class Log:
    """Events in the order in which one observer saw them; `name` is the file, or the process."""

    name: str
    events: tuple[Event, ...]


def merged(logs: Sequence[Log], processes: int, names: tuple[str, ...] = ()) -> Execution:
    """One execution that respects the order of each log and the senders of messages.

    The earliest log goes on as far as it can, then the next: the result depends on the logs and their order alone.

    Raises:
        LogError: a message is sent twice, or received or delivered and never sent; or the logs contradict each other.
    """
    senders = _senders(logs)
    waiting: dict[str, list[int]] = {}
    places = [0] * len(logs)
    events: list[Event] = []
    sent: set[str] = set()
    ready = deque(range(len(logs)))
    while ready:
        index = ready.popleft()
        log = logs[index]
        while places[index] < len(log.events):
            event = log.events[places[index]]
            if isinstance(event, Send):
                sent.add(event.message)
                ready.extend(waiting.pop(event.message, ()))
            elif not isinstance(event, Input) and event.message not in sent:
                if event.message not in senders:
                    raise LogError(f"{log.name}: {_said(event)}, but no log has its send; is a log missing?")
                waiting.setdefault(event.message, []).append(index)
                break
            events.append(event)
            places[index] += 1
    if len(events) < sum(len(log.events) for log in logs):
        raise LogError(_contradiction(logs, places, senders))
    return Execution(processes, tuple(events), names)


def _senders(logs: Sequence[Log]) -> dict[str, int]:
    """The log that has the send of each message."""
    found: dict[str, int] = {}
    for index, log in enumerate(logs):
        for event in log.events:
            if isinstance(event, Send):
                if event.message in found:
                    first = logs[found[event.message]].name
                    raise LogError(f"{log.name}: message {event.message!r} is sent a second time, first in {first}")
                found[event.message] = index
    return found


def _contradiction(logs: Sequence[Log], places: Sequence[int], senders: dict[str, int]) -> str:
    """A cycle: each log waits for a send that comes after what the next one waits for."""

    def waits_for(at: int) -> int:
        """The log with the send that the next event of this log waits for. An input waits for nothing."""
        return senders[message_of(logs[at].events[places[at]]) or ""]

    index = next(at for at, log in enumerate(logs) if places[at] < len(log.events))
    path: list[int] = []
    while index not in path:
        path.append(index)
        index = waits_for(index)
    cycle = path[path.index(index) :]
    parts = [f"{logs[at].name}: {_said(logs[at].events[places[at]])} before its later events" for at in cycle]
    sends = [f"{logs[waits_for(at)].name} sends it only later" for at in cycle]
    return "the logs contradict each other: " + "; ".join(
        f"{part}, but {send}" for part, send in zip(parts, sends, strict=True)
    )


def _said(event: Event) -> str:
    match event:
        case Send(process, message):
            return f"p{process} sends {printable(message)}"
        case Receive(process, message):
            return f"p{process} receives {printable(message)}"
        case Deliver(process, message):
            return f"p{process} delivers {printable(message)}"
        case Input(process):
            return f"p{process} has the input {printable(event.label)}"
