"""The session: a run of a protocol that is made step by step, forwards and backwards."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thence.dsl import ir
from thence.dsl.run.actions import Action, State
from thence.dsl.run.causality import Finding
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import NarratedStep, execution, narrate, record, replay, show_packet
from thence.dsl.run.system import System
from thence.dsl.run.values import Message, show
from thence.spec.events import Execution
from thence.spec.user_error import UserError
from thence.spec.words import counted


class NotPossible(UserError):
    """A step that cannot be made here; the message says why."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A step that can be made now.

    Attributes:
        number: from 1, in a fixed order.
        step: its name, and what it changes and emits.
        idle: whether it changes nothing: a timer that has nothing to do.
    """

    number: int
    step: NarratedStep
    idle: bool

    @property
    def title(self) -> str:
        """`p1: receive MSG(m0.1) from p0`, and what the step chooses."""
        chosen = ", ".join(self.step.chosen)
        return f"{self.step.title}; {chosen}" if chosen else self.step.title


@dataclass(frozen=True, slots=True)
class InFlight:
    """Equal packets on their way. `count` of them; `next`: one of them may arrive next."""

    packet: str
    source: int
    destination: int
    count: int
    next: bool


@dataclass(slots=True)
class Session:
    """A run of a protocol in a workload, from its beginning to the state where it stands.

    Attributes:
        subject: of results: `PROTOCOL` or `PROTOCOL/MUTANT`.
        steps: that were made.
    """

    subject: str
    protocol: ir.Protocol
    workload: ir.Workload
    steps: list[NarratedStep] = field(init=False, default_factory=list)
    system: System = field(init=False)
    _choices: tuple[Choice, ...] | None = field(init=False, default=None)
    _broken: dict[State | tuple[int, ...], tuple[Finding, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.system = system_of(self.protocol, self.workload)

    # --- where the run stands --------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The state where the run stands."""
        return self.steps[-1].outcome.state if self.steps else self.system.initial()

    @property
    def states(self) -> list[State]:
        """The states of the run, from the initial one."""
        return [self.system.initial(), *(step.outcome.state for step in self.steps)]

    def broken(self, state: State) -> tuple[Finding, ...]:
        """The invariants that are not true in a state of the run; at rest, what is said of states at rest, too."""
        key = state if self.protocol.rest or self.system.sees_network else state.locals
        found = self._broken.get(key)
        if found is None:
            found = self._broken[key] = self.system.broken(state)
        return found

    @property
    def execution(self) -> Execution:
        """The run as an outside observer sees it."""
        return execution(self.system, self.steps)

    @property
    def failed(self) -> bool:
        """Whether the last step was at fault: nothing comes after it."""
        return bool(self.steps) and any(found.property == "fault" for found in self.steps[-1].outcome.findings)

    @property
    def in_flight(self) -> tuple[InFlight, ...]:
        """The packets on their way."""
        ready = set(self.system.receivable(self.state))
        return tuple(self._packet(number, count, ready) for number, count in Counter(self.state.network).items())

    def _packet(self, number: int, count: int, ready: set[int]) -> InFlight:
        packet = self.system.packet(number)
        return InFlight(show_packet(self.system, packet), packet.src, packet.dst, count, number in ready)

    def variables(self, process: int) -> tuple[tuple[str, str], ...]:
        """The state of a process: each variable and its value. Raises: NotPossible, where there is no such process."""
        if not 0 <= process < self.workload.processes:
            raise NotPossible(f"there is no process p{process}; there are p0 to p{self.workload.processes - 1}")
        values = self.system.local(self.state.locals[process])
        named = zip(self.system.protocol.state, values, strict=True)
        return tuple((variable.name, show(value, variable.type)) for variable, value in named)

    @property
    def undelivered(self) -> tuple[tuple[Message, tuple[int, ...]], ...]:
        """The messages that are sent and not delivered everywhere, each with the processes that have not delivered."""
        return tuple((entry.message, tuple(entry.due)) for entry in self.state.history.pending)

    # --- steps -----------------------------------------------------------------------------------

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The steps that can be made now, those that change nothing last. After a fault there is none."""
        if self._choices is None:
            self._choices = () if self.failed else tuple(self._numbered())
        return self._choices

    @property
    def at_rest(self) -> bool:
        """Whether nothing can happen any more that changes anything."""
        return all(choice.idle for choice in self.choices)

    def _numbered(self) -> Iterator[Choice]:
        state = self.state
        actions = dict.fromkeys((*self.system.enabled(state), *self.system.late_timers(state)))
        found = [self._tried(state, action) for action in actions]
        found.sort(key=lambda pair: pair[1])
        for number, (step, idle) in enumerate(found, 1):
            yield Choice(number, step, idle)

    def _tried(self, state: State, action: Action) -> tuple[NarratedStep, bool]:
        outcome = self.system.apply(state, action)
        step = narrate(self.system, state, action, outcome)
        return step, outcome.state == state and not outcome.findings

    def take(self, number: int) -> NarratedStep:
        """Makes the step with this number. Raises: NotPossible."""
        there = self.choices
        if not 1 <= number <= len(there):
            span = f"are steps 1 to {len(there)}" if len(there) > 1 else "is step 1 only" if there else "is no step"
            after = " after a step at fault" if self.failed else ""
            raise NotPossible(f"there {span} here{after}, not {number}")
        return self._made(there[number - 1].step)

    def take_random(self, draw: random.Random) -> NarratedStep | None:
        """Makes a step that changes something, drawn evenly; None where there is none."""
        there = [choice for choice in self.choices if not choice.idle]
        return self._made(draw.choice(there).step) if there else None

    def _made(self, step: NarratedStep) -> NarratedStep:
        self.steps.append(step)
        self._choices = None
        return step

    def until(self, steps: int) -> Session:
        """The same run as far as so many steps. What is done to the one leaves the other as it is."""
        if not 0 <= steps <= len(self.steps):
            raise NotPossible(f"the run has {counted(len(self.steps), 'step')}, not {steps}")
        before = copy.copy(self)
        before.steps, before._choices = self.steps[:steps], None
        return before

    def back(self, steps: int = 1) -> tuple[NarratedStep, ...]:
        """Takes so many steps back; those that were taken back, the first one first. Raises: NotPossible."""
        if not 0 <= steps <= len(self.steps):
            made = f"{len(self.steps)} step{'' if len(self.steps) == 1 else 's'}"
            raise NotPossible(f"{made} can be taken back, not {steps}")
        at = len(self.steps) - steps
        undone = tuple(self.steps[at:])
        del self.steps[at:]
        self._choices = None
        return undone

    def follow(self, recorded: Sequence[Mapping[str, Any]]) -> tuple[NarratedStep, ...]:
        """Goes to the end of a recorded run, from the beginning. Raises: ReplayError; the run is then as it was."""
        self.steps = list(replay(self.system, [dict(step) for step in recorded]))
        self._choices = None
        return tuple(self.steps)

    def recorded(self) -> list[dict[str, Any]]:
        """The run as JSON values that `follow` takes, and `thence run --replay`."""
        return record(self.system, self.steps)
