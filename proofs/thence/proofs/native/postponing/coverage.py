"""Whether the states stored under the reduction `delay` cover all reachable ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from thence.dsl.run.system import State, System
from thence.proofs.native.postponing.plans import Plans
from thence.proofs.native.postponing.right_movers import without

_Protocol: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ReductionCoverage:
    """A state is covered if it is a stored one followed by postponed steps.

    Postponed are causal sends, and arrivals of silent packets in flight. The history in a state does not count:
    a message that is sent later has the larger past.
    """

    system: System
    plans: Plans

    def missing(self, reachable: Iterable[State], stored: Iterable[State]) -> list[State]:
        """The reachable states that the stored ones do not cover."""
        covered = set(self._covered(stored))
        return [state for state in reachable if _protocol(state) not in covered]

    def _covered(self, stored: Iterable[State]) -> Iterator[_Protocol]:
        stack = [(state, tuple(filter(self.plans.is_silent, state.network))) for state in stored]
        seen = set()
        while stack:
            state, left = stack.pop()
            here = (_protocol(state), left)
            if here in seen:
                continue
            seen.add(here)
            yield here[0]
            for action in self.system.enabled(state):
                if action.kind == "send":
                    stack.append((self.system.apply(state, action).state, left))
                elif action.kind == "receive" and action.packet in left:
                    stack.append((self.system.apply(state, action).state, without(left, action.packet)))


def _protocol(state: State) -> _Protocol:
    return (state.locals, state.network, state.sends, state.ticks, state.duplicates, state.losses)
