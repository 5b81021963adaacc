"""Whether the states of a reduced search stand for all: what `persistent` and `delay` promise of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from thence.dsl.run.system import Action, State, System
from thence.proofs.native.right_movers import without
from thence.proofs.native.tables import StepTable

_Protocol: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """A state is covered if, once the arrivals that are taken alone have come, it is a stored one followed by what was
    put off there: causal sends, and arrivals that deliver nothing of packets in flight. Nothing that the observer knows
    of causality counts: a message that is sent later has the larger past.

    `delays`: whether anything is put off at all.
    """

    system: System
    table: StepTable
    delays: bool

    def missing(self, reachable: Iterable[State], stored: Iterable[State]) -> list[State]:
        """Of the reachable states, those which the stored ones do not cover."""
        covered = set(self._covered(stored))
        return [state for state in reachable if _protocol(self._settled(state)) not in covered]

    def _settled(self, state: State) -> State:
        """The state after all arrivals that are taken alone."""
        while True:
            alone = next(
                (action for action in self.system.internal(state) if self._is_taken_alone(state, action)), None
            )
            if alone is None:
                return state
            state = self.system.apply(state, alone).state

    def _is_taken_alone(self, state: State, action: Action) -> bool:
        return action.kind == "receive" and self.table.taken_alone(state, action.packet)

    def _covered(self, stored: Iterable[State]) -> Iterator[_Protocol]:
        stack = [(state, self._silent(state)) for state in stored]
        seen = set()
        while stack:
            state, left = stack.pop()
            here = (_protocol(state), left)
            if here in seen:
                continue
            seen.add(here)
            yield here[0]
            for action in self.system.enabled(state) if self.delays else ():
                if action.kind == "send":
                    stack.append((self.system.apply(state, action).state, left))
                elif action.kind == "receive" and action.packet in left:
                    stack.append((self.system.apply(state, action).state, without(left, action.packet)))

    def _silent(self, state: State) -> tuple[int, ...]:
        return tuple(number for number in state.network if self.system.packet(number).kind not in self.table.loud)


def _protocol(state: State) -> _Protocol:
    return (state.locals, state.network, state.sends, state.ticks, state.duplicates, state.losses)
