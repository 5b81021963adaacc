"""The way to a violation that native code has found: actions of the interpreter that lead there, and the finding."""

from __future__ import annotations

from dataclasses import dataclass

from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE
from thence.dsl.run.actions import Action, State
from thence.dsl.run.causality import Finding
from thence.dsl.run.quiescence import blocked, completed, stuck
from thence.dsl.run.system import System
from thence.proofs.native.code.cells import FINDINGS
from thence.proofs.native.invariants import names_of_steps
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
        state, actions = self.way_to(number)
        for action in self._system.enabled(state):
            outcome = self._system.apply(state, action)
            in_step = name in FINDINGS or name in names_of_steps(self._system.protocol)
            found = outcome.findings if in_step else self._system.broken(outcome.state)
            for finding in found:
                if finding.property == name:
                    return finding, [*actions, action]
        raise AssertionError(f"the interpreter sees no violation of {name} after {state}")

    def by_state(self, name: str, number: int) -> tuple[Finding, list[Action]]:
        """A violation of the property by the state with this number itself, and the way there."""
        state, actions = self.way_to(number)
        if name in (DEADLOCK_FREE, COMPLETES):
            ended = (blocked if name == DEADLOCK_FREE else completed)(self._system, state)
            assert ended is not None, f"the interpreter does not see {name} in {state}"
            return ended, actions
        waiting = stuck(self._system, state) if name == "delivered" else None
        found = self._system.broken(state) if waiting is None else (waiting,)
        return next(finding for finding in found if finding.property == name), actions

    def way_to(self, number: int) -> tuple[State, list[Action]]:
        """A state that the stored one stands for, and actions that lead to it."""
        state, *line = self.search.line_to(number)
        actions: list[Action] = []
        for stored in line:
            action, state = self._step_to(state, stored)
            actions.append(action)
        return state, actions

    def _step_to(self, state: State, stored: State) -> tuple[Action, State]:
        for action in self._system.enabled(state):
            after = self._system.apply(state, action).state
            if self._stands_for(stored, after):
                return action, after
        raise AssertionError(f"the interpreter has no step from {state} to {stored}")

    def _stands_for(self, stored: State, state: State) -> bool:
        """Whether the state is the stored one up to symmetry."""
        symmetry = self.search.table.symmetry
        if state == stored or symmetry is None:
            return state == stored
        return any(symmetry.state(state, each) == stored for each in symmetry.group)
