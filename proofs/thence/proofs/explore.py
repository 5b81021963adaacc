"""Exhaustive exploration of a protocol in a finite scope, breadth first.

Every reachable global state is visited, so a property that is never violated holds in the scope, and the
first violation found is a shortest one. The interpreter is the definition; `compiled` finds the same sooner.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar

from thence.dsl import ir
from thence.dsl.causality import Finding
from thence.dsl.narrate import NarratedStep, run, violated
from thence.dsl.quiescence import COMPLETES, DEADLOCK_FREE, blocked, completed
from thence.dsl.recycling import Recycling, system_of
from thence.dsl.system import Action, State, System
from thence.proofs.depth import expected_depth
from thence.proofs.reductions import AUTOMATIC, REDUCTIONS

PROGRESS_SECONDS = 0.2

SMALL = 2_000
"""So many states the interpreter visits before code is generated: less takes longer to compile than to explore."""

FEW = f"the interpreter came to an end within {SMALL:,} states"
"""Why a small scope is not reduced: there is nothing to gain, and every state has been visited."""

Engine: TypeAlias = Literal["auto", "native", "interpreted", "both"]

Storage: TypeAlias = Literal["exact", "layers", "fingerprints"]

STORAGES: dict[Storage, str] = {
    "exact": "every state",
    "layers": "the states that can still be met: exact, for workloads in which every step is progress",
    "fingerprints": "64 bits of each, but for the latest: states that agree in them are taken for one, nothing is sure",
}
"""What native code can keep of the states it has expanded."""

_Point = TypeVar("_Point")
"""What a search visits: a state, or a state with the machine's side of it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an exploration has come. `memory` is what the store takes in bytes, `expected_depth` how deep it will go,
    about, where that is known.
    """

    states: int
    transitions: int
    depth: int
    frontier: int
    seconds: float
    memory: int = 0
    expected_depth: int | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A property that fails, and a shortest run that shows it, replayed by the interpreter.

    `shortest` is False where a reduction may have made the run longer, and the search without it would not end.
    """

    finding: Finding
    system: System
    steps: tuple[NarratedStep, ...]
    shortest: bool = True


@dataclass(slots=True)
class Coverage:
    """What was covered. `complete` tells whether that is every reachable state; depth counts steps.

    `saturated`: messages are sent for ever, and nobody ever lacked an identity: more of them would change nothing.
    """

    states: int = 0
    transitions: int = 0
    depth: int = 0
    complete: bool = False
    saturated: bool = False
    seconds: float = 0.0
    why_incomplete: str = ""


@dataclass(slots=True)
class Exploration(Coverage):
    """What was covered of a protocol, and a shortest violation of each property that fails.

    `reductions` are those that states and transitions are counted up to; `refused` says why one that was asked for
    is not among them. `memory` is what the store took in bytes at most, where that is known. `storage` is what was
    kept; with fingerprints, `omission` bounds the probability that a state was taken for another. `unshown` are
    properties that some run violates which could not be found again with the memory that there is.
    """

    engine: Literal["native", "interpreted", "both"] = "interpreted"
    reductions: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    memory: int = 0
    storage: Storage = "exact"
    omission: float = 0.0
    unshown: frozenset[str] = frozenset()
    violations: dict[str, Violation] = field(default_factory=dict)


def path_to(origins: Mapping[_Point, tuple[_Point, Action] | None], reached: _Point) -> list[Action]:
    """The actions from the initial point to `reached`, by the point and action from which each was first reached."""
    actions = []
    while (origin := origins[reached]) is not None:
        reached, action = origin
        actions.append(action)
    actions.reverse()
    return actions


@dataclass(frozen=True, slots=True)
class Resources:
    """What native code may use: bytes for its store (None: most of the machine's), threads (None: one a processor)."""

    memory: int | None = None
    threads: int | None = None


THE_MACHINE = Resources()
"""Whatever the machine has."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be explored, and how far; with `stop_when_refuted`, only to a violation of each property."""

    system: System
    properties: frozenset[str]
    stop_when_refuted: bool = False
    limit: int | None = None
    progress: Callable[[Progress], None] | None = None
    resources: Resources = THE_MACHINE
    reductions: frozenset[str] = frozenset()
    storage: Storage = "exact"


def explore(
    protocol: ir.Protocol,
    workload: ir.Workload,
    properties: Collection[str],
    *,
    stop_when_refuted: bool = False,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    engine: Engine = "auto",
    resources: Resources = THE_MACHINE,
    reductions: Collection[str] = (),
    storage: Storage = "exact",
) -> Exploration:
    """Visits the reachable states and judges `properties` (built-in names, and names of invariants).

    With `stop_when_refuted`, stops once every property is violated. Stops at `limit` states, and on
    KeyboardInterrupt, with what was covered. The engines find the same; `auto` takes native code for all but small
    scopes, and the interpreter where native code cannot take the scope. `both` compares them. `reductions` (of
    REDUCTIONS) are what native code may reduce by, and `storage` (of STORAGES) is what it keeps; the automatic ones
    together are not made of small scopes.

    Raises:
        EnginesDisagree: by `both`, where they do not find the same.
        ValueError: where native code is asked for and cannot take the scope, or cannot store it so.
    """
    if "total_order" in properties and "total_order" not in protocol.properties:
        protocol = replace(protocol, properties=(*protocol.properties, "total_order"))  # the system then watches it
    system = system_of(protocol, workload)
    request = Request(
        system, frozenset(properties), stop_when_refuted, limit, progress, resources, frozenset(reductions), storage
    )
    assert request.reductions <= REDUCTIONS.keys(), "there is no such reduction"
    if engine == "interpreted":
        return Interpretation(request).run()
    from thence.proofs.compiled.engine import Sample, explore_natively, why_not

    if engine == "native":
        return explore_natively(request)
    if engine == "both":
        from thence.proofs.compiled.crosscheck import explore_with_both

        return explore_with_both(request)
    reason = why_not(system)
    if reason is not None:
        result = Interpretation(request).run()
        result.refused = dict.fromkeys(request.reductions, reason)
        return result
    first = Interpretation(replace(request, limit=min(SMALL, limit or SMALL)))
    result = first.run()
    over = result.complete or not first.limited or result.states == limit
    by_name = request.reductions - {*AUTOMATIC} or len(request.reductions) < len(AUTOMATIC)
    if over and not (result.complete and request.reductions and by_name):
        result.refused = dict.fromkeys(request.reductions, FEW)
        return result
    found = explore_natively(request, Sample.of(system, first.origins))
    if found.states < result.states and not found.complete and not found.reductions:
        result.why_incomplete, result.seconds = found.why_incomplete, result.seconds + found.seconds
        return result
    return found


