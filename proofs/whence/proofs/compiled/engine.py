"""Exploration by native code: the same states, transitions, depth and verdicts as the interpreter's, sooner."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from whence.dsl.causality import Finding
from whence.dsl.system import Action, State, System
from whence.dsl.values import Fault
from whence.proofs import explore as explorer
from whence.proofs.compiled.cells import FINDINGS, MOST_INVARIANTS
from whence.proofs.compiled.invariants import LocalJudge, local_invariants
from whence.proofs.compiled.layout import Capacity, Shape, shape_of
from whence.proofs.compiled.memory import available, processors
from whence.proofs.compiled.search import NativeSearch, OutOfMemory, Overflow
from whence.proofs.compiled.sieve import Sieve
from whence.proofs.compiled.symmetry import Asymmetric, Symmetry
from whence.proofs.compiled.tables import StepTable
from whence.proofs.explore import Exploration, Progress, Request, replayed

MOST_MESSAGES = 64
"""A set of messages is one word."""


class Stopped(Exception):
    """The search need not or must not go on; the message says why."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How large things were in a part of the states: numbers of local states and packets, packets in flight."""

    local_states: int = 32
    packets: int = 8
    in_flight: int = 4

    @staticmethod
    def of(system: System, states: Collection[State]) -> Sample:
        """Of some states of the system, and of its tables."""
        return Sample(*system.sizes, max(len(state.network) for state in states))

    @property
    def capacity(self) -> Capacity:
        """What may do for all states; where it does not, the search finds out."""
        packet_bits = max(2, (self.packets * 3 // 2).bit_length())
        return Capacity((16 * self.local_states).bit_length(), packet_bits, self.in_flight + 4)


def why_not(system: System) -> str | None:
    """Why native code cannot explore this, if so."""
    if type(system) is not System:
        return "messages are sent for ever"
    if system.interpreter.has_guard:
        return "the application waits until the protocol takes a message"
    if system.workload.programs:
        return "the application follows programs"
    if system.workload.reactive:
        return "messages are sent inside deliveries"
    messages = sum(system.workload.sends)
    if messages > MOST_MESSAGES:
        return f"there are {messages} messages, native code takes {MOST_MESSAGES}"
    return None


def explore_natively(request: Request, sample: Sample = Sample()) -> Exploration:
    """Explores by native code. Violations are the same at every call: they are looked for by one thread.

    Raises:
        ValueError: where native code cannot take the scope; `why_not` tells.
    """
    reason = why_not(request.system)
    if reason is not None:
        raise ValueError(reason)
    started = time.perf_counter()
    threads = request.resources.threads or processors()
    engine = NativeEngine(request, threads)
    result = engine.run(sample.capacity)
    found = frozenset(result.violations)
    if threads > 1 and found:
        system = System(request.system.protocol, request.system.workload)
        again = replace(request, system=system, properties=found, stop_when_refuted=True, limit=None, progress=None)
        repeated = NativeEngine(again, 1).run(engine.capacity)
        if repeated.violations.keys() == found:
            result.violations = repeated.violations
    result.seconds = time.perf_counter() - started
    return result


@dataclass(slots=True)
class NativeEngine:
    """One exploration by native code. `capacity` is that of the last layout."""

    request: Request
    threads: int
    capacity: Capacity = field(init=False)
    result: Exploration = field(init=False)
    search: NativeSearch | None = field(init=False, default=None)
    _shape: Shape = field(init=False)
    _memory: int = field(init=False)
    _table: StepTable = field(init=False)
    _elsewhere: set[str] = field(init=False)
    _sieves: dict[str, Sieve] = field(init=False, default_factory=dict)
    _started: float = field(init=False, default_factory=time.perf_counter)
    _reported: tuple[float, int] = field(init=False, default=(0.0, 0))

    def __post_init__(self) -> None:
        self.result = Exploration(engine="native")
        self._memory = self.request.resources.memory or available() * 7 // 10
        self._shape = shape_of(self.request.system)
        self._use_table(locally=True)

    def _use_table(self, locally: bool) -> None:
        """With `locally`, invariants of one process at a time are judged in local steps, the others elsewhere."""
        system, properties = self.request.system, self.request.properties
        local = local_invariants(system.protocol)[:MOST_INVARIANTS] if locally else ()
        judge = LocalJudge(system, local)
        self._elsewhere = {invariant.name for invariant in system.protocol.invariants} - {each.name for each in local}
        self._table = StepTable(system, self._shape, bool(properties & {"csps", "sps"}), judge, self._symmetry())

    def _symmetry(self) -> Symmetry | None:
        """The symmetry of the system, where it is asked for, there is any, and nothing speaks against it so far."""
        if "symmetry" not in self.request.reductions or "symmetry" in self.result.refused:
            return None
        try:
            symmetry = Symmetry(self.request.system, self._shape)
        except Asymmetric as found:
            self.result.refused["symmetry"] = str(found)
            return None
        if len(symmetry.group) == 1:
            self.result.refused["symmetry"] = "the workload tells all processes apart"
            return None
        return symmetry

    @property
    def symmetry(self) -> Symmetry | None:
        """Up to what states are stored."""
        return self._table.symmetry

    def run(self, capacity: Capacity) -> Exploration:
        """Explores. A layout that turns out too small is replaced, and the search starts again."""
        self.capacity = capacity
        try:
            while not self._attempt():
                pass
            self.result.complete = True
        except Stopped as stopped:
            self.result.why_incomplete = str(stopped)
        except OutOfMemory:
            self.result.why_incomplete = f"the {self._memory / 1e6:,.0f} MB for states are used up"
        except MemoryError:
            self.result.why_incomplete = "out of memory"
        except KeyboardInterrupt:
            self.result.why_incomplete = "interrupted"
        self._count()
        self.result.reductions = () if self.symmetry is None else ("symmetry",)
        return self.result

    def _attempt(self) -> bool:
        try:
            self._explore()
        except Overflow as overflow:
            self.capacity = overflow.capacity
            return False
        except Fault:
            self._use_table(locally=False)  # what else is broken where an invariant has no value depends on all of them
            return False
        except Asymmetric as found:
            self.result.refused["symmetry"] = str(found)
            self._use_table(locally=True)
            return False
        return True

    def _explore(self) -> None:
        request, result = self.request, self.result
        result.violations.clear()
        result.depth = 0
        self._sieves.clear()
        search = self.search = NativeSearch(
            request.system, self._table, request.properties, self.capacity, self._memory, self.threads, request.limit
        )
        if self._elsewhere and request.properties & {*self._elsewhere, "fault"}:
            self._sieves["locals"] = Sieve(search, ("locals",), quiet=False)
        if "delivered" in request.properties and self._shape.timers:
            self._sieves["stuck"] = Sieve(search, ("locals", "due", "addressed"), quiet=True)
        self._judge_initial()
        while search.advance(self._pause):
            result.depth += 1
            self._judge()
            self._pause()
        self._judge()

    def _count(self) -> None:
        if self.search is not None:
            self.result.states = self.search.state_count
            self.result.transitions = self.search.transitions
            self.result.memory = self.search.bytes_used

    def _pause(self) -> None:
        """Between pieces: tells how far the search is, and ends it where that is asked for."""
        assert self.search is not None
        self._count()
        request, result = self.request, self.result
        self._report()
        if request.stop_when_refuted and request.properties <= self.search.found.keys() | result.violations.keys():
            self._collect()
            raise Stopped("every property is refuted")
        if request.limit is not None and result.states >= request.limit:
            self._collect()
            raise Stopped(f"stopped at {request.limit:,} states")

    def _report(self) -> None:
        result, (last, most) = self.result, self._reported
        now = time.perf_counter()
        if self.request.progress is None or now - last < explorer.PROGRESS_SECONDS or result.states < most:
            return
        assert self.search is not None
        self._reported = (now, result.states)
        frontier = self.search.numbered - self.search.layer
        seconds = now - self._started
        self.request.progress(
            Progress(result.states, result.transitions, result.depth, frontier, seconds, result.memory)
        )

    # --- judgements --------------------------------------------------------------------------

    def _judge_initial(self) -> None:
        """The initial state by all invariants: no step leads to it."""
        assert self.search is not None
        for name in self._broken_names(self.search.state(0)):
            self._violated(name, 0, by_action=False)
        self._judge()

    def _judge(self) -> None:
        """Judges the states of a layer that is complete, and collects what native code found."""
        assert self.search is not None
        if "locals" in self._sieves:
            for number in self._sieves["locals"].fresh():
                for name in self._broken_names(self.search.state(number)):
                    self._violated(name, number, by_action=False)
        if "stuck" in self._sieves and "delivered" not in self.result.violations:
            for number in self._sieves["stuck"].fresh():
                if self.request.system.stuck(self.search.state(number)) is not None:
                    self._violated("delivered", number, by_action=False)
                    break
        self._collect()

    def _broken_names(self, state: State) -> set[str]:
        """What the state violates by what it is, `fault` where an invariant has no value."""
        names = {finding.property for finding in self._broken(state)}
        symmetry = self.symmetry
        if symmetry is not None:
            for permutation in symmetry.group:
                other = self._broken(symmetry.state(state, permutation))
                if names != {finding.property for finding in other}:
                    raise Asymmetric("an invariant tells processes apart")
        return names

    def _broken(self, state: State) -> tuple[Finding, ...]:
        found = self.request.system.broken(state)
        if self._table.judge.invariants and any(finding.property == "fault" for finding in found):
            raise Fault(found[0].detail)
        return found

    def _collect(self) -> None:
        assert self.search is not None
        for name, number in self.search.found.items():
            self._violated(name, number, by_action=name != "delivered")

    # --- the way to a violation --------------------------------------------------------------

    def _violated(self, name: str, number: int, *, by_action: bool) -> None:
        """A state shows a violation: by what it is, or by an action that it enables."""
        if name not in self.request.properties or name in self.result.violations:
            return
        state, actions = self._way_to(number)
        if by_action:
            action, finding = self._culprit(state, name)
            actions.append(action)
        else:
            finding = self._finding(state, name)
        self.result.violations[name] = replayed(self.request.system, finding, actions)

    def _way_to(self, number: int) -> tuple[State, list[Action]]:
        """A state that the stored one stands for, and actions that lead to it, as few as can be."""
        assert self.search is not None
        state, *line = self.search.line_to(number)
        actions = []
        for stored in line:
            action, state = self._step_to(state, stored)
            actions.append(action)
        return state, actions

    def _step_to(self, state: State, stored: State) -> tuple[Action, State]:
        symmetry = self.symmetry
        for action in self.request.system.enabled(state):
            after = self.request.system.apply(state, action).state
            if after == stored:
                return action, after
            if symmetry is not None and any(symmetry.state(after, each) == stored for each in symmetry.group):
                return action, after
        raise AssertionError(f"the interpreter has no step from {state} to {stored}")

    def _culprit(self, state: State, name: str) -> tuple[Action, Finding]:
        """The first action that violates the property in this state; native code says that there is one."""
        for action in self.request.system.enabled(state):
            outcome = self.request.system.apply(state, action)
            found = outcome.findings if name in FINDINGS else self._broken(outcome.state)
            for finding in found:
                if finding.property == name:
                    return action, finding
        raise AssertionError(f"the interpreter sees no violation of {name} after {state}")

    def _finding(self, state: State, name: str) -> Finding:
        """What is wrong with a state by what it is."""
        stuck = self.request.system.stuck(state) if name == "delivered" else None
        if stuck is not None:
            return stuck
        return next(finding for finding in self._broken(state) if finding.property == name)
