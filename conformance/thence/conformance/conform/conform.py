"""`conform`: is a system under test causal, and does it follow its protocol? Many cases, and the shortest failures.

Hypothesis and a portfolio of seeded schedulers look for failures; delta debugging shortens one of each kind. A seed
fixes everything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from hypothesis import HealthCheck, Phase, given
from hypothesis import seed as hypothesis_seed
from hypothesis import settings as hypothesis_settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import Flaky

from thence.conformance.cases.inputs import inputs_of
from thence.conformance.cases.network import Claim, Settings
from thence.conformance.cases.schedule import Schedule, schedules
from thence.conformance.cases.schedulers import SCHEDULERS, Scheduler
from thence.conformance.cases.shrink import Budget
from thence.conformance.conform.local_constants import without_local_constants
from thence.conformance.conform.outcomes import Reach, Shown
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.stopping import PROGRESS_EVERY, PROGRESS_EVERY_S, Stopping
from thence.conformance.conform.trials import Opposite, Trials
from thence.conformance.conform.untried import untried
from thence.conformance.harness.guide import DIRECTED
from thence.conformance.harness.guided import NAME as GUIDED
from thence.conformance.harness.shortening import SLOW, Counterexample
from thence.conformance.replay.findings import CaseOutcome, FindingKind
from thence.conformance.replay.replay import delivers_to_senders
from thence.conformance.systems.subject import MakeProcess
from thence.dsl import ir
from thence.spec.collector import collector_seldom
from thence.spec.user_error import UserError
from thence.spec.words import counted

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with the cases done and the cases planned."""

_WEIGHTS: Final = {"hypothesis": 3, "starve_one_channel": 6, "uniform": 2, "pct": 3, "swarm": 2, GUIDED: 4}
"""Shares of the cases that do not follow known counterexamples."""

_TIMES: Final = {DIRECTED: 4, **_WEIGHTS}
"""Shares of a time budget."""

_HYPOTHESIS_CASES: Final = 300
"""Most cases of Hypothesis, which is slower than the schedulers by an order of magnitude."""

LEAST_ATTEMPTS: Final = 1_000
"""Least number of attempts at shortening the failures of a kind; with many cases it is twice their number."""

