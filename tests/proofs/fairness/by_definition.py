"""Liveness by definition, on the whole graph of a small scope: written for the tests, and sharing no search with them.

A run of the scope is a path in the graph of its states. With `ticks`, it may turn at a quiet moment, when no fair send
is possible, into one in which nothing else is sent, lost or duplicated, and timers fire whenever nothing is in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from thence.dsl.run.actions import Action, State
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.narrate import NarratedStep
from thence.dsl.run.system import System

Node: TypeAlias = tuple[State, bool]
"""A state, and whether the run has turned."""

Class: TypeAlias = tuple[str, int, str]
"""An arrival of a packet, a send of a process, the tick of a process's timer, or an input of a process."""


Says: TypeAlias = Callable[[Sequence[LocalState], Any], bool]
"""What a formula says of the processes' states, for a value of its variables."""


class TooLarge(Exception):
    """There are more states than the test wants to see."""


@dataclass
class Definition:
    """The graph of a scope: edges by node, each with the class that it takes; and what each node offers."""

    system: System
    most: int
    at_any_moment: bool = False
    edges: dict[Node, list[tuple[Node, Class | None]]] = field(default_factory=dict)
    offers: dict[Node, set[Class]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = set(self.system.protocol.fairness)
        kinds = {kind.name for kind in self.system.protocol.packets}
        self.kinds = kinds if "receive" in names else names & kinds
        self.sends_fairly = "causal_send" in names or bool(self.system.workload.programs)
        self.inputs = {handler.kind for handler in self.system.protocol.inputs} & names
        self.timers = fair_timers(self.system)
        left: list[Node] = [(self.system.initial(), False)]
        self.edges[left[0]] = []
        while left:
            node = left.pop()
            self.offers[node] = set()
            for to, taken in self._steps(node):
                if to not in self.edges:
                    self.edges[to] = []
                    left.append(to)
                if len(self.edges) > self.most:
                    raise TooLarge
                self.edges[node].append((to, taken))

    def _steps(self, node: Node) -> Iterator[tuple[Node, Class | None]]:
        state, turned = node
        quiet = not state.network
        for action in self.system.enabled(state):
            taken: Class | None = None
            if action.kind == "receive" and self.system.packet(action.packet).kind in self.kinds:
                taken = ("receive", action.packet, "")
            elif action.kind == "send" and self.sends_fairly:
                taken = ("send", action.process, "")
            elif action.kind == "tick":
                taken = ("tick", action.process, action.name)
            elif action.kind == "input" and action.name in self.inputs:
                taken = ("input", action.process, action.name)
            if taken is not None and action.kind != "tick":
                self.offers[node].add(taken)
            if turned and (action.kind in ("duplicate", "lose") or (action.kind == "send" and not self.sends_fairly)):
                continue
            if turned and action.kind == "input" and action.name not in self.inputs:
                continue
            if not (turned and action.kind == "tick"):
                yield (self.system.apply(state, action).state, turned), taken
        workload, timers = self.system.workload, self.system.interpreter.timers
        limits = {timer: workload.ticks_of(timer) for timer in timers}
        full = tuple(limit for limit in limits.values() if limit is not None for _ in range(2))
        if quiet and full and not any(kind in ("send", "input") for kind, *_ in self.offers[node]):
            for timer in timers:
                for process in range(2):
                    tick = Action("tick", process, name=timer)
                    after = self.system.apply(state._replace(ticks=full + state.ticks[len(full) :]), tick).state
                    yield (after, True), ("tick", process, timer)

    # --- what a fair run can do ----------------------------------------------------------------

    def verdict(self) -> str:
        """`refuted` by a fair run; `unknown` if one is fair but for its timers, which never get to fire."""
        messages = {entry.message for state, _ in self.edges for entry in state.history.pending}
        waiting = (
            {node for node in self.edges if message in {entry.message for entry in node[0].history.pending}}
            for message in messages
        )
        return self._of(waiting)

    def of_promise(self, given: Says | None, goal: Says, values: Iterable[Any]) -> str:
        """The same for a promise, for each value: owed are the nodes without the goal that follow one that is given.

        `unknown`, too, if it is given nowhere.
        """
        values = tuple(values)
        found = self._of(self._owed(given, goal, value) for value in values)
        states = (self.system.locals_of(state) for state, _ in self.edges)
        if given is not None and not any(given(state, value) for state in states for value in values):
            return "unknown"
        return found

    def _owed(self, given: Says | None, goal: Says, value: Any) -> set[Node]:
        lacking = {node for node in self.edges if not goal(self.system.locals_of(node[0]), value)}
        if given is None:
            starts = {(self.system.initial(), False)} & lacking
        else:
            starts = {node for node in lacking if given(self.system.locals_of(node[0]), value)}
        return starts.union(*(self._reached(node, lacking) for node in starts))

    def at_rest(self, holds: Callable[[Sequence[LocalState]], bool]) -> str:
        """Of a formula about states in which nothing has to happen any more; `unknown`: nothing speaks against it, and
        in none of them the application has done all that it can."""
        states = [state for state, turned in self.edges if not turned and self._rests(state)]
        if not all(holds(self.system.locals_of(state)) for state in states):
            return "refuted"
        acts = ("send", "input")
        done = [state for state in states if all(one.kind not in acts for one in self.system.enabled(state))]
        return "holds" if done else "unknown"

    def _rests(self, state: State) -> bool:
        can = list(self.system.enabled(state))
        must = {one for one in can if one.kind == "input" and one.name in self.inputs}
        must |= {one for one in can if one.kind == "send" and self.sends_fairly}
        if state.network or must:
            return False
        after = [self.system.apply(state, tick).state for tick in self.system.ticks()]
        return all((one.locals, one.network) == (state.locals, ()) for one in after)

    def _of(self, waiting: Iterable[set[Node]]) -> str:
        found = "holds"
        for inside in waiting:
            if not self.timers and any(not self.offers[node] for node in inside):
                return "refuted"
            if self._has_fair(inside, self.timers) or any(self._ends(node) for node in inside):
                return "refuted"
            busy = {node for node in inside if node[0].network}
            if self.timers and (any(not self.offers[node] for node in busy) or self._has_fair(busy, set())):
                found = "unknown"
        return found

    def _ends(self, node: Node) -> bool:
        """Whether nothing can happen any more, since programs keep timers from firing."""
        return bool(self.system.workload.programs) and self.system.is_quiet(node[0]) and not self.edges[node]

    def _has_fair(self, nodes: set[Node], required: set[Class]) -> bool:
        reached = {node: self._reached(node, nodes) for node in nodes}
        parts = {frozenset(other for other in reached[node] if node in reached[other]) for node in nodes}
        return any(self._is_fair(part, required) for part in parts if part)

    def _reached(self, start: Node, nodes: set[Node]) -> set[Node]:
        """Where at least one step inside the nodes leads to."""
        found: set[Node] = set()
        left = [start]
        while left:
            for to, _ in self.edges[left.pop()]:
                if to in nodes and to not in found:
                    found.add(to)
                    left.append(to)
        return found

    def _is_fair(self, part: frozenset[Node], required: set[Class]) -> bool:
        taken = {own for node in part for to, own in self.edges[node] if to in part and own is not None}
        if self.system.workload.programs and any(self.system.is_quiet(node[0]) for node in part):
            required = required & {own for node in part for _, own in self.edges[node] if own is not None}
        if not required <= taken:
            return False
        if self.system.protocol.weakly:
            return set.intersection(*(self.offers[node] for node in part)) <= taken
        missed = set[Class]().union(*(self.offers[node] for node in part)) - taken
        return not missed or self._has_fair({node for node in part if not self.offers[node] & missed}, required)


def fair_timers(system: System) -> set[Class]:
    """The ticks that a fair run makes again and again: of the timers named after `fair`, or else of all."""
    timers = set(system.interpreter.timers)
    named = timers & {*system.protocol.fairness} - {"periodically"}
    fair = named if named and "periodically" not in system.protocol.fairness else timers
    return {("tick", process, timer) for timer in fair for process in range(2)}


def assert_every_packet_arrives(system: System, steps: tuple[NarratedStep, ...], cycle: int, turns: int) -> None:
    """Repeats the cycle, with an identity for each packet: none of a fair kind is older than a few turns in the end.

    Of equal packets the oldest arrives first. The timers fire in each turn.
    """
    names = set(system.protocol.fairness)
    ages: dict[int, list[int]] = {}
    state, clock = system.initial(), 0
    stem, turn = steps[: len(steps) - cycle], steps[len(steps) - cycle :]
    fired = {("tick", step.action.process, step.action.name) for step in turn if step.action.kind == "tick"}
    assert fair_timers(system) <= fired
    for step in (*stem, *turn * turns):
        action = step.action
        assert action in (*system.enabled(state), *system.late_timers(state))
        before, state = state, system.apply(state, action).state
        clock += 1
        for number in {*before.network, *state.network}:
            change = state.network.count(number) - before.network.count(number)
            if action.kind in ("receive", "lose") and action.packet == number:
                ages[number].pop(0)
                change += 1
            ages.setdefault(number, []).extend([clock] * change)
    assert state == system_after(system, stem)
    for number, ages_of in ages.items():
        if "receive" in names or system.packet(number).kind in names:
            most = (len(state.network) + 1) * cycle
            assert all(clock - born <= most for born in ages_of), "a packet never arrives"


def system_after(system: System, steps: tuple[NarratedStep, ...]) -> State:
    """The state after a run."""
    return steps[-1].outcome.state if steps else system.initial()
