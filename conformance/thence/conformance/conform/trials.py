"""The cases of one system under the same settings: run, counted, learned from, and the failures shortened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Schedule
from thence.conformance.cases.schedulers import Scheduler
from thence.conformance.conform.outcomes import Outcomes
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.stopping import Stopping
from thence.conformance.harness.at_once import run_at_once
from thence.conformance.harness.coverage import CoveredReplay
from thence.conformance.harness.guide import Guide
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.harness.observing import Observer
from thence.conformance.harness.shortening import Counterexample, Shortening
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.systems.subject import MakeProcess
from thence.conformance.systems.system import HANGS, ExternalSystem
from thence.dsl import ir

LIMIT_S: Final = 5.0
"""Seconds that a case may take before a class of Python counts as hanging. A foreign system has limits of its own."""


@dataclass(frozen=True, slots=True)
class Opposite:
    """The protocol that a system is held against, beside the oracle.

    Attributes:
        protocol: the protocol.
        closely: `strictly`: each step is the text's, in the text's order; `as promised`: steps are compared, and an
            order that the protocol does not promise is free; `as observed`: single steps cannot be compared, the events
            of each case are replayed when it is over.
        why_not: why single steps cannot be compared, although nobody asked for that; otherwise empty.
    """

    protocol: ir.Protocol
    closely: Literal["strictly", "as promised", "as observed"] = "as promised"
    why_not: str = ""


class Trials:
    """Runs cases of one system.

    Attributes:
        settings: the abilities of network and application, and the promises of the system.
        sampling: the cases that are asked for.
        hang_s: the seconds that a hang of the subject takes.
        outcomes: of the cases so far.
        guide: the known and the learned schedules.
        complete: every failure has been shortened as far as it goes; false after Ctrl-C.
        stopping: the early end of the run.
    """

    def __init__(
        self,
        make_process: MakeProcess,
        against: Opposite | None,
        settings: Settings,
        sampling: Sampling,
        stopping: Stopping | None = None,
    ) -> None:
        self.settings = settings
        self.sampling = sampling
        self.guide = Guide(sampling.known)
        self._make = make_process
        self._foreign = make_process if isinstance(make_process, ExternalSystem) else None
        self._limit_s = None if self._foreign is not None else LIMIT_S
        self.hang_s = LIMIT_S if self._foreign is None else self._foreign.limits.reply_s
        self.stopping = Stopping() if stopping is None else stopping
        self._hangs = 0
        self._replay: CoveredReplay | None = None
        self._follow: PartialObservationReplay | None = None
        if against is not None and against.closely == "as observed":
            self._follow = PartialObservationReplay(against.protocol, settings.processes)
        elif against is not None:
            strict = against.closely == "strictly"
            self._replay = CoveredReplay(against.protocol, settings.processes, strict)
        self.outcomes = Outcomes(Observer(self._replay))
        self.complete = True

    def run(self, name: str, scheduler: Scheduler, seed: int) -> CaseOutcome:
        """One case of the scheduler."""
        self.stopping.check()
        outcome = run_scheduled(
            self._make, scheduler, seed, self.sampling.operations, self.settings, self._replay, limit_s=self._limit_s
        )
        return self._counted(name, self._followed(outcome))

    def run_all(
        self, name: str, scheduler: Scheduler, seeds: Sequence[int], enough: Callable[[], bool]
    ) -> Iterator[CaseOutcome]:
        """The cases of the scheduler, until there are `enough`: of a foreign system several at once, if it can."""
        if self._foreign is None:
            for seed in seeds:
                if enough():
                    return
                yield self.run(name, scheduler, seed)
            return

        def stop() -> bool:
            self.stopping.check()
            return enough()

        given = self.sampling.operations, self.settings, self._replay
        for outcome in run_at_once(self._foreign, scheduler, seeds, *given, stop):
            yield self._counted(name, self._followed(outcome))
            if enough():
                return

    def run_schedule(self, name: str, schedule: Schedule) -> CaseOutcome:
        """One case with given operations."""
        return self._counted(name, self.again(schedule))

    def again(self, schedule: Schedule, *, replayed: bool = True) -> CaseOutcome:
        """Runs a schedule without counting it."""
        self.stopping.check()
        replay = self._replay if replayed else None
        outcome = run_case(self._make, schedule, self.settings, replay, limit_s=self._limit_s)
        return self._followed(outcome) if replayed else outcome

    def last_words(self) -> None:
        """A foreign system begins once more: its misbehaviour after its last reply comes to light, and is a case."""
        if self._foreign is None or self.hopeless():
            return
        outcome = self.again((), replayed=False)
        if outcome.findings:
            self._counted("last words", outcome)

    @property
    def no_time(self) -> str:
        """Why no more cases run though nothing is wrong: the time budget is spent; empty where it is not."""
        if not self.stopping.out_of_time(failed=bool(self.outcomes.kinds)):
            return ""
        return f"the time budget of {round(self.stopping.budget_s or 0, 1):g} s is spent"

    @property
    def _time_is_up(self) -> bool:
        left_s = self.stopping.left_s
        return left_s is not None and left_s <= 0

    def _followed(self, outcome: CaseOutcome) -> CaseOutcome:
        return outcome if self._follow is None else self._follow.follow(outcome)

    @property
    def fields(self) -> tuple[str, ...] | None:
        """The fields of the protocol's packets, where steps are compared."""
        return None if self._replay is None else self._replay.fields.names

    @property
    def undecided(self) -> int:
        """Replays, of cases and of attempts to shorten them, with too many possible states."""
        replays = [self._replay, self._follow]
        return sum(replay.undecided for replay in replays if replay is not None)

    def hopeless(self) -> str:
        """Why more cases are pointless; empty where they are not."""
        if self._foreign is not None:
            return self._foreign.hopeless() or ""
        return f"{HANGS} cases had no end in {LIMIT_S:g} s" if self._hangs >= HANGS else ""

    def counterexamples(self, attempts: int) -> Sequence[Counterexample]:
        """A shortened failure of each kind, the gravest kind first. Ctrl-C ends it with the failures as they are."""
        found: dict[Schedule, Counterexample] = {}
        for shown in self._shortened(attempts):
            same = found.get(shown.operations)
            if same is not None:
                kinds = (*same.kinds, *shown.kinds)
                shown = Counterexample(kinds, same.operations, same.outcome, _both(same.reproduced, shown.reproduced))
            found[shown.operations] = shown
        return tuple(found.values())

    def worst(self, attempts: int) -> Counterexample | None:
        """A shortened failure of the gravest kind, if there is any."""
        return next(self._shortened(attempts), None)

    def _shortened(self, attempts: int) -> Iterator[Counterexample]:
        for kind in self.outcomes.kinds:
            # The oracle's findings do not depend on the replay, which takes most of the time.
            replayed = kind == "nonconformance"

            def quick(schedule: Schedule, replayed: bool = replayed) -> CaseOutcome:
                return self.again(schedule, replayed=replayed)

            search = Shortening(
                kind, self.outcomes.starts(kind), self.again, self.hang_s, quick, lambda: self._time_is_up
            )
            try:
                if self.complete:
                    search.run(attempts)
            except KeyboardInterrupt:
                self.complete = False
            yield search.shown

    def _counted(self, name: str, outcome: CaseOutcome) -> CaseOutcome:
        self._hangs += "hang" in outcome.kinds
        if self.outcomes.count(name, outcome):
            self.guide.learn(outcome.operations)
        return outcome


def _both(one: bool | None, other: bool | None) -> bool | None:
    """Whether both were reproduced; None where that is not known."""
    return None if None in (one, other) and False not in (one, other) else bool(one and other)
