"""The log of each process in a protocol's terms: sends, arrivals, deliveries and inputs, messages numbered by sender.

A replay needs nothing else of an execution: neither contents of messages nor times. Arrivals may be missing, one by one
or altogether.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, PROCESS
from thence.dsl.run.values import Message
from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send
from thence.spec.happens_before import HappensBefore

NOT_LOGGED: Final = sys.maxsize
"""Place of a delivery that a log does not have."""


class Unfit(ValueError):
    """An execution of another kind of system: its messages go where no message of the protocol can go."""


class Sending(NamedTuple):
    """The process causal-sends its message of that number, from 0. `at`: the position in the execution."""

    number: int
    destinations: tuple[int, ...]
    at: int


class Arrival(NamedTuple):
    """A packet with the message arrives from `sender`."""

    message: str
    sender: int
    at: int


class Delivery(NamedTuple):
    """The message is handed over."""

    message: str
    at: int


class Having(NamedTuple):
    """The application has an input of its own."""

    name: str
    arguments: tuple[int, ...]
    at: int


Entry: TypeAlias = Sending | Arrival | Delivery | Having


@dataclass(slots=True)
class ProcessLogs:
    """The logs of an execution's processes. Messages have the names that the protocol's messages have.

    Attributes:
        execution: the recorded events.
        entries: the log of each process.
        messages: by the protocol's name.
        names: the execution's name of each message.
        arrivals: for each process, the place of the last arrival of a message in its log.
        deliveries: for each process, the place of the first delivery of a message in its log.
        all_arrivals: by the logs, every message that a process delivers has arrived there before, as often as it is
            delivered. Then the log has every arrival of a message of which it has one.
    """

    execution: Execution
    entries: tuple[tuple[Entry, ...], ...]
    messages: dict[str, Message]
    names: dict[str, str]
    arrivals: tuple[dict[str, int], ...]
    deliveries: tuple[dict[str, int], ...]
    all_arrivals: bool
    _order: list[HappensBefore] = field(default_factory=list)

    def shows(self, process: int, message: str) -> bool:
        """Whether the delivery of the message at the process would be logged. One to its own sender often is not."""
        known = self.messages[message]
        return known.src != process or process in known.dsts or message in self.deliveries[process]

    def last_arrival(self, process: int, message: str) -> int:
        """The place in the process's log of the message's last arrival, -1 where it has none."""
        return self.arrivals[process].get(message, -1)

    def before(self, first: str, second: str) -> bool:
        """Whether the first message happens before the second, by sends and deliveries."""
        if not self._order:
            self._order.append(HappensBefore(self.execution))
        return self._order[0].before(self.names[first], self.names[second])

    def event(self, at: int) -> Event:
        """The event at a position of the execution."""
        return self.execution.events[at]


def logs_of(execution: Execution) -> ProcessLogs:
    """The logs of an execution.

    Raises:
        ValueError: it is none: a message is sent twice, or arrives or is delivered before it is sent.
    """
    count = execution.processes
    entries: list[list[Entry]] = [[] for _ in range(count)]
    arrivals: list[dict[str, int]] = [{} for _ in range(count)]
    deliveries: list[dict[str, int]] = [{} for _ in range(count)]
    sent = [0] * count
    unarrived: list[tuple[int, Message]] = []
    counts: Counter[tuple[str, int, str]] = Counter()
    known: dict[str, Message] = {}

    def named(event: Receive | Deliver, at: int) -> str:
        if event.message not in known:
            raise ValueError(f"event {at}: message {event.message!r} comes before it is sent")
        return known[event.message].name

    for at, event in enumerate(execution.events):
        process = event.process
        match event:
            case Send(message=message, destinations=destinations):
                if message in known:
                    raise ValueError(f"event {at}: message {message!r} is sent a second time")
                to = tuple(sorted(set(destinations)))
                known[message] = Message(process, sent[process], to)
                entries[process].append(Sending(sent[process], to, at))
                sent[process] += 1
            case Receive(sender=sender):
                name = named(event, at)
                counts["arrives", process, name] += 1
                arrivals[process][name] = len(entries[process])
                entries[process].append(Arrival(name, sender, at))
            case Deliver():
                name = named(event, at)
                counts["delivered", process, name] += 1
                if counts["delivered", process, name] > counts["arrives", process, name]:
                    unarrived.append((process, known[event.message]))
                deliveries[process].setdefault(name, len(entries[process]))
                entries[process].append(Delivery(name, at))
            case Input(name=name, arguments=arguments):
                entries[process].append(Having(name, arguments, at))
            case _:
                assert_never(event)
    # A process may deliver its own message without an arrival; if this one arrives there later, it does arrive.
    all_arrivals = all(each.src == process and each.name not in arrivals[process] for process, each in unarrived)
    return ProcessLogs(
        execution,
        tuple(map(tuple, entries)),
        {message.name: message for message in known.values()},
        {message.name: name for name, message in known.items()},
        tuple(arrivals),
        tuple(deliveries),
        all_arrivals,
    )


def _are_values(arguments: Sequence[int], parameters: Sequence[ir.Variable], processes: int) -> bool:
    """Whether the arguments of an input are values of its parameters."""
    if len(arguments) != len(parameters):
        return False
    for value, parameter in zip(arguments, parameters, strict=True):
        if isinstance(value, bool) is not (parameter.type == BOOL):
            return False
        if parameter.type == PROCESS and value >= processes:
            return False
    return True


def require_fit(logs: ProcessLogs, protocol: ir.Protocol) -> None:
    """Raises Unfit where a message goes to processes that no message of the protocol can go to, or an input is none of
    its inputs."""
    count = logs.execution.processes
    inputs = {handler.kind: handler.parameters for handler in protocol.inputs}
    for entry in chain.from_iterable(logs.entries):
        if isinstance(entry, Having):
            parameters = inputs.get(entry.name)
            if parameters is None:
                raise Unfit(f"there is the input {entry.name}, and {protocol.name} has no such input")
            if not _are_values(entry.arguments, parameters, count):
                said = Input(0, entry.name, entry.arguments).label
                raise Unfit(f"there is the input {said}, whose arguments are none of {protocol.name}'s input")
    sends = any(handler.event == "causal_send" for handler in protocol.handlers)
    if logs.messages and not sends:
        raise Unfit(f"messages are sent, and the application of {protocol.name} sends none")
    for name, message in logs.messages.items():
        to = ", ".join(f"p{process}" for process in message.dsts) or "nobody"
        said = f"message {logs.names[name]!r} goes to {to}"
        match protocol.delivery:
            case "unicast":
                if len(message.dsts) != 1:
                    raise Unfit(f"{said}, and each message of {protocol.name} goes to one process")
            case "multicast":
                if not message.dsts:
                    raise Unfit(f"{said}, and each message of {protocol.name} goes to one process at least")
            case "broadcast":
                if len(set(message.dsts) - {message.src}) != count - 1:
                    raise Unfit(f"{said}, and each message of {protocol.name} goes to all the others")
            case _:
                assert_never(protocol.delivery)
