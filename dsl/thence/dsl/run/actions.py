"""The states of a system, the actions that lead from one to the next, and what formulas about actions see of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from thence.dsl import ir
from thence.dsl.run.causality import Finding, History
from thence.dsl.run.choices import Script
from thence.dsl.run.evaluate import Acts
from thence.dsl.run.execute import Delivered, Emission, Guard
from thence.dsl.run.interpreter import Cause
from thence.dsl.run.local_steps import GivenCause
from thence.dsl.run.values import Message, Occurrence, Packet, Value


class State(NamedTuple):
    """A global state. `locals` and `network` are numbers in the system's tables.

    The network is a multiset, kept ascending; on FIFO networks a sequence, each channel in sending order. `places`:
    how many steps of its program each process has made, where there are programs. `ticks`: of each timer
    and input that the scope counts, one after the other, how often it has come at each process. `owed`: the bits of
    what is promised and has not come so far, see `promises`. `follower`: the number of the
    companion's state.
    """

    locals: tuple[int, ...]
    network: tuple[int, ...]
    history: History
    sends: tuple[int, ...]
    ticks: tuple[int, ...]
    duplicates: int
    losses: int
    places: tuple[int, ...] = ()
    owed: int = 0
    follower: int = 0


class Action(NamedTuple):
    """The next event of a run. `packet` is a number in the system's table for receive, duplicate and lose.

    `reactions`: the sends of the application inside deliveries of this step: the number of the delivery in the step,
    and the destinations. `name`: the timer that fires, or the input that the application has, with its `arguments`.
    `script`: the alternatives that the step takes where the protocol chooses.
    """

    kind: Literal["send", "receive", "tick", "input", "duplicate", "lose"]
    process: int
    destinations: tuple[int, ...] = ()
    packet: int = -1
    reactions: tuple[tuple[int, tuple[int, ...]], ...] = ()
    name: str = ir.PERIODICALLY
    arguments: tuple[int, ...] = ()
    script: Script = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state after an action, what the handler emitted, and the properties that it violated.

    `subject` is the message that was sent, or None.
    """

    state: State
    emissions: tuple[Emission, ...]
    findings: tuple[Finding, ...]
    subject: Message | None = None
    guards: tuple[Guard, ...] = ()


class Companion(Protocol):
    """A second system that follows each step of a protocol, such as the machine of a link. Its states have numbers,
    from 0, the initial one; they are `State.follower`."""

    def along(self, state: State, action: Action, outcome: Outcome) -> Outcome:
        """The outcome of the protocol's step in `state`, with the companion's state after it, or what it says against
        the step.

        Raises: Fault, where its own step has no end.
        """

    def broken(self, state: State) -> tuple[Finding, ...]:
        """What it says against a state."""


def cause_of(action: Action, message: Message | None) -> GivenCause:
    """The cause of the action's step; `message` is the one that it sends."""
    if message is not None:
        return message
    return Occurrence(action.name, action.arguments) if action.kind in ("tick", "input") else action.packet


def acts_of(process: int, cause: Cause | None, emissions: Iterable[Emission]) -> Acts:
    """What the process did in a step: the packet that arrived or the input, if any, and each delivery."""
    acted: dict[tuple[str, str | None], tuple[Value, ...]] = {}
    handed = tuple((process, each.message) for each in emissions if isinstance(each, Delivered))
    if handed:
        acted["delivers", None] = handed
    match cause:
        case Packet():
            acted["receives", cause.kind] = ((process, *cause.arguments, cause.src),)
        case Occurrence():
            acted["does", cause.name] = ((process, *cause.arguments),)
        case Message() | None:
            pass
    return acted
