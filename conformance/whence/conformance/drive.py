"""`conform`: is a system under test causal, and does it follow its protocol? Many cases, and the shortest failures.

Hypothesis and a portfolio of seeded schedulers look for failures; delta debugging shortens one of each kind. A seed
fixes everything, but for this: Hypothesis likes numbers that stand in the modules which are loaded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias, get_args

from hypothesis import HealthCheck, Phase, given
from hypothesis import seed as hypothesis_seed
from hypothesis import settings as hypothesis_settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import Flaky

from whence.conformance.findings import CaseOutcome, Finding, FindingKind
from whence.conformance.foreign import ForeignSystem
from whence.conformance.harness import run_case, run_scheduled
from whence.conformance.network import Settings
from whence.conformance.replay import Replay, delivers_to_senders
from whence.conformance.schedule import Schedule, describe, schedules
from whence.conformance.schedulers import SCHEDULERS
from whence.conformance.shrink import minimise
from whence.conformance.subject import MakeProcess
from whence.dsl import ir

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with the cases done and the cases planned."""

OPERATIONS: Final = 30
"""Operations of a case, unless said otherwise."""

LIMIT_S: Final = 5.0
"""What a case may take before the subject counts as hanging."""

_WEIGHTS: Final = {"hypothesis": 3, "starve_one_channel": 8, "uniform": 3, "pct": 3, "swarm": 3}
"""How the cases are shared out."""

_HYPOTHESIS_CASES: Final = 300
"""At most so many go to Hypothesis, which is slower than the schedulers by an order of magnitude."""

_STARTS: Final = 3
"""From so many failures of a kind the shortening starts, one after the other, until the result is short."""

_SHORT: Final = 6
"""Operations of a failure that is short enough."""

_PROGRESS_EVERY: Final = 20

_SHRINKING_S: Final = 30.0
"""Hypothesis shrinks no longer than this: a subject that hangs takes its time limit for each attempt."""

PRINTED_LINES: Final = 12
"""How many lines of what a subject printed, or of its traceback, are shown."""


@dataclass(frozen=True, slots=True)
class SchedulerCount:
    """How many cases a source of schedules ran, and how many of them failed."""

    name: str
    cases: int
    failures: int


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A shortened failure.

    Attributes:
        kinds: the kinds of finding for which it is the shortest one known; its case may show others as well.
        operations: what to replay.
        outcome: of the replay.
        reproduced: the replay showed the kinds; if not, the subject does not always do the same, and `outcome` is
            that of the case in which they showed.
    """

    kinds: tuple[FindingKind, ...]
    operations: Schedule
    outcome: CaseOutcome
    reproduced: bool

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that it stands for."""
        return tuple(finding for finding in self.outcome.findings if finding.kind in self.kinds)

    def text(self) -> str:
        """The operations as numbered sentences, then the findings."""
        lines = [f"{number:>3}  {describe(operation)}" for number, operation in enumerate(self.operations, 1)]
        lines.append("     then everything in flight arrives, oldest first, and timers fire")
        for finding in self.findings:
            lines.append(f"  => {finding}")
            lines += [f"     | {line}" for line in finding.traceback.splitlines()[-PRINTED_LINES:]]
        if not self.reproduced:
            lines.append("     (seen once; a replay of the same operations came out otherwise)")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Report:
    """What `conform` found.

    Attributes:
        settings, seed, operations: what it was asked for.
        cases, failures: how many ran, and how many of them had a finding.
        events: sends, arrivals and deliveries in all cases.
        matched: events that the protocol's interpreter did as well; 0 without a protocol.
        arrivals, withheld: of the messages that arrived, those not delivered at once though nothing was missing.
        seconds: wall time.
        schedulers: the cases and failures of each source of schedules.
        counterexamples: the gravest kind of finding first; the same case is listed once.
        interrupted: it was stopped early, and this is what there was.
        stopped: why fewer cases ran than were asked for, though nobody interrupted; empty where all ran.
    """

    settings: Settings
    seed: int
    operations: int
    cases: int
    failures: int
    events: int
    matched: int
    arrivals: int
    withheld: int
    seconds: float
    schedulers: tuple[SchedulerCount, ...]
    counterexamples: tuple[Counterexample, ...]
    interrupted: bool = False
    stopped: str = ""


