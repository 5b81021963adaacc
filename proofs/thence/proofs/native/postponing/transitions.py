"""The transitions of the reduction `delay` by the interpreter; `code.postponing` does the same in native code."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from thence.dsl.run.execute import Sent
from thence.dsl.run.system import Action, Outcome, State, System
from thence.proofs.native.postponing.effects import LocalPlace
from thence.proofs.native.postponing.plans import Plans
from thence.proofs.native.postponing.right_movers import Postponed, Sequence

Taken: TypeAlias = tuple[list[Action], Outcome]
"""Actions, and the outcome of the last."""


@dataclass(frozen=True, slots=True)
class PostponedTransitions:
    """The transitions between states where sends, and arrivals of silent packets, are postponed."""

    system: System
    plans: Plans

    def of(self, state: State) -> Iterator[Taken]:
        """The transitions of a state, each with all the postponed steps that come before it.

        Given is also each way that only leads up to a transition: some step of it may violate something.
        """
        nodes = {process: self.postponed(state, process) for process in range(self.system.workload.processes)}
        yield from self._internal([], state, None, nodes)
        for process in nodes:
            for one in self.plans.movers.spontaneous(nodes[process], not state.network):
                taken = list(self._follow([], state, one.steps))
                yield from taken
                if len(taken) == len(one.steps):
                    actions, outcome = taken[-1]
                    sent = {
                        self.system.packet_number(process, one) for one in outcome.emissions if isinstance(one, Sent)
                    }
                    now = nodes | {process: self.postponed(outcome.state, process)}
                    yield from self._internal(actions, outcome.state, sent, now)

    def postponed(self, state: State, process: int) -> Postponed:
        """The postponed steps of a process."""
        arrivals = [
            self.plans.effects.inputs.arrival(number)
            for number in state.network
            if self.system.packet(number).dst == process and self.plans.is_silent(number)
        ]
        return Postponed(LocalPlace(process, state.sends[process], state.locals[process]), tuple(sorted(arrivals)))

    def _follow(self, actions: list[Action], state: State, sequence: Sequence) -> Iterator[Taken]:
        """The steps of a sequence, up to a fault."""
        for step in sequence:
            action = self.plans.effects.inputs[step].action
            actions = [*actions, action]
            outcome = self.system.apply(state, action)
            yield actions, outcome
            if outcome.state == state:
                return  # a fault
            state = outcome.state

    def _internal(
        self, actions: list[Action], state: State, chosen: Collection[int] | None, nodes: dict[int, Postponed]
    ) -> Iterator[Taken]:
        """The transitions that take, duplicate or lose one of the packets `chosen`.

        If None: those of all packets, and of timers.
        """
        for action in self.system.internal(state):
            if chosen is not None and action.packet not in chosen:
                continue
            yield [*actions, action], self.system.apply(state, action)
            if action.kind not in ("receive", "tick"):
                continue
            process = action.process
            given = process if action.kind == "tick" else self.plans.effects.inputs.arrival(action.packet)
            for sequence in self.plans.movers.prerequisites(nodes[process], given):
                taken = list(self._follow(actions, state, sequence))
                yield from taken
                before, outcome = taken[-1]
                if len(taken) == len(sequence) and action in self.system.internal(outcome.state):
                    yield [*before, action], self.system.apply(outcome.state, action)
