"""Executions under construction from a format that names its processes: names become numbers, as they turn up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from thence.spec.events import Deliver, Event, Input, Receive, Send
from thence.spec.logs import Log, LogError, merged
from thence.spec.trace import Trace


class Recording:
    """Collects the events of named processes, each process's in its own order."""

    __slots__ = ("_destinations", "_logs", "_numbers")

    def __init__(self, processes: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        self._logs: list[list[Event]] = []
        self._destinations: dict[str, list[int] | None] = {}
        for name in processes:
            self._number(name)

    def send(self, process: str, message: str, destinations: Iterable[str] | None) -> None:
        """`destinations` None: whoever receives or delivers it. LogError if the message is sent already."""
        if message in self._destinations:
            raise LogError(f"message {message!r} is sent a second time, by {process}")
        number = self._number(process)
        known = None if destinations is None else [self._number(name) for name in destinations]
        self._destinations[message] = known
        self._logs[number].append(Send(number, message, tuple(known or ())))

    def receive(self, process: str, message: str, sender: str) -> None:
        """A packet that carries `message` arrives."""
        number = self._number(process)
        self._logs[number].append(Receive(number, message, self._number(sender)))

    def deliver(self, process: str, message: str) -> None:
        """`message` is handed over to the application of `process`."""
        number = self._number(process)
        self._logs[number].append(Deliver(number, message))

    def input(self, process: str, name: str, arguments: Sequence[int]) -> None:
        """The application of `process` has an input of its own."""
        number = self._number(process)
        self._logs[number].append(Input(number, name, tuple(arguments)))

    def trace(self, header: Mapping[str, Any]) -> Trace:
        """The execution, merged by message matching. Raises LogError where that fails or nothing was recorded."""
        if not self._logs:
            raise LogError("there is no event in it")
        reached: dict[str, set[int]] = {}
        for log in self._logs:
            for event in log:
                if isinstance(event, Receive | Deliver):
                    reached.setdefault(event.message, set()).add(event.process)
        names = tuple(self._numbers)
        logs = [
            Log(name, tuple(self._addressed(event, reached) for event in log))
            for name, log in zip(names, self._logs, strict=True)
        ]
        return Trace(merged(logs, len(names), names), header)

    def _addressed(self, event: Event, reached: Mapping[str, set[int]]) -> Event:
        if isinstance(event, Send) and self._destinations[event.message] is None:
            return Send(event.process, event.message, tuple(sorted(reached.get(event.message, ()))))
        return event

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self._numbers)
            self._logs.append([])
        return self._numbers[name]
