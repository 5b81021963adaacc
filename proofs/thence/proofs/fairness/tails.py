"""What becomes of undelivered messages, and of what is promised, once the application sends no more: the tails of the
runs of a finite scope.

Every run of such a scope has a last send, a last duplicate and a last loss. From there on packets arrive and timers
fire: when nothing is in flight, whatever `ticks` says, since a timer that stops is none. The states of these tails form
a graph of their own. A message, or a promise, is starved if it waits in all states of a cycle that a fair run can
repeat for ever, or in a state in which nothing has to happen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from thence.dsl.ir.properties import DELIVERED
from thence.dsl.run.actions import Action, State
from thence.dsl.run.causality import History
from thence.dsl.run.choices import TooManyOutcomes
from thence.dsl.run.promises import Instance
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.proofs.fairness.fair_cycles import Class, Edge, FairGraph
from thence.proofs.fairness.fairness import Fairness, fairness_of, timers_of

MOST_STATES = 300_000
"""Limit on the states of the tails of one exploration."""

NEVER_QUIET = "{} waits for a timer, and timers fire when nothing is in flight, which need not come"

TOO_MANY = "the runs that go on when nothing is sent any more have more than {:,} states, which is the limit"

KEPT = "{} waits where a program keeps a timer from firing, while others fire"

FAULTY = "a step is at fault, and a run that has come to it does not go on"


Owed: TypeAlias = Message | Instance
"""What is to come: the delivery of a message, or a promise."""


@dataclass(frozen=True, slots=True)
class Starvation:
    """A fair way to go on from a state without ever giving what is `owed`: `way` once, then `cycle` for ever.

    If the cycle is empty, nothing has to happen after the way. `process` is one that waits.
    """

    owed: Owed
    process: int
    way: tuple[Action, ...]
    cycle: tuple[Action, ...]


def owed_in(system: System, state: State, name: str) -> Collection[Owed]:
    """What waits in a state, for `delivered` or for the promise of this name."""
    if name == DELIVERED:
        return [entry.message for entry in state.history.pending]
    assert system.promises is not None
    return system.promises.in_bits(state.owed & system.promises.of(name))


@dataclass(slots=True)
class Tails:
    """The tails of the states that were asked about, for one property: `delivered`, or a promise.

    `limit`: they may have so many states, and not more than MOST_STATES. `undecided` says why a starvation may have
    been missed, if so.
    """

    system: System
    name: str = DELIVERED
    limit: int | None = None
    undecided: str = ""
    fairness: Fairness = field(init=False)
    _states: list[State] = field(init=False, default_factory=list)
    _numbers: dict[State, int] = field(init=False, default_factory=dict)
    _edges: list[list[Edge]] = field(init=False, default_factory=list)
    _offers: list[frozenset[Class]] = field(init=False, default_factory=list)
    _origins: list[tuple[int, Action] | None] = field(init=False, default_factory=list)
    _distance: list[int] = field(init=False, default_factory=list)
    _starving: dict[int, tuple[Owed, set[int]]] = field(init=False, default_factory=dict)
    _timers: frozenset[Class] = field(init=False)
    _first: tuple[State, int] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.fairness, self._timers = fairness_of(self.system), timers_of(self.system)

    # --- questions ---------------------------------------------------------------------------

    def starved_in(self, state: State) -> Starvation | None:
        """The starvation of a message from the first: the state itself is one of the cycle's."""
        known = self._numbers.get(self._bare(state))
        if known is None:
            known = self._grow(state)
        return None if known not in self._starving else self._shown(known, ())

    def starved_after(self) -> tuple[State, Starvation] | None:
        """The first state asked about whose tails, but not the state itself, starve a message."""
        if self._first is None:
            return None
        state, found = self._first
        way: list[Action] = []
        at = found
        while (origin := self._origins[at]) is not None:
            at, action = origin
            way.append(action)
        return state, self._shown(found, tuple(reversed(way)))

    def _shown(self, at: int, way: tuple[Action, ...]) -> Starvation:
        owed, component = self._starving[at]
        cycle: tuple[Action, ...] = ()
        if component and not self._is_idle(component):
            cycle = tuple(self._graph(self._timers).cycle_from(at, component))
        if isinstance(owed, Instance):
            return Starvation(owed, owed.process, way, cycle)
        due = next(entry.due for entry in self._states[at].history.pending if entry.message == owed)
        return Starvation(owed, due[0], way, cycle)

    def _owed(self, state: State) -> Collection[Owed]:
        """What waits in a state."""
        return owed_in(self.system, state, self.name)

    def _is_idle(self, component: set[int]) -> bool:
        """Whether nothing happens in the component but timers that change nothing."""
        return len(component) == 1 and all(
            action.kind == "tick" for node in component for action, to, _ in self._edges[node] if to in component
        )

    # --- the graph ---------------------------------------------------------------------------

    def _bare(self, state: State) -> State:
        """The state as far as its tails depend on it."""
        workload = self.system.workload
        asked = state.history.pending if self.name == DELIVERED else ()
        pending = tuple(entry._replace(past=0) for entry in asked)
        return state._replace(
            history=History((0,) * workload.processes, pending),
            sends=state.sends if self.fairness.send else workload.sends,
            ticks=self.system.without_counts(state) if self.fairness.inputs else (),
            duplicates=workload.duplicates,
            losses=workload.losses,
        )

    def _grow(self, state: State) -> int:
        """Adds the tails of a state. States in which nothing waits have none: there is nothing left to ask."""
        first = len(self._states)
        root = self._number(self._bare(state), None)
        at = first
        most = MOST_STATES if self.limit is None else min(self.limit, MOST_STATES)
        while at < len(self._states):
            if at >= most:
                self.undecided = self.undecided or TOO_MANY.format(most)
                break
            try:
                self._expand(at)
            except TooManyOutcomes as why:
                self.undecided = self.undecided or str(why)
                break
            at += 1
        self._look(range(first, at))
        found = min((n for n in range(first, at) if n in self._starving), key=self._distance.__getitem__, default=None)
        if found is None:
            self._edges[first:] = [[] for _ in self._edges[first:]]  # no state of these tails is asked about again
        if self._first is None and found is not None:
            self._first = (state, found)
        return root

    def _number(self, state: State, origin: tuple[int, Action] | None) -> int:
        known = self._numbers.setdefault(state, len(self._states))
        if known == len(self._states):
            self._states.append(state)
            self._edges.append([])
            self._offers.append(frozenset())
            self._origins.append(origin)
            self._distance.append(0 if origin is None else self._distance[origin[0]] + 1)
        return known

    def _expand(self, at: int) -> None:
        state, offers = self._states[at], set[Class]()
        if not self._owed(state) and not self._may_come_later:
            return
        for action in self.system.continuing(state, sending=self.fairness.send):
            own = self.fairness.class_of(self.system, action)
            classes = frozenset() if own is None else frozenset((own,))
            offers |= classes
            outcome = self.system.apply(state, action)
            if any(finding.property == "fault" for finding in outcome.findings):
                self.undecided = self.undecided or FAULTY
                continue
            self._edges[at].append((action, self._number(self._bare(outcome.state), (at, action)), classes))
        self._offers[at] = frozenset(offers)

    def _kept(self, node: int) -> frozenset[Class]:
        """The fair timers that programs keep from firing in a state in which nothing is in flight."""
        return self._timers - self._offers[node] if self.system.is_quiet(self._states[node]) else frozenset()

    def _is_stuck(self, node: int) -> bool:
        """Whether nothing changes in a state, where programs keep some timers from firing."""
        return bool(self._kept(node)) and all(to == node for _, to, _ in self._edges[node])

    @property
    def _may_come_later(self) -> bool:
        """Whether something may come to wait on the way: a promise that is given more than once, or a message that no
        state explored has sent, after a timer beyond `ticks`."""
        promises = self.system.promises
        if self.name != DELIVERED:
            return promises is not None and promises.come_again(self.name)
        return self.fairness.send and self.system.counts_timers and bool(self._timers)

    def _graph(self, required: frozenset[Class]) -> FairGraph:
        return FairGraph(
            self._edges.__getitem__, self._offers.__getitem__, self._distance.__getitem__, self.fairness.weak, required
        )

    def _look(self, nodes: Iterable[int]) -> None:
        """Notes which of these states starve something. No cycle through them leads through states known before."""
        waiting: dict[Owed, set[int]] = {}
        for node in nodes:
            for owed in self._owed(self._states[node]):
                waiting.setdefault(owed, set()).add(node)
        named = "a message" if self.name == DELIVERED else f"`{self.name}`"
        for owed, inside in waiting.items():
            resting = [node for node in inside if not self._offers[node]]
            for node in inside if self._timers and self.system.workload.programs else resting:
                if not self._timers or self._is_stuck(node):
                    self._starving.setdefault(node, (owed, set()))
            for component in self._graph(self._timers).fair(inside):
                for node in component:
                    self._starving.setdefault(node, (owed, component))
            if not self.undecided and any(
                self._kept(node) and not component & self._starving.keys()
                for component in self._graph(frozenset()).fair(
                    {node for node in inside if self.system.workload.programs}
                )
                for node in component
            ):
                self.undecided = KEPT.format(named)
            if self._timers and not self.undecided:
                busy = {node for node in inside if self._offers[node].isdisjoint(self._timers)}
                if any(node in busy for node in resting) or any(self._graph(frozenset()).fair(busy)):
                    self.undecided = NEVER_QUIET.format(named)