_SHRINKING: Final = 500
"""Attempts of Hypothesis at shrinking its failure."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `conform`.

    Attributes:
        settings, seed, operations: of the run.
        cases, failures: how many cases ran, and how many of them had a finding.
        events: sends, arrivals and deliveries in all cases.
        matched: events that the protocol's interpreter took as well; 0 without a protocol.
        arrivals, withheld: messages that arrived, and those of them that were not delivered at once although nothing
            was missing.
        seconds: wall time.
        reaches: cases, failures and coverage of each source of schedules.
        whole: the same of all together.
        slowest: the case with the longest delay of a message that nothing was missing for, or None.
        counterexamples: the gravest kind of finding first; the same case is listed once.
        interrupted: the run was stopped early.
        stopped: why fewer cases ran than were asked for, though nobody interrupted; empty where all ran.
        undecided: cases, and attempts to shorten them, whose replay had too many possible states.
        vacuous: why the cases say nothing about a system that passes them; empty where they say something.
        refuting: for each claim, the number of cases that refute it, whether it is made or not.
        cut: for each claim, the number of cases that a crash or such ended before they could refute it.
        notes: for each kind of finding that breaks nothing that is claimed, how many cases showed it, and the first.
        other_order: how many cases did what the protocol does in another order than its text, and the first.
        as_a_whole: how many cases have a step that the protocol does not take, though it has a run with their events,
            and the first.
        fields: the fields of the protocol's packets (`KIND.field`), and whether they were compared; None where the
            steps are not.
        untried: the claims that no case could have refuted, each with the reason.
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
    reaches: tuple[Reach, ...]
    whole: Reach
    slowest: CaseOutcome | None
    counterexamples: tuple[Counterexample, ...]
    interrupted: bool = False
    stopped: str = ""
    undecided: int = 0
    vacuous: str = ""
    refuting: Mapping[Claim, int] = field(default_factory=dict)
    notes: Mapping[FindingKind, Shown] = field(default_factory=dict)
    other_order: Shown | None = None
    fields: Mapping[str, bool] | None = None
    untried: Mapping[Claim, str] = field(default_factory=dict)
    cut: Mapping[Claim, int] = field(default_factory=dict)
    as_a_whole: Shown | None = None

    def tried(self, claim: Claim) -> int:
        """The number of cases that were carried through, or refuted the claim."""
        return self.cases - self.cut.get(claim, 0)

    def unknown(self, claim: Claim) -> str:
        """Why the cases say nothing of a claim that none of them refutes; empty where it was tested."""
        if self.vacuous:
            return self.vacuous
        if self.cases and not self.tried(claim):
            return "no case was carried through"
        if claim in self.untried:
            return self.untried[claim]
        if self.undecided and claim == "conforming":
            return f"too many possible states of the protocol in {self.undecided:,} of {counted(self.cases, 'case')}"
        return ""


def settings_for(protocol: ir.Protocol, processes: int = 3) -> Settings:
    """The settings that the protocol states: its network, the destinations of its messages, and as claims its promises.

    A broadcast goes to its sender too if the protocol hands it over there. A protocol that states no property at all is
    taken to promise causal delivery.
    """
    network, sends = protocol.network, protocol.sends
    stated = {*protocol.properties, *protocol.eventually} or {"causal", "delivered"}
    if "causally_ordered" in stated and "causal" not in stated:
        raise UserError(
            f"cases of classes judge `causal`, the strict reading of causal delivery; {protocol.name} promises"
            " `causally_ordered` only"
        )
    return Settings(
        processes,
        channels="reordering" if network.reordering else "fifo",
        duplication=network.duplicating,
        loss=network.lossy,
        self_sends=sends and protocol.delivery == "broadcast" and delivers_to_senders(protocol, processes),
        delivery=protocol.delivery,
        causal=sends and "causal" in stated,
        fifo=sends and not stated.isdisjoint({"causal", "fifo"}),
        delivered=sends and "delivered" in stated,
        once=sends and (not protocol.properties or not stated.isdisjoint({"at_most_once", "no_creation"})),
        total_order=sends and "total_order" in stated,
        timers=protocol.timers or (ir.PERIODICALLY,),
        inputs=inputs_of(protocol, processes),
        sends=sends,
    )


def conform(
    make_process: MakeProcess,
    against: Opposite | None,
    settings: Settings,
    sampling: Sampling,
    *,
    progress: Progress | None = None,
    budget_s: float | None = None,
) -> Report:
    """Runs the cases, and shortens a failure of each kind that shows.

    Ctrl-C and SIGTERM end the run early, and the report covers the cases so far. So does the end of `budget_s`, seconds
    for all of it, of which each source of schedules has its share. A system that is `hopeless` ends the run, too.
    """
    start = time.monotonic()
    stopping = Stopping(budget_s)
    trials = Trials(make_process, against, settings, sampling, stopping)
    run = _Run(trials, progress)
    interrupted = False
    with stopping.listening(), collector_seldom():
        try:
            run.directed()
            run.hypothesis()
            run.scheduled()
            trials.last_words()
        except KeyboardInterrupt:
            interrupted = True
            trials.complete = False
        counterexamples = trials.counterexamples(max(LEAST_ATTEMPTS, 2 * sampling.cases))
    outcomes = trials.outcomes
    whole = outcomes.whole
    return Report(
        settings,
        sampling.seed,
        sampling.operations,
        whole.cases,
        whole.failures,
        whole.events,
        outcomes.matched,
        outcomes.arrivals,
        outcomes.withheld,
        time.monotonic() - start,
        tuple(outcomes.reaches.values()),
        whole,
        outcomes.slowest,
        tuple(counterexamples),
        interrupted or not trials.complete,
        trials.hopeless() or (trials.no_time if whole.cases < sampling.cases else ""),
        trials.undecided,
        whole.vacuous,
        trials.outcomes.refuting,
        trials.outcomes.notes,
        trials.outcomes.other_order,
        None if trials.fields is None else {name: name in trials.outcomes.compared for name in trials.fields},
        untried(against, settings, outcomes.arrivals),
        trials.outcomes.cut,
        trials.outcomes.as_a_whole,
    )


class _Run:
    """The sources of schedules, one after the other."""

    def __init__(self, trials: Trials, progress: Progress | None) -> None:
        self._trials = trials
        self._cases = trials.sampling.cases
        self._seed = trials.sampling.seed
        self._progress = progress
        self._told_s = time.monotonic()
        self._shares = sum(_TIMES.values())
        """Of the sources that are still to come."""
        self._until_s: float | None = None
        """The end of the present source's share of the time budget, by the monotonic clock."""

    def directed(self) -> None:
        """The known counterexamples, as they are."""
        self._begin(DIRECTED)
        for scheduler in self._trials.guide.directed[: self._cases]:
            self._run(DIRECTED, scheduler, self._seed)

    def hypothesis(self) -> None:
        """Hypothesis looks for one failure and shrinks it; the cases of the shrinking are not counted."""
        cases = min(self._share("hypothesis"), _HYPOTHESIS_CASES)
        self._begin("hypothesis")
        if not cases:
            return
        trials, attempts = self._trials, Budget(_SHRINKING)
        failed = False

        @hypothesis_seed(self._seed)
        @hypothesis_settings(
            max_examples=cases,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(schedules(trials.settings, trials.sampling.operations))
        def check(schedule: Schedule) -> None:
            nonlocal failed
            if not failed:
                if not self._may_run:
                    raise _Enough
                failed = bool(self._counted(trials.run_schedule("hypothesis", schedule)).findings)
            elif attempts.left <= 0 or not self._in_time:
                raise _Enough
            else:
                attempts.left -= 1
                outcome = trials.again(schedule)
                trials.outcomes.keep("hypothesis", outcome)
                if not outcome.kinds.isdisjoint(SLOW):
                    attempts.charge_hang(trials.hang_s)
                if not outcome.findings:
                    return
            if failed:
                raise _Failed

        try:
            # What Hypothesis writes goes to a folder that is not the user's.
            with TemporaryDirectory() as folder, without_local_constants():
                set_hypothesis_home_dir(folder)
                check()
        except _Enough:
            pass
        except (_Failed, Flaky):
            # Flaky: the subject does not always do the same. The kept case says so when it is replayed.
            assert failed, "Hypothesis reports a failure that no case had"
        finally:
            set_hypothesis_home_dir(None)

    def scheduled(self) -> None:
        """The portfolio; last the guided scheduler, which has learned from all cases before."""
        counts = {name: self._share(name) for name in (*SCHEDULERS, GUIDED)}
        # Hypothesis ends with its first failure: the default scheduler has its remaining cases.
        counts[next(iter(SCHEDULERS))] += self._left - sum(counts.values())
        for name, count in counts.items():
            self._begin(name)
            seeds = range(self._seed, self._seed + count)
            if name == GUIDED:  # It learns from each case before the next one.
                for seed in seeds:
                    self._run(name, self._trials.guide.scheduler, seed)
                continue
            for outcome in self._trials.run_all(name, SCHEDULERS[name], seeds, lambda: not self._may_run):
                self._counted(outcome)

    @property
    def _left(self) -> int:
        """Cases that have not run."""
        return self._cases - self._trials.outcomes.cases

    def _share(self, name: str) -> int:
        """The cases of a source, of those that are not directed."""
        known = self._trials.outcomes.reaches.get(DIRECTED)
        undirected = self._cases - (0 if known is None else known.cases)
        return undirected * _WEIGHTS[name] // sum(_WEIGHTS.values())

    def _run(self, name: str, scheduler: Scheduler, seed: int) -> None:
        if self._may_run:
            self._counted(self._trials.run(name, scheduler, seed))

    def _begin(self, name: str) -> None:
        """The source begins; of the time that is left, it has its share."""
        left_s = self._trials.stopping.left_s
        if left_s is not None:
            self._until_s = time.monotonic() + left_s * _TIMES[name] / self._shares
        self._shares -= _TIMES[name]

    @property
    def _may_run(self) -> bool:
        """Whether one more case of the present source may run."""
        return self._in_time and not self._trials.hopeless()

    @property
    def _in_time(self) -> bool:
        share_is_left = self._until_s is None or time.monotonic() < self._until_s
        return share_is_left and not self._trials.no_time

    def _counted(self, outcome: CaseOutcome) -> CaseOutcome:
        done, now_s = self._trials.outcomes.cases, time.monotonic()
        if self._progress is not None and (done % PROGRESS_EVERY == 0 or now_s - self._told_s > PROGRESS_EVERY_S):
            self._progress(done, self._cases)
            self._told_s = now_s
        return outcome


class _Failed(Exception):
    """A case had findings: Hypothesis shrinks cases that raise."""


class _Enough(BaseException):
    """No more cases are to run, or the attempts at shrinking are spent. Hypothesis lets a BaseException pass."""