def settings_for(protocol: ir.Protocol, processes: int = 3) -> Settings:
    """What the protocol says that the network may do, where its messages go, and what it promises.

    A broadcast goes to its sender too if the protocol hands it over there. A protocol that states no property at all is
    taken to promise causal delivery.
    """
    network = protocol.network
    stated = {*protocol.properties, *protocol.eventually} or {"causal", "delivered"}
    return Settings(
        processes,
        channels="reordering" if network.reordering else "fifo",
        duplication=network.duplicating,
        loss=network.lossy,
        self_sends=protocol.delivery == "broadcast" and delivers_to_senders(protocol, processes),
        delivery=protocol.delivery,
        causal="causal" in stated,
        fifo=not stated.isdisjoint({"causal", "fifo"}),
        delivered="delivered" in stated,
        total_order="total_order" in stated,
    )


def conform(
    make_process: MakeProcess,
    protocol: ir.Protocol | None,
    settings: Settings,
    *,
    cases: int = 1_000,
    seed: int = 0,
    operations: int = OPERATIONS,
    progress: Progress | None = None,
    limit_s: float = LIMIT_S,
) -> Report:
    """Runs `cases` cases, and shortens a failure of each kind that shows.

    Ctrl-C ends it early: the report then covers what has run. So does a foreign system that is `hopeless`; it has time
    limits of its own, and `limit_s` is for classes of Python.

    Raises:
        ValueError: there are no cases or no operations to run.
    """
    if cases < 1 or operations < 1:
        raise ValueError(f"at least one case of one operation is needed, not {cases} of {operations}")
    start = time.monotonic()
    replay = None if protocol is None else Replay(protocol, settings.processes)
    foreign = make_process if isinstance(make_process, ForeignSystem) else None
    run = _Runs(make_process, settings, replay, operations, None if foreign else limit_s, cases, progress, foreign)
    interrupted = False
    counterexamples: tuple[Counterexample, ...] = ()
    try:
        plan = {name: cases * weight // sum(_WEIGHTS.values()) for name, weight in _WEIGHTS.items()}
        _run_hypothesis(run, min(plan.pop("hypothesis"), _HYPOTHESIS_CASES), seed)
        # Hypothesis ends with its first failure: the default scheduler has what is left over.
        plan[next(iter(SCHEDULERS))] += cases - sum(run.cases.values()) - sum(plan.values())
        for name, count in plan.items():
            _run_scheduler(run, name, range(seed, seed + count))
        counterexamples = _shorten(run)
    except KeyboardInterrupt:
        interrupted = True
        counterexamples = _as_found(run)
    return Report(
        settings,
        seed,
        operations,
        sum(run.cases.values()),
        sum(run.failures.values()),
        run.events,
        run.matched,
        run.arrivals,
        run.withheld,
        time.monotonic() - start,
        tuple(SchedulerCount(name, run.cases[name], run.failures[name]) for name in run.cases),
        counterexamples,
        interrupted,
        run.hopeless() or "",
    )


@dataclass(slots=True)
class _Runs:
    """The cases so far, and of each kind of finding the shortest ones, the shortest first."""

    make_process: MakeProcess
    settings: Settings
    replay: Replay | None
    operations: int
    limit_s: float | None
    planned: int
    progress: Progress | None
    foreign: ForeignSystem | None = None
    cases: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    events: int = 0
    matched: int = 0
    arrivals: int = 0
    withheld: int = 0
    shortest: dict[FindingKind, list[CaseOutcome]] = field(default_factory=dict)

    def count(self, name: str, outcome: CaseOutcome) -> None:
        self.cases[name] = self.cases.get(name, 0) + 1
        self.failures[name] = self.failures.get(name, 0) + bool(outcome.findings)
        self.events += len(outcome.log)
        self.matched += outcome.matched
        self.arrivals += outcome.arrivals
        self.withheld += outcome.withheld
        self.keep(outcome)
        done = sum(self.cases.values())
        if self.progress is not None and done % _PROGRESS_EVERY == 0:
            self.progress(done, self.planned)

    def hopeless(self) -> str | None:
        return None if self.foreign is None else self.foreign.hopeless()

    def keep(self, outcome: CaseOutcome) -> None:
        for kind in outcome.kinds:
            known = self.shortest.setdefault(kind, [])
            known.append(outcome)
            known.sort(key=lambda one: len(one.operations))
            del known[_STARTS:]

    def again(self, schedule: Schedule, *, replayed: bool = True) -> CaseOutcome:
        replay = self.replay if replayed else None
        return run_case(self.make_process, schedule, self.settings, replay, limit_s=self.limit_s)


class _Failed(Exception):
    """A case had findings: Hypothesis shrinks what raises."""


def _run_scheduler(run: _Runs, name: str, seeds: range) -> None:
    scheduler = SCHEDULERS[name]
    for seed in seeds:
        if run.hopeless():
            return
        outcome = run_scheduled(
            run.make_process, scheduler, seed, run.operations, run.settings, run.replay, limit_s=run.limit_s
        )
        run.count(name, outcome)


def _run_hypothesis(run: _Runs, cases: int, seed: int) -> None:
    """Hypothesis looks for one failure and shrinks it; the cases of the shrinking are not counted."""
    if not cases:
        return
    failed, until = False, math.inf

    @hypothesis_seed(seed)
    @hypothesis_settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(schedules(run.settings, run.operations))
    def check(schedule: Schedule) -> None:
        nonlocal failed, until
        if time.monotonic() > until or (run.hopeless() and not failed):
            return
        outcome = run.again(schedule)
        if failed:
            run.keep(outcome)
        else:
            run.count("hypothesis", outcome)
        if outcome.findings:
            if not failed:
                failed, until = True, time.monotonic() + _SHRINKING_S
            raise _Failed

    try:
        # Hypothesis keeps what it learns of the loaded modules in a folder; not where the user happens to be.
        with TemporaryDirectory() as folder:
            set_hypothesis_home_dir(folder)
            check()
    except (_Failed, Flaky):
        # Flaky: the subject does not always do the same. The kept case says so when it is replayed.
        assert failed, "Hypothesis reports a failure that no case had"
    finally:
        set_hypothesis_home_dir(None)


def _shorten(run: _Runs) -> tuple[Counterexample, ...]:
    """A shortened failure of each kind, the gravest kind first."""
    found: dict[Schedule, Counterexample] = {}
    for kind in _by_gravity(run):
        # The oracle's findings do not depend on the replay, which takes most of the time.
        replayed = kind == "nonconformance"

        def attempt(schedule: Schedule, kind: FindingKind = kind, replayed: bool = replayed) -> Schedule | None:
            outcome = run.again(schedule, replayed=replayed)
            return outcome.operations if kind in outcome.kinds else None

        original, *others = run.shortest[kind]
        operations = minimise(original.operations, attempt)
        for other in others:
            if len(operations) > _SHORT:
                operations = min(operations, minimise(other.operations, attempt), key=len)
        outcome = run.again(operations)
        reproduced = kind in outcome.kinds
        if not reproduced:
            operations, outcome = original.operations, original
        same = found.get(operations)
        kinds = (kind,) if same is None else (*same.kinds, kind)
        found[operations] = Counterexample(kinds, operations, outcome, reproduced and (same is None or same.reproduced))
    return tuple(found.values())


def _as_found(run: _Runs) -> tuple[Counterexample, ...]:
    """The failures as they are: there was no time to shorten them."""
    return tuple(
        Counterexample((kind,), run.shortest[kind][0].operations, run.shortest[kind][0], True)
        for kind in _by_gravity(run)
    )


def _by_gravity(run: _Runs) -> list[FindingKind]:
    return [kind for kind in get_args(FindingKind) if kind in run.shortest]