@dataclass(slots=True)
class Interpretation:
    """An exploration by the interpreter. `origins` has the states reached, each with the state and action from which it was first reached."""

    request: Request
    result: Exploration = field(default_factory=Exploration)
    origins: dict[State, tuple[State, Action] | None] = field(default_factory=dict)
    limited: bool = False
    _started: float = field(default_factory=time.perf_counter)
    _judged: dict[tuple[int, ...], tuple[Finding, ...]] = field(default_factory=dict)
    _reported: float = 0.0
    _expected_depth: int | None = None

    def run(self) -> Exploration:
        """Explores as far as it is asked to."""
        try:
            self._explore()
        except KeyboardInterrupt:
            self.result.why_incomplete = "interrupted"
        except MemoryError:
            self.result.why_incomplete = "out of memory"
        self.result.seconds = time.perf_counter() - self._started
        return self.result

    def _explore(self) -> None:
        initial = self.request.system.initial()
        self.origins[initial] = None
        frontier = [initial]
        self._judge_state(initial)
        self.result.states = 1
        while frontier:
            following: list[State] = []
            for state in frontier:
                if self._done():
                    return
                self._expand(state, following)
            self._report(len(following))
            frontier = following
            if frontier:
                self.result.depth += 1
        self.result.complete = True
        self.result.saturated = saturated(self.request.system)

    def _done(self) -> bool:
        if self.request.stop_when_refuted and self.request.properties <= self.result.violations.keys():
            self.result.why_incomplete = "every property is refuted"
            return True
        if self.request.limit is not None and self.result.states >= self.request.limit:
            self.result.why_incomplete = f"stopped at {self.request.limit:,} states"
            self.limited = True
            return True
        return False

    def _expand(self, state: State, following: list[State]) -> None:
        result, origins = self.result, self.origins
        for action in self.request.system.enabled(state):
            outcome = self.request.system.apply(state, action)
            after = outcome.state
            if action.kind == "tick" and after == state and not outcome.findings:
                continue
            result.transitions += 1
            for finding in outcome.findings:
                self._violated(finding, state, action)
            if after not in origins:
                origins[after] = (state, action)
                result.states += 1
                following.append(after)
                self._judge_state(after)
        self._report(len(following))

    def _judge_state(self, state: State) -> None:
        system = self.request.system
        for name, judge in (("delivered", System.stuck), (DEADLOCK_FREE, blocked), (COMPLETES, completed)):
            if name in self.request.properties and name not in self.result.violations:
                ended = judge(system, state)
                if ended is not None:
                    self._violated(ended, state, None)
        for finding in self._broken(state):
            self._violated(finding, state, None)

    def _broken(self, state: State) -> tuple[Finding, ...]:
        if not self.request.system.protocol.invariants:
            return ()
        known = self._judged.get(state.locals)
        if known is None:
            known = self._judged[state.locals] = self.request.system.broken(state)
        return known

    def _violated(self, finding: Finding, state: State, action: Action | None) -> None:
        name = finding.property
        if name not in self.request.properties or name in self.result.violations:
            return
        actions = path_to(self.origins, state)
        if action is not None:
            actions.append(action)
        self.result.violations[name] = replayed(self.request.system, finding, actions)

    def _report(self, frontier: int) -> None:
        if self.request.progress is None:
            return
        now = time.perf_counter()
        if now - self._reported >= PROGRESS_SECONDS:
            if not self._reported:
                self._expected_depth = expected_depth(self.request.system)
            self._reported = now
            result = self.result
            self.request.progress(
                Progress(
                    result.states, result.transitions, result.depth, frontier, now - self._started,
                    expected_depth=self._expected_depth,
                )
            )  # fmt: skip


def saturated(system: System) -> bool:
    """Whether messages are sent for ever and nobody that could send lacked an identity, in all that was explored."""
    return isinstance(system, Recycling) and any(system.workload.endless) and not system.crowded


def replayed(system: System, finding: Finding, actions: list[Action]) -> Violation:
    """Runs the counterexample again, from nothing, in a fresh interpreter; it must show the same finding."""
    again = system_of(system.protocol, system.workload)
    again.adopt_packets(system)
    steps = tuple(run(again, actions))
    assert finding.property in violated(again, steps), (
        f"the interpreter does not confirm the counterexample to {finding.property}"
    )
    return Violation(finding, again, steps)
