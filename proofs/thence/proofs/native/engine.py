"""Exploration by native code: the same states, transitions, depth and verdicts as the interpreter's, sooner."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from thence.dsl.run.causality import Finding
from thence.dsl.run.system import Action, Outcome, State, System
from thence.dsl.run.values import Fault
from thence.proofs.explore import exploration
from thence.proofs.explore.depth import expected_depth
from thence.proofs.explore.exploration import Exploration, Progress, Request, Violation, replayed
from thence.proofs.explore.reductions import LENGTHENING, REDUCTIONS
from thence.proofs.native.code.cells import FINDINGS, MOST_INVARIANTS
from thence.proofs.native.code.dead import Dead
from thence.proofs.native.confluence import Unbounded
from thence.proofs.native.effects import variables_read
from thence.proofs.native.invariants import LocalJudge, local_invariants
from thence.proofs.native.layout import Capacity, Shape, shape_of
from thence.proofs.native.memory import available, processors
from thence.proofs.native.postponing import CatchingUp
from thence.proofs.native.progress_measure import Measure, Regress
from thence.proofs.native.right_movers import TooManyOrders
from thence.proofs.native.search import NativeSearch, OutOfMemory, Overflow
from thence.proofs.native.sieve import Sieve
from thence.proofs.native.sweep_line import LayeredSearch
from thence.proofs.native.symmetry import Asymmetric, Symmetry
from thence.proofs.native.tables import StepTable, Withdrawn

MOST_MESSAGES = 64
"""A set of messages is one word."""


_LEAST_AGAIN = 1_000_000
"""At least so many states are searched for a counterexample that is shorter."""


_LEAST_WASTED, _MOST_WASTED = 100_000, 5
"""Claims are given up once searches that were begun on false ones have cost so many states, and so many times what the
last of them had reached: where nearly every claim turns out false, all of that would be for nothing."""


_SCOUTED = 50_000
"""So many states are first searched for what refutes claims, where it takes the interpreter to judge states."""


class Scouted(Exception):
    """Most of the claims that will be refuted are."""


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
        ValueError: where native code cannot take the scope; `why_not` tells. NoMeasure, which is one: where it cannot
            be stored by layers.
    """
    reason = why_not(request.system)
    if reason is not None:
        raise ValueError(reason)
    started = time.perf_counter()
    threads = request.resources.threads or processors()
    engine = NativeEngine(request, threads)
    result = engine.run(sample.capacity)
    longer = not LENGTHENING.isdisjoint(result.reductions)
    if engine.suspects or (result.violations and (longer or threads > 1)):
        _look_again(request, engine, longer)
    result.seconds = time.perf_counter() - started
    return result


def _look_again(request: Request, engine: NativeEngine, longer: bool) -> None:
    """Looks for the same violations by one thread, with all states kept, and without reductions that may have made them
    longer.

    Where that takes many more states than the search itself, the longer ones are kept, and said to be so. Violations
    that were met by a search that forgets, and are not met again, are unshown.
    """
    result = engine.result
    limit = max(_LEAST_AGAIN, result.states) if longer else None
    repeated = _again(request, engine, request.reductions - LENGTHENING, limit)
    left = engine.refuted - repeated.keys()
    if left and longer:
        found = _again(request, engine, request.reductions, None) if engine.threads > 1 or engine.suspects else {}
        kept = result.violations | found
        repeated |= {name: replace(kept[name], shortest=False) for name in left if name in kept}
    if repeated.keys() >= result.violations.keys():
        result.violations = repeated
    result.unshown = frozenset(engine.suspects - result.violations.keys())


