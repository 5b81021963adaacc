"""The transitions of the reduction `delay` by the interpreter: see `delay` for the code that does the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from thence.dsl.run.execute import Sent
from thence.dsl.run.system import Action, Outcome, State, System
from thence.proofs.native.confluence import Place
from thence.proofs.native.right_movers import Lateness, Sequence, Waiting
from thence.proofs.native.tables import StepTable

Taken: TypeAlias = tuple[list[Action], Outcome]
"""Actions, and what the last of them leads to."""


@dataclass(frozen=True, slots=True)
class CatchingUp:
    """What leads from state to state where sends, and arrivals that deliver nothing, are put off."""

    system: System
    table: StepTable

    @property
    def _lateness(self) -> Lateness:
        assert self.table.lateness is not None
        return self.table.lateness

    def transitions(self, state: State) -> Iterator[Taken]:
        """What a state leads to, with all that has to come before.

        What only leads up to a transition is given, too: some step of it may be the one that violates something.
        """
        waiting = {process: self.waiting(state, process) for process in range(self.system.workload.processes)}
        yield from self._happening([], state, None, waiting)
        for process in waiting:
            for ahead in self._lateness.ahead(waiting[process], not state.network):
                taken = list(self._follow([], state, ahead.steps))
                yield from taken
                if len(taken) == len(ahead.steps):
                    actions, outcome = taken[-1]
                    sent = {
                        self.system.packet_number(process, one) for one in outcome.emissions if isinstance(one, Sent)
                    }
                    now = waiting | {process: self.waiting(outcome.state, process)}
                    yield from self._happening(actions, outcome.state, sent, now)

    def waiting(self, state: State, process: int) -> Waiting:
        """What waits at a process."""
        arrivals = [
            self.table.inputs.arrival(number)
            for number in state.network
            if self.system.packet(number).dst == process and self.system.packet(number).kind not in self.table.loud
        ]
        return Waiting(Place(process, state.sends[process], state.locals[process]), tuple(sorted(arrivals)))

    def _follow(self, actions: list[Action], state: State, sequence: Sequence) -> Iterator[Taken]:
        """The steps of a sequence, as far as they go."""
        for step in sequence:
            action = self.table.inputs[step].action
            actions = [*actions, action]
            outcome = self.system.apply(state, action)
            yield actions, outcome
            if outcome.state == state:
                return  # a fault
            state = outcome.state

    def _happening(
        self, actions: list[Action], state: State, chosen: Collection[int] | None, waiting: dict[int, Waiting]
    ) -> Iterator[Taken]:
        """What can become of the packets chosen, or of all, and what timers do then."""
        for action in self.system.internal(state):
            if chosen is not None and action.packet not in chosen:
                continue
            yield [*actions, action], self.system.apply(state, action)
            if action.kind not in ("receive", "tick"):
                continue
            process = action.process
            given = process if action.kind == "tick" else self.table.inputs.arrival(action.packet)
            for sequence in self._lateness.before(waiting[process], given):
                taken = list(self._follow(actions, state, sequence))
                yield from taken
                before, outcome = taken[-1]
                if len(taken) == len(sequence) and action in self.system.internal(outcome.state):
                    yield [*before, action], self.system.apply(outcome.state, action)
