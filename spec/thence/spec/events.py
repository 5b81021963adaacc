"""Events and executions, as an outside observer sees them: no protocol metadata.

Processes are numbered from 0. A message is named by a string that is unique in its execution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from thence.spec.value import value


@value
class Send:
    """The application of `process` causal-sends `message` (the c event of Almeida, section 4.1)."""

    process: int
    message: str
    destinations: tuple[int, ...]


@value
class Receive:
    """A packet that carries `message` arrives at `process` from `sender`."""

    process: int
    message: str
    sender: int


@value
class Deliver:
    """`message` is handed over to the application of `process`."""

    process: int
    message: str


@value
class Input:
    """The application of `process` has an input of its own, with these arguments: it asks for a lock, it votes."""

    process: int
    name: str
    arguments: tuple[int, ...]

    @property
    def label(self) -> str:
        """The input in pictures and sentences, as in specifications."""
        return f"{self.name}({', '.join(str(one).lower() for one in self.arguments)})"


@value
class Passage:
    """The way of a packet of the protocol, where the observer sees the protocol.

    `kind` is that of the packet. `message` is the one that it carries, None for a control packet. `sent` and `arrived`
    are the numbers of the steps; `arrived` is None where it is on its way at the end, or lost.
    """

    kind: str
    message: str | None
    source: int
    destination: int
    sent: int
    arrived: int | None


@value
class Aside:
    """What is no event, and happened in a step: a timer fired, or the network lost or duplicated a packet.

    `name` is that of the timer, or of the kind of the packet, which was on its way from `source` to `destination` with
    `message`, None for a control packet; a timer is of `source`. `step` is its number. `packet`: its place among the
    packets of the execution; -1 if it has none.
    """

    kind: Literal["timer", "lost", "duplicated"]
    name: str
    message: str | None
    source: int
    destination: int
    step: int
    packet: int


def printable(name: str) -> str:
    """A name from a file or from a system as it may stand in a line of text: what is not printable is escaped.

    A name could otherwise end the line and begin another one, move the cursor of a terminal, or turn the text round.
    """
    if name.isprintable():
        return name
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in name)


Event: TypeAlias = Send | Receive | Deliver | Input


def message_of(event: Event) -> str | None:
    """The message that the event is about; None of an input."""
    return None if isinstance(event, Input) else event.message


@dataclass(frozen=True, slots=True)
class Execution:
    """Events in one global order that respects each process's own order. `processes` is their number.

    `events` is a tuple, or `PackedEvents` where a long recording was read.

    `names` are the names of the processes, if they have any. `steps` are the numbers of the steps that the events
    belong to, where a numbered run was observed; 0 is a step without a number. `packets` are those of the protocol,
    where they were seen; `asides` is what happened in steps without events. All four take no part in equality.
    """

    processes: int
    events: Sequence[Event]
    names: tuple[str, ...] = field(default=(), compare=False)
    steps: tuple[int, ...] = field(default=(), compare=False)
    packets: tuple[Passage, ...] = field(default=(), compare=False)
    asides: tuple[Aside, ...] = field(default=(), compare=False)

    def unpacked(self) -> Execution:
        """The same with all events as values of their own, for whoever looks at them often or in any order."""
        return replace(self, events=tuple(self.events))

    def name_of(self, process: int) -> str:
        """The name of the process in pictures."""
        return self.names[process] if self.names else f"p{process}"