def _again(
    request: Request, engine: NativeEngine, reductions: frozenset[str], limit: int | None
) -> dict[str, Violation]:
    found = frozenset(engine.refuted)
    system = System(request.system.protocol, request.system.workload)
    again = replace(
        request, system=system, properties=found, stop_when_refuted=True, limit=limit, progress=None,
        reductions=reductions, storage="exact",
    )  # fmt: skip
    return NativeEngine(again, 1).run(engine.capacity).violations


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
    suspects: set[str] = field(init=False, default_factory=set)
    _measure: Measure | None = field(init=False, default=None)
    _expected_depth: int | None = field(init=False, default=None)
    _started: float = field(init=False, default_factory=time.perf_counter)
    _reported: tuple[float, int] = field(init=False, default=(0.0, 0))
    _wasted: int = field(init=False, default=0)
    _scouting: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.result = Exploration(engine="native", storage=self.request.storage)
        if self.request.storage == "layers":
            self._measure = Measure(self.request.system)
        self._memory = self.request.resources.memory or available() * 7 // 10
        self._shape = shape_of(self.request.system)
        if self._shape.duplicates and not self.request.system.protocol.network.reordering:
            self._refuse(("delay",), "what is duplicated on a FIFO channel comes again after all that was sent by then")
        self._use_table(locally=True)

    def _use_table(self, locally: bool) -> None:
        """With `locally`, invariants of one process at a time are judged in local steps, the others elsewhere."""
        system, properties = self.request.system, self.request.properties
        local = local_invariants(system.protocol)[:MOST_INVARIANTS] if locally else ()
        judge = LocalJudge(system, local)
        self._elsewhere = {invariant.name for invariant in system.protocol.invariants} - {each.name for each in local}
        departures = bool(properties & {"csps", "sps"})
        self._table = StepTable(system, self._shape, departures, judge, self._symmetry(), self._measure)
        if self._reducing & LENGTHENING:
            watched = self._elsewhere if "fault" in properties else self._elsewhere & properties
            read = variables_read(system.protocol, watched)
            try:
                self._table.reduce(read, "persistent" in self._reducing, "delay" in self._reducing)
            except Asymmetric as found:
                self.result.refused["symmetry"] = str(found)
                self._use_table(locally)

    @property
    def _judges_elsewhere(self) -> bool:
        """Whether invariants of several processes are judged, which the interpreter does, state by state."""
        return bool(self._elsewhere and self.request.properties & {*self._elsewhere, "fault"})

    @property
    def _reducing(self) -> frozenset[str]:
        """The reductions that are asked for and not refused so far; whether there is a symmetry is another matter."""
        return self.request.reductions.difference(self.result.refused)

    def _refuse(self, names: Collection[str], why: str) -> None:
        self.result.refused |= {name: why for name in names if name in self.request.reductions}

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
    def refuted(self) -> set[str]:
        """The properties that some run violates, whether it can be shown or not."""
        return self.suspects | self.result.violations.keys()

    @property
    def symmetry(self) -> Symmetry | None:
        """Up to what states are stored."""
        return self._table.symmetry

    def run(self, capacity: Capacity) -> Exploration:
        """Explores. A layout that turns out too small is replaced, and the search starts again."""
        self.capacity = capacity
        self._scouting = self._judges_elsewhere and bool(self._reducing & LENGTHENING)
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
        made = self._reducing if self.symmetry is not None else self._reducing - {"symmetry"}
        self.result.reductions = tuple(name for name in REDUCTIONS if name in made)
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
        except Regress:
            return False
        except Withdrawn:
            self._give_up_if_wasted()
            return False
        except Scouted:
            self._scouting = False
            return False
        except Unbounded as found:
            self._refuse(("delay",) if isinstance(found, TooManyOrders) else LENGTHENING, str(found))
            self._use_table(locally=bool(self._table.judge.invariants))
            return False
        return True

    def _give_up_if_wasted(self) -> None:
        """Takes nothing alone any longer where the claims made so far keep turning out false."""
        reached = 0 if self.search is None else self.search.state_count
        self._wasted += reached
        if self._wasted > max(_LEAST_WASTED, _MOST_WASTED * reached):
            self._refuse(
                ("persistent",), f"nearly all that it claims turns out false ({self._wasted:,} states in vain)"
            )
            self._use_table(locally=bool(self._table.judge.invariants))

    def _explore(self) -> None:
        request, result = self.request, self.result
        result.violations.clear()
        self.suspects.clear()
        self._sieves.clear()
        search = self.search = self._new_search()
        if self._judges_elsewhere and not self._scouting:
            self._sieves["locals"] = Sieve(search, ("locals",), quiet=False)
        if "delivered" in request.properties and self._shape.timers:
            self._sieves["stuck"] = Sieve(search, ("locals", "due", "addressed"), quiet=True)
        self._judge_initial()
        while search.advance(self._pause):
            self._judge()
            self._pause()
        self._judge()
        if self._scouting:
            raise Scouted

    def _new_search(self) -> NativeSearch:
        request = self.request
        told = (
            request.system, self._table, request.properties, self.capacity, self._memory, self.threads, request.limit,
            self._reducing - {"symmetry"},
        )  # fmt: skip
        match request.storage:
            case "exact":
                return NativeSearch(*told)
            case "layers":
                return LayeredSearch(*told, measure=self._measure)
            case _:
                assert_never(request.storage)

    def _count(self) -> None:
        result, search = self.result, self.search
        if search is not None:
            result.states, result.transitions, result.depth = search.state_count, search.transitions, search.depth
            result.memory = max(result.memory, search.bytes_used)

    def _pause(self) -> None:
        """Between pieces: tells how far the search is, and ends it where that is asked for."""
        assert self.search is not None
        self._count()
        request, result = self.request, self.result
        self._report()
        if self._scouting and result.states >= min(_SCOUTED, request.limit or _SCOUTED):
            raise Scouted
        if self._reducing & LENGTHENING and not {"at_most_once", "no_creation"}.isdisjoint(self.search.found):
            raise Unbounded("a message is delivered that was not to be, or more than once")
        if request.stop_when_refuted and request.properties <= self.search.found.keys() | self.refuted:
            self._collect()
            raise Stopped("every property is refuted")
        if request.limit is not None and result.states >= request.limit:
            self._collect()
            raise Stopped(f"stopped at {request.limit:,} states")

    def _report(self) -> None:
        result, (last, most) = self.result, self._reported
        now = time.perf_counter()
        if self.request.progress is None or now - last < exploration.PROGRESS_SECONDS or result.states < most:
            return
        assert self.search is not None
        if not last:
            self._expected_depth = expected_depth(self.request.system)
        self._reported = (now, result.states)
        seconds = now - self._started
        self.request.progress(
            Progress(
                result.states, result.transitions, result.depth, self.search.frontier, seconds, self.search.bytes_used,
                self._expected_depth,
            )
        )  # fmt: skip

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
        if "stuck" in self._sieves and "delivered" not in self.refuted:
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
        if self.request.storage != "exact":
            self.suspects.add(name)
            return
        state, actions = self._way_to(number)
        if by_action:
            last, finding = self._culprit(state, name)
            actions += last
        else:
            finding = self._finding(state, name)
        self.result.violations[name] = replayed(self.request.system, finding, actions)

    def _way_to(self, number: int) -> tuple[State, list[Action]]:
        """A state that the stored one stands for, and actions that lead to it."""
        assert self.search is not None
        state, *line = self.search.line_to(number)
        actions: list[Action] = []
        for stored in line:
            taken, state = self._steps_to(state, stored)
            actions += taken
        return state, actions

    def _steps_to(self, state: State, stored: State) -> tuple[list[Action], State]:
        for actions, outcome in self._near(state):
            if self.stands_for(stored, outcome.state):
                return actions, outcome.state
        raise AssertionError(f"the interpreter has no step from {state} to {stored}")

    def stands_for(self, stored: State, state: State) -> bool:
        """Whether the state is one of those that the stored one stands for, by symmetry or without what is dead."""
        state = self.without_dead(state)
        symmetry = self.symmetry
        if state == stored or symmetry is None:
            return state == stored
        return any(symmetry.state(state, each) == stored for each in symmetry.group)

    def without_dead(self, state: State) -> State:
        """The state without what the observer no longer needs, where that is cleared."""
        if "dead" not in self._reducing:
            return state
        return Dead.of(self._shape, self.request.properties).state(state)

    def _near(self, state: State) -> Iterator[tuple[list[Action], Outcome]]:
        """What follows from a transition, and from steps after it that may be taken alone; fewest steps first."""
        system = self.request.system
        frontier = sorted(self._transitions(state), key=lambda found: len(found[0]))
        seen: set[State] = set()
        while frontier:
            following = []
            for actions, outcome in frontier:
                yield actions, outcome
                if outcome.state in seen or not self._reducing & LENGTHENING:
                    continue
                seen.add(outcome.state)
                for number in system.receivable(outcome.state):
                    if self._table.taken_alone(outcome.state, number):
                        action = Action("receive", system.packet(number).dst, (), number)
                        following.append(([*actions, action], system.apply(outcome.state, action)))
            frontier = following

    def _transitions(self, state: State) -> Iterator[tuple[list[Action], Outcome]]:
        """Every action of a state, with all that may have been put off until then."""
        system = self.request.system
        if self._table.lateness is None:
            yield from (([action], system.apply(state, action)) for action in system.enabled(state))
            return
        yield from CatchingUp(system, self._table).transitions(state)

    def _culprit(self, state: State, name: str) -> tuple[list[Action], Finding]:
        """The first actions that violate the property in this state; native code says that there are some."""
        for actions, outcome in self._near(state):
            found = outcome.findings if name in FINDINGS else self._broken(outcome.state)
            for finding in found:
                if finding.property == name:
                    return actions, finding
        raise AssertionError(f"the interpreter sees no violation of {name} after {state}")

    def _finding(self, state: State, name: str) -> Finding:
        """What is wrong with a state by what it is."""
        stuck = self.request.system.stuck(state) if name == "delivered" else None
        if stuck is not None:
            return stuck
        return next(finding for finding in self._broken(state) if finding.property == name)
