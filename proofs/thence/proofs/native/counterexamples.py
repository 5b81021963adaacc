"""The way to a violation that native code has found: actions of the interpreter that lead there, and the finding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from thence.dsl.run.causality import Finding
from thence.dsl.run.system import Action, Outcome, State, System
from thence.proofs.native.code.cells import FINDINGS
from thence.proofs.native.postponing.transitions import PostponedTransitions
from thence.proofs.native.search import NativeSearch


@dataclass(frozen=True, slots=True)
class Counterexamples:
    """Finds the actions of a run of which native code knows only the states."""

    search: NativeSearch

    @property
    def _system(self) -> System:
        return self.search.request.system

    def by_action(self, name: str, number: int) -> tuple[Finding, list[Action]]:
        """A violation of the property by an action of the state with this number, and the way there."""
        state, actions = self._way_to(number)
        for taken, outcome in self._near(state):
            found = outcome.findings if name in FINDINGS else self._system.broken(outcome.state)
            for finding in found:
                if finding.property == name:
                    return finding, actions + taken
        raise AssertionError(f"the interpreter sees no violation of {name} after {state}")

    def by_state(self, name: str, number: int) -> tuple[Finding, list[Action]]:
        """A violation of the property by the state with this number itself, and the way there."""
        state, actions = self._way_to(number)
        stuck = self._system.stuck(state) if name == "delivered" else None
        found = self._system.broken(state) if stuck is None else (stuck,)
        return next(finding for finding in found if finding.property == name), actions

    def _way_to(self, number: int) -> tuple[State, list[Action]]:
        """A state that the stored one stands for, and actions that lead to it."""
        state, *line = self.search.store.line_to(number)
        actions: list[Action] = []
        for stored in line:
            taken, state = self._steps_to(state, stored)
            actions += taken
        return state, actions

    def _steps_to(self, state: State, stored: State) -> tuple[list[Action], State]:
        for actions, outcome in self._near(state):
            if self._stands_for(stored, outcome.state):
                return actions, outcome.state
        raise AssertionError(f"the interpreter has no step from {state} to {stored}")

    def _stands_for(self, stored: State, state: State) -> bool:
        """Whether the state is the stored one up to symmetry."""
        symmetry = self.search.table.symmetry
        if state == stored or symmetry is None:
            return state == stored
        return any(symmetry.state(state, each) == stored for each in symmetry.group)

    def _near(self, state: State) -> Iterator[tuple[list[Action], Outcome]]:
        """The transitions of a state, with the postponed steps that come before them; fewest steps first."""
        plans = self.search.table.plans
        if plans is None:
            yield from (([action], self._system.apply(state, action)) for action in self._system.enabled(state))
            return
        yield from sorted(PostponedTransitions(self._system, plans).of(state), key=lambda taken: len(taken[0]))
