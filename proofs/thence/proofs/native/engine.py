"""Exploration by native code: the same states, transitions, depth and verdicts as the interpreter's, sooner."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.observability import judged_in_steps
from thence.dsl.ir.properties import DELIVERED
from thence.dsl.run.actions import State
from thence.dsl.run.choices import TooManyOutcomes
from thence.dsl.run.identity_reuse import ReusedIdentities, system_of
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault
from thence.proofs.explore import exploration
from thence.proofs.explore.crew import CrewLost
from thence.proofs.explore.depth import expected_depth
from thence.proofs.explore.exploration import (
    Exploration,
    ExplorationRequest,
    Progress,
    Resources,
    Storage,
    saturated,
)
from thence.proofs.explore.reductions import FEW_STATES, REDUCTIONS
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.links.following import companion_of
from thence.proofs.native.code.cells import CROWDED, MOST_INVARIANTS, MOST_PROMISED
from thence.proofs.native.disk_search import DiskSearch
from thence.proofs.native.invariants import LocalJudge, judged_locally, names_of_steps
from thence.proofs.native.judging.judge import Judge
from thence.proofs.native.judging.kinds import Kinds
from thence.proofs.native.kept_search import KeptSearch, NotOnDisk, folder_of, identity, is_kept, recall, remove
from thence.proofs.native.layout import Capacity, Shape, shape_of
from thence.proofs.native.memory import Allotment
from thence.proofs.native.progress_measure import Measure, NoMeasure, Regress
from thence.proofs.native.search import NativeSearch, Overflow
from thence.proofs.native.spread.search import WORKER_MEMORY, SpreadSearch
from thence.proofs.native.state_store import OutOfMemory
from thence.proofs.native.sweep_line import SweepLineSearch
from thence.proofs.native.symmetry import Asymmetric, Symmetry
from thence.proofs.native.tables import StepTable
from thence.spec.words import counted

MOST_MESSAGES = 64
"""A set of messages is one word."""


class Stopped(Exception):
    """The search has found all that it was asked for, or has reached a limit; the message says which."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Sizes in a part of the states: numbers of local states and packets, packets in flight, states of a companion."""

    local_states: int = 32
    packets: int = 8
    in_flight: int = 4
    followers: int = 1024

    @staticmethod
    def of(system: System, states: Collection[State]) -> Sample:
        """Of some states of the system, and of its tables."""
        companion = companion_of(system)
        followers = 1 if companion is None else companion.size
        return Sample(*system.sizes, max(len(state.network) for state in states), followers)

    @property
    def capacity(self) -> Capacity:
        """A guess at the capacity that all states need; the search finds out where it is too small."""
        packet_bits = max(2, (self.packets * 3 // 2).bit_length())
        follower_bits = (64 * self.followers).bit_length()
        return Capacity((16 * self.local_states).bit_length(), packet_bits, self.in_flight + 4, follower_bits)


def why_not(system: System, storage: Storage = "exact") -> str | None:
    """Why native code cannot explore this, with its states stored so, if so."""
    unusual = _unusual(system)
    unlimited = isinstance(system.workload.sending, ir.AnyNumber)
    if unusual is not None and (storage != "exact" or system.companion is not None or unlimited):
        return unusual
    if system.workload.prompt and system.workload.reactive:
        return "sends are prompt, and inside deliveries, too"
    if system.promises is not None and len(system.promises.instances) > MOST_PROMISED:
        promised = f"{len(system.promises.instances)} promises, each for some processes"
        return f"there are {promised}, native code takes {MOST_PROMISED}"
    of_steps = judged_in_steps(system.protocol)
    if len(names_of_steps(system.protocol)) > MOST_INVARIANTS:
        return f"there are {len(of_steps)} formulas about actions, native code takes {MOST_INVARIANTS}"
    messages = sum(system.workload.sends)
    if messages > MOST_MESSAGES:
        return f"there are {messages} messages, native code takes {MOST_MESSAGES}"
    return None


def _unusual(system: System) -> str | None:
    """What is unusual about the way in which messages are sent, if anything is."""
    if not isinstance(system, ReusedIdentities):
        return None
    return "sends are prompt" if system.workload.ends else "messages are sent for ever"


def symmetry_of(system: System, shape: Shape) -> Symmetry:
    """The symmetry of the system, as far as can be known before any step is taken.

    Raises:
        Asymmetric: there is none.
    """
    unusual = _unusual(system)
    if shape.places > 1 or unusual is not None:
        raise Asymmetric(unusual or "the application follows programs")
    if shape.owed:
        raise Asymmetric("what `eventually` promises is followed process by process")
    if system.interpreter.chooses:
        raise Asymmetric("a step has several outcomes, by what it chooses")
    symmetry = Symmetry(system, shape)
    if len(symmetry.group) == 1:
        raise Asymmetric("the workload tells all processes apart")
    return symmetry


def seems_symmetric(system: System) -> bool:
    """Whether the system has a symmetry, as far as can be known before any step is taken."""
    try:
        symmetry_of(system, shape_of(system))
    except Asymmetric:
        return False
    return True


def explore_natively(request: ExplorationRequest, sample: Sample = Sample()) -> Exploration:
    """Explores by native code. The runs that show violations are those that one thread shows, whoever met them.

    Raises:
        ValueError: where native code cannot take the scope; `why_not` tells. NoMeasure and NotOnDisk, which are such:
            where it cannot be stored so.
    """
    reason = why_not(request.system, request.storage)
    if reason is not None:
        raise ValueError(reason)
    started, sizes = time.perf_counter(), request.system.sizes
    engine = NativeEngine(request)
    result = engine.run(sample.capacity)
    if engine.suspects or (result.violations and engine.allotment.threads > 1 and request.storage != "disk"):
        try:
            _look_again(request, engine, sample.capacity, sizes)
        except KeyboardInterrupt:
            result.complete, result.why_incomplete = False, "interrupted"
        except MemoryError:
            result.complete, result.why_incomplete = False, "out of memory"
    result.seconds = time.perf_counter() - started
    return result


def _look_again(request: ExplorationRequest, engine: NativeEngine, capacity: Capacity, sizes: tuple[int, int]) -> None:
    """Looks for the same violations by one thread, with all states kept.

    The search begins where the first one began: with the `capacity`, and with the first numbers of local states and of
    packets, so many as `sizes` says. So it does what one thread does that is asked in the first place, and ends once
    each violation is met. Violations that were met by a search that forgets states, and are not met again, are unshown.
    """
    result = engine.result
    result.unshown = frozenset(engine.suspects)
    system, companion = system_of(request.system.protocol, request.system.workload), companion_of(request.system)
    system.steps.adopt(request.system.steps, sizes)
    if companion is not None:
        system.companion = companion.again(system)
    again = replace(
        request, system=system, storage="exact", resources=Resources(request.resources.memory, threads=1), keep=None,
    )  # fmt: skip
    repetition = NativeEngine(again, until=frozenset(engine.refuted)).run(capacity)
    repeated = repetition.violations
    if repetition.why_incomplete == "interrupted":
        result.complete, result.why_incomplete = False, "interrupted"
    if repeated.keys() >= result.violations.keys():
        result.violations = repeated
    result.unshown = frozenset(engine.suspects - result.violations.keys())


@dataclass(slots=True)
class NativeEngine:
    """One exploration by native code. `capacity` is that of the last layout, `search` the last search.

    `until`: the search ends with the layer in which the last of these properties is refuted, if there are any.
    """

    request: ExplorationRequest
    until: frozenset[str] = frozenset()
    allotment: Allotment = field(init=False)
    capacity: Capacity = field(init=False)
    result: Exploration = field(init=False)
    search: NativeSearch | None = field(init=False, default=None)
    _judge: Judge | None = field(init=False, default=None)
    _shape: Shape = field(init=False)
    _table: StepTable = field(init=False)
    _expected_depth: int | None = field(init=False, default=None)
    _folder: Path | None = field(init=False, default=None)
    _kept: KeptSearch | None = field(init=False, default=None)
    _started: float = field(init=False, default_factory=time.perf_counter)
    _reported: tuple[float, int] = field(init=False, default=(0.0, 0))

    def __post_init__(self) -> None:
        self.result = Exploration(engine="native", storage=self.request.storage)
        self.allotment = Allotment.of(self.request.resources)
        if self.request.storage == "disk" and self.request.resources.threads is None:
            self.allotment = replace(self.allotment, threads=1)
        if self.request.resources.crew is not None:
            assert self.request.storage == "disk", "workers keep states in files"
            self.allotment = Allotment(self.request.resources.memory or WORKER_MEMORY, 1)
        self._shape = shape_of(self.request.system)
        if self._shape.followed and (self.request.storage != "exact" or self.request.reductions):
            raise ValueError("a link is explored with all states kept, and without reductions")
        if self.request.storage == "layers" and self._shape.places > 1:
            raise NoMeasure("the application follows programs")
        measure = Measure(self.request.system) if self.request.storage == "layers" else None
        self._use_table(measure)

    # --- tables and reductions ---------------------------------------------------------------

    def _use_table(self, measure: Measure | None) -> None:
        """A new table. Local steps judge the invariants of one process; the judge judges the rest."""
        system, properties = self.request.system, self.request.properties
        local = judged_locally(system.protocol, MOST_INVARIANTS)
        departures = bool(properties & {"csps", "sps"})
        self._table = StepTable(system, self._shape, departures, LocalJudge(system, local), self._symmetry(), measure)

    @property
    def _reducing(self) -> frozenset[str]:
        """The reductions that are asked for and not refused so far."""
        return self.request.reductions.difference(self.result.refused)

    def _refuse(self, name: str, why: str) -> None:
        if name in self.request.reductions:
            self.result.refused[name] = why

    def _symmetry(self) -> Symmetry | None:
        """The symmetry of the system, where it is asked for, there is any, and nothing speaks against it so far."""
        if "symmetry" not in self._reducing:
            return None
        try:
            return symmetry_of(self.request.system, self._shape)
        except Asymmetric as found:
            self._refuse("symmetry", str(found))
            return None

    @property
    def symmetry(self) -> Symmetry | None:
        """The symmetry up to which states are stored."""
        return self._table.symmetry

    @property
    def suspects(self) -> set[str]:
        """The properties that some run violates, by a search that forgets states."""
        return set() if self._judge is None else self._judge.suspects

    @property
    def refuted(self) -> set[str]:
        """The properties that some run violates, whether it can be shown or not."""
        return self.suspects | self.result.violations.keys()

    # --- the search --------------------------------------------------------------------------

    def run(self, capacity: Capacity) -> Exploration:
        """Explores. A layout that turns out too small is replaced, and the search starts again."""
        if self.request.storage == "disk":
            return self._run_in_files(capacity)
        return self._run(capacity)

    def _run_in_files(self, capacity: Capacity) -> Exploration:
        request, result = self.request, self.result
        if DELIVERED in request.properties and not is_decided_at_rest(request.system):
            raise NotOnDisk("`delivered` is about runs that never end, and needs all states at hand")
        if request.system.promises is not None:
            named = ", ".join(f"`{promise.name}`" for promise in request.system.protocol.promises)
            raise NotOnDisk(f"what is promised is about runs that never end, and needs all states at hand: {named}")
        with folder_of(request) as self._folder:
            try:
                self._kept = recall(self._folder, identity(request))
                self._run(capacity if self._kept is None else self._kept.capacity)
            except BaseException:
                if request.resources.folder is not None and not is_kept(self._folder):
                    remove(self._folder)
                raise
            if request.resources.folder is not None:
                if result.complete or request.properties <= self.refuted or not is_kept(self._folder):
                    remove(self._folder)
                elif result.why_incomplete == "interrupted":
                    result.why_incomplete = "interrupted; the same command goes on where it was"
        return result

    def _run(self, capacity: Capacity) -> Exploration:
        self.capacity = capacity
        try:
            while not self._attempt():
                pass
            self._keep()
            self.result.complete = True
            self.result.saturated = self._saturated()
            self.result.stands_for = self._stands_for()
        except Stopped as stopped:
            self.result.why_incomplete = str(stopped)
        except OutOfMemory:
            self.result.why_incomplete = f"the {self.allotment.memory / 1e6:,.0f} MB for states are used up"
        except MemoryError:
            self.result.why_incomplete = "out of memory"
        except (TooManyOutcomes, Fault) as why:
            self.result.why_incomplete = str(why)
        except OSError as error:
            self.result.why_incomplete = f"files of states: {error}"
        except CrewLost as lost:
            self.result.why_incomplete = str(lost)
        except KeyboardInterrupt:
            self.result.why_incomplete = "interrupted"
        self._count()
        self.result.reductions = tuple(name for name in REDUCTIONS if name in self._reducing)
        return self.result

    def _keep(self) -> None:
        """Gives the states to whoever keeps them."""
        keep, search = self.request.keep, self.search
        if keep is None or self.request.storage != "exact":
            return
        assert search is not None
        store, symmetry = search.store, self.symmetry
        states = (store.state(number) for number in store.numbers())
        keep(self.request.system, states, () if symmetry is None else symmetry.group)

    def _stands_for(self) -> int | None:
        """See `Exploration`."""
        search, symmetry = self.search, self.symmetry
        if search is None or self.request.storage != "exact" or search.state_count > FEW_STATES:
            return None
        if symmetry is None:
            return search.state_count
        states = 0
        for locals_, sends in search.store.locals_and_sends():
            states += symmetry.least_orbit(locals_, sends)
            if states > FEW_STATES:
                break
        return states

    def _saturated(self) -> bool:
        """Whether no sender lacked an identity; the interpreter confirms that one did."""
        system, search = self.request.system, self.search
        assert search is not None
        if CROWDED in search.found:
            for _ in system.application_sends(search.store.state(search.found[CROWDED])):
                pass
            assert not saturated(system), "the interpreter finds an identity that is free"
        return saturated(system)

    def _attempt(self) -> bool:
        """One search; whether it comes to its end. Where it must start again, the cause is removed.

        A violation is shown by the first search that meets it: a layout does not change how short a run is.
        """
        measure = self._table.measure
        try:
            self._explore()
        except Overflow as overflow:
            self.capacity = overflow.capacity
            return False
        except Asymmetric as found:
            self._refuse("symmetry", str(found))
            self.result.violations.clear()
            self._use_table(measure)
            return False
        except Regress:
            return False
        return True

    def _explore(self) -> None:
        request = self.request
        if request.storage == "disk":
            self.result.violations.clear()  # the files name the states that show them, so all are met anew
        self.result.undecided.clear()
        self._judge = None
        search = self.search = self._new_search()
        judge = self._judge = Judge(request, search, self.result)
        judge.judge_initial()
        for name, by_action in search.resume():
            judge.violated(name, 0, by_action=by_action)
        while search.advance(self._pause):
            judge.judge()
            if self.until and self.until <= self.refuted:
                raise Stopped("every violation is met")
            self._pause()
        judge.judge()
        judge.judge_endless()

    def _new_search(self) -> NativeSearch:
        match self.request.storage:
            case "exact":
                return NativeSearch(self.request, self._table, self.capacity, self.allotment)
            case "disk":
                assert self._folder is not None
                kept, self._kept = self._kept, None
                crew, asked = self.request.resources.crew, (self.request, self._table, self.capacity, self.allotment)
                if crew is None:
                    return DiskSearch(*asked, self._folder, kept)
                return SpreadSearch(
                    *asked,
                    self._folder,
                    kept,
                    crew=crew,
                    kinds=tuple(Kinds(self.request, self._shape).named().values()),
                )
            case "layers":
                return SweepLineSearch(self.request, self._table, self.capacity, self.allotment)
            case _:
                assert_never(self.request.storage)

    def _count(self) -> None:
        result, search = self.result, self.search
        if search is not None:
            result.states, result.transitions, result.depth = search.state_count, search.team.transitions, search.depth
            result.memory = max(result.memory, search.bytes_used)

    def _pause(self) -> None:
        """Between pieces: reports progress, and stops where that is asked for."""
        search, judge, request, result = self.search, self._judge, self.request, self.result
        assert search is not None and judge is not None
        self._count()
        self._report(search)
        if request.stop_when_refuted and request.properties <= search.found.keys() | self.refuted:
            judge.collect()
            raise Stopped("every property is refuted")
        if request.limit is not None and result.states >= request.limit:
            judge.collect()
            raise Stopped(f"stopped at {counted(request.limit, 'state')}")

    def _report(self, search: NativeSearch) -> None:
        result, (last, most) = self.result, self._reported
        now = time.perf_counter()
        if self.request.progress is None or now - last < exploration.PROGRESS_SECONDS or result.states < most:
            return
        if not last:
            self._expected_depth = expected_depth(system_of(self.request.system.protocol, self.request.system.workload))
        self._reported = (now, result.states)
        self.request.progress(
            Progress(
                result.states, result.transitions, result.depth, search.frontier, now - self._started,
                search.bytes_used, self._expected_depth,
            )
        )  # fmt: skip
