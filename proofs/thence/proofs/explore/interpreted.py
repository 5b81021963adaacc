"""Exhaustive exploration of a protocol in a finite scope by the interpreter, breadth first.

Every reachable global state is visited, so a property that is never violated holds in the scope, and the
first violation found is a shortest one. This search is the definition; `native` finds the same sooner.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from thence.dsl.ir.properties import COMPLETES, DEADLOCK_FREE, DELIVERED, LINK
from thence.dsl.run.actions import Action, State
from thence.dsl.run.causality import Finding
from thence.dsl.run.choices import TooManyOutcomes
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.quiescence import MOST_SETTLING, Unsettled, blocked, completed, stuck
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault
from thence.proofs.explore import exploration
from thence.proofs.explore.depth import expected_depth
from thence.proofs.explore.exploration import (
    CUT_SHORT,
    Exploration,
    ExplorationRequest,
    Progress,
    path_to,
    replayed,
    saturated,
    starving,
)
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.fairness.tails import Starvation, Tails
from thence.proofs.fairness.termination import every_arrival_ends
from thence.spec.words import counted


@dataclass(slots=True)
class Interpretation:
    """An exploration by the interpreter.

    `origins`: by state, the state and action from which it was first reached. `layers`: the numbers of states of the
    whole layers so far. `enough`: says whether the search is to stop, as at a limit.
    """

    request: ExplorationRequest
    enough: Callable[[Interpretation], bool] | None = None
    result: Exploration = field(default_factory=Exploration)
    origins: dict[State, tuple[State, Action] | None] = field(default_factory=dict)
    layers: list[int] = field(default_factory=lambda: [1])
    limited: bool = False
    _started: float = field(default_factory=time.perf_counter)
    _judged: dict[tuple[int, ...], tuple[Finding, ...]] = field(default_factory=dict)
    _reported: float = 0.0
    _expected_depth: int | None = None
    _tails: dict[str, Tails] = field(init=False)
    _faulty: bool = False

    def __post_init__(self) -> None:
        live = (DELIVERED, *(promise.name for promise in self.request.system.protocol.promises))
        most = self.request.limit_beyond
        self._tails = {name: Tails(self.request.system, name, most) for name in live if name in self.request.properties}

    def run(self) -> Exploration:
        """Explores as far as it is asked to."""
        try:
            self._explore()
        except KeyboardInterrupt:
            self.result.why_incomplete = "interrupted"
        except MemoryError:
            self.result.why_incomplete = "out of memory"
        except (TooManyOutcomes, Fault) as why:
            self.result.why_incomplete = str(why)
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
            self.layers.append(len(following))
            if frontier:
                self.result.depth += 1
        self._judge_endless()
        if self.request.keep is not None:
            self.request.keep(self.request.system, self.origins, ())
        self.result.complete = True
        self.result.saturated = saturated(self.request.system)

    def _done(self) -> bool:
        if self.request.stop_when_refuted and self.request.properties <= self.result.violations.keys():
            self.result.why_incomplete = "every property is refuted"
            return True
        if self.request.limit is not None and self.result.states >= self.request.limit:
            self.result.why_incomplete = f"stopped at {counted(self.request.limit, 'state')}"
            self.limited = True
            return True
        if self.enough is not None and self.enough(self):
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
                self._faulty |= finding.property == "fault"
                self._violated(finding, state, action)
            if after not in origins:
                origins[after] = (state, action)
                result.states += 1
                following.append(after)
                self._judge_state(after)
        self._report(len(following))

    def _judge_state(self, state: State) -> None:
        system = self.request.system
        for name, judge in ((DEADLOCK_FREE, self._blocked), (COMPLETES, completed)):
            if name in self.request.properties and name not in self.result.violations:
                ended = judge(system, state)
                if ended is not None:
                    self._violated(ended, state, None)
        if system.is_quiet(state) or not self._is_fair_to_packets:
            for name in self._open():
                self._judge_tails(state, name)
        for finding in self._broken(state):
            self._violated(finding, state, None)

    def _blocked(self, system: System, state: State) -> Finding | None:
        """What is blocked in the state, as far as that can be found out: after one failure it is not tried again."""
        if DEADLOCK_FREE in self.result.undecided:
            return None
        try:
            return blocked(system, state, min(self.request.limit_beyond or MOST_SETTLING, MOST_SETTLING))
        except Unsettled as why:
            self.result.undecided[DEADLOCK_FREE] = str(why)
            return None

    def _open(self) -> list[str]:
        """What is to happen in every fair run, and is not refuted so far."""
        return [name for name in self._tails if name not in self.result.violations]

    @property
    def _is_fair_to_packets(self) -> bool:
        """Whether a fair run that has an end, or is quiet again and again, has nothing in flight there."""
        every = len(self.request.system.protocol.packets)
        return all(len(tails.fairness.receive) == every for tails in self._tails.values())

    def _judge_tails(self, state: State, name: str) -> None:
        system = self.request.system
        if name == DELIVERED and is_decided_at_rest(system) and system.is_quiet(state):
            waiting = stuck(system, state)
            if waiting is not None:
                self._violated(waiting, state, None)
            return
        starved = self._tails[name].starved_in(state)
        if starved is not None:
            self._starves(name, state, starved)

    def _judge_endless(self) -> None:
        """Judges the runs that never come to rest, once every state is known."""
        if self._faulty and LINK in self.request.properties - self.result.violations.keys():
            self.result.undecided[LINK] = CUT_SHORT
        rests = not self._is_fair_to_packets or every_arrival_ends(self.request.system, self.origins)
        for name in self._open():
            tails = self._tails[name]
            found = None if rests else self._starved_somewhere(tails)
            found = found or tails.starved_after()
            if found is not None:
                self._starves(name, *found)
            elif self._faulty or tails.undecided:
                self.result.undecided[name] = tails.undecided or CUT_SHORT

    def _starved_somewhere(self, tails: Tails) -> tuple[State, Starvation] | None:
        found = ((state, tails.starved_in(state)) for state in self.origins)
        return next(((state, starved) for state, starved in found if starved is not None), None)

    def _starves(self, name: str, state: State, starvation: Starvation) -> None:
        self.result.violations[name] = starving(self.request.system, path_to(self.origins, state), starvation)

    def _broken(self, state: State) -> tuple[Finding, ...]:
        protocol = self.request.system.protocol
        if self.request.system.companion is not None:
            return self.request.system.broken(state)
        if not protocol.formulas:
            return ()
        if protocol.rest or self.request.system.sees_network:  # depends on more than the processes' states
            return self.request.system.broken(state)
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
        if now - self._reported >= exploration.PROGRESS_SECONDS:
            if not self._reported:
                self._expected_depth = expected_depth(
                    system_of(self.request.system.protocol, self.request.system.workload)
                )
            self._reported = now
            result = self.result
            self.request.progress(
                Progress(
                    result.states, result.transitions, result.depth, frontier, now - self._started,
                    expected_depth=self._expected_depth,
                )
            )  # fmt: skip
