"""Whether a protocol and a mutant of it do the same in a scope: by their local steps.

A handler depends on nothing but its process's state and its input. So if both begin alike and do the same in every
local step that the protocol takes in the scope, their graphs of reachable states are the same there (by induction
over the length of runs), however large those graphs are. Weaker: they may keep other states, and still send and
deliver the same in every run; that is decided over pairs of states, from the initial ones on.

This is said of one scope. Outside of it the two may differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from thence.dsl import ir
from thence.dsl.run.execute import Emission
from thence.dsl.run.interpreter import Interpreter, LocalState, Step
from thence.dsl.run.scoped import in_scope
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Occurrence

Likeness: TypeAlias = Literal["same states", "same events", "different"]
"""`same events`: sends and deliveries are the same in every run of the scope, states are not."""

MOST_PAIRS: Final = 50_000
"""Pairs of local states that are followed; beyond, the two count as different."""


@dataclass(frozen=True, slots=True)
class LocalStep:
    """A step of a protocol from a local state: `after` and the emissions, or a fault (`after` -1).

    Its cause is `packet`, `message` or `occurrence`; the others are -1, None and None.
    """

    process: int
    before: int
    packet: int
    message: Message | None
    occurrence: Occurrence | None
    after: int
    emissions: tuple[Emission, ...]


class StepRecord:
    """The local steps of a protocol in a scope that has been explored completely by `system`."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._from: dict[tuple[int, int], list[LocalStep]] = {}
        self._messages: dict[int, dict[Message, None]] = {}
        for process, before, cause, came in system.steps.taken():
            packet = cause if isinstance(cause, int) else -1
            message = cause if isinstance(cause, Message) else None
            occurrence = cause if isinstance(cause, Occurrence) else None
            after, emissions = (-1, ()) if isinstance(came, Fault) else came
            step = LocalStep(process, before, packet, message, occurrence, after, emissions)
            self._from.setdefault((process, before), []).append(step)
            if message is not None:
                self._messages.setdefault(process, {})[message] = None

    @property
    def size(self) -> int:
        """Number of local steps."""
        return sum(map(len, self._from.values()))

    def of(self, process: int, state: int) -> list[LocalStep]:
        """The steps of a process from the state of that number."""
        return self._from.get((process, state), [])

    def likeness(self, mutated: ir.Protocol) -> Likeness:
        """The likeness of a mutant of the protocol in the scope. Where one of them chooses, it is not looked for."""
        interpreter = Interpreter(in_scope(mutated, self.system.workload), self.system.workload.processes)
        if interpreter.chooses or self.system.interpreter.chooses:
            return "different"
        same = True
        guarded = interpreter.has_guard or self.system.interpreter.has_guard
        pairs: dict[tuple[int, int, LocalState], None] = {}
        waiting: list[tuple[int, int, LocalState]] = []
        for process in range(self.system.workload.processes):
            first = self.system.interpreter.initial(process)
            waiting.append((process, self.system.local_number(first), interpreter.initial(process)))
        while waiting:
            pair = waiting.pop()
            if pair in pairs:
                continue
            if len(pairs) >= MOST_PAIRS:
                return "different"
            pairs[pair] = None
            process, number, state = pair
            same = same and state == self.system.local(number)
            if guarded and self._refused(self.system.interpreter, process, self.system.local(number)) != self._refused(
                interpreter, process, state
            ):
                return "different"
            for step in self.of(process, number):
                other = self._taken(interpreter, step, state)
                if other is None or step.after < 0:
                    if other is not None or step.after >= 0:
                        return "different"
                    continue
                if other.emissions != step.emissions:
                    return "different"
                waiting.append((process, step.after, other.state))
        return "same states" if same else "same events"

    def _refused(self, interpreter: Interpreter, process: int, state: LocalState) -> list[Message | Occurrence] | None:
        """The messages and inputs that the process does not take from its application; None where a guard faults."""
        inputs = [Occurrence(use.name, arguments) for use in self.system.workload.inputs for arguments in use.choices]
        try:
            return [
                *(one for one in self._messages.get(process, ()) if not interpreter.accepts(process, state, one)),
                *(one for one in inputs if not interpreter.takes(process, state, one)),
            ]
        except Fault:
            return None

    def _taken(self, interpreter: Interpreter, step: LocalStep, state: LocalState) -> Step | None:
        """The step that the mutant takes instead; None for a fault."""
        try:
            if step.message is not None:
                return interpreter.causal_send(step.process, state, step.message)
            if step.occurrence is not None:
                return interpreter.step(step.process, state, step.occurrence)
            return interpreter.receive(step.process, state, self.system.packet(step.packet))
        except Fault:
            return None

    def __iter__(self) -> Iterator[LocalStep]:
        for steps in self._from.values():
            yield from steps
