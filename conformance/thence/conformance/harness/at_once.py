"""Several cases of a foreign system at once: each batch of requests has the next one of every case.

NOTE(at once): a case that runs beside others counts only if it is clean. One with a finding is run again alone, and so
is every case that was under way when the system failed (ended, hung, gave no proper reply): what shows then is what
would have shown without batches. A failure that does not show alone is not lost: it is a finding of the case that had
it; of a failure of the whole batch, of the last case under way. After the latter, cases run one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any, Final, TypeAlias

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Operation
from thence.conformance.cases.schedulers import Scheduler
from thence.conformance.harness.case import Case
from thence.conformance.harness.drain import draining
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.replay.findings import CaseFinding, CaseOutcome, FindingKind
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.foreign import SystemFailed, SystemRaised
from thence.conformance.systems.slot import Slot
from thence.conformance.systems.system import ExternalSystem

Failure: TypeAlias = SystemFailed | SystemRaised

_ENDS: Final[frozenset[FindingKind]] = frozenset({"crash", "hang", "memory"})
"""Findings that a case has where the system fails."""


def run_at_once(
    system: ExternalSystem,
    scheduler: Scheduler,
    seeds: Iterable[int],
    operations: int,
    settings: Settings,
    replay: Replay | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> Iterator[CaseOutcome]:
    """As `run_scheduled` of each seed in turn, see NOTE(at once). It ends early when there is `enough`, which is asked
    between batches; cases under way do not count then.

    Where the system does not hold several cases, or has inputs, one runs at a time.
    """

    make: Any = system

    def alone(seed: int) -> CaseOutcome:
        return run_scheduled(make, scheduler, seed, operations, settings, replay)

    left, apart = list(seeds), bool(settings.inputs)
    while left and not enough():
        count = 1 if apart else system.cases_at_once
        now, left = left[:count], left[count:]
        if len(now) == 1:
            yield alone(now[0])
            continue
        try:
            abilities = system.begin_case(settings)
        except (SystemFailed, SystemRaised) as failure:
            yield run_scheduled(_Failing(failure), scheduler, now[0], operations, settings, replay)
            left = now[1:] + left
            continue
        with nullcontext() if replay is None else replay.held():
            runs: list[_Run] = []
            for number, seed in enumerate(now):
                case = Case(settings, replay)
                chosen = scheduler(Random(seed), settings, case.network, operations)
                runs.append(_Run(seed, case, Slot(number, settings, abilities), chosen))
            broken = _together(system, runs, enough)
            apart = apart or broken is not None
            for run, outcome in _judged(runs, broken, alone):
                if outcome is run.outcome and replay is not None and run.lockstep is not None:
                    replay.recall(run.lockstep)
                yield outcome


class _Failing:
    """A `MakeProcess` that has failed already."""

    def __init__(self, failure: Failure) -> None:
        self._failure = failure

    def begin_case(self, settings: Settings) -> None:
        raise self._failure

    def __call__(self, identity: int, processes: int) -> Any:
        raise AssertionError("the case has no beginning")


class _Run:
    """A case under way, then its outcome or the failure that ended it; neither, if there was enough before."""

    def __init__(self, seed: int, case: Case, slot: Slot, chosen: Iterable[Operation]) -> None:
        self.seed = seed
        self.case = case
        self.slot = slot
        self.lockstep = case.comparison.lockstep
        self.replies: list[dict[str, Any]] = []
        """To what was asked, before `go_on` takes them."""
        self.failure: Failure | None = None
        self.outcome: CaseOutcome | None = None
        self._steps = self._carry_through(chosen)

    @property
    def is_under_way(self) -> bool:
        return self.outcome is None and self.failure is None

    def go_on(self) -> None:
        """Begins, or takes the replies that are there, and goes on until the next answer is awaited."""
        if self.slot.requests:
            try:
                commands = self.slot.answered(self.replies)
            except (SystemFailed, SystemRaised) as failure:
                self.failure = failure
                return
            self.case.resume(commands)
        if next(self._steps, "over") == "over":
            self.outcome = self.case.settled()

    def _carry_through(self, chosen: Iterable[Operation]) -> Iterator[None]:
        case = self.case
        case.start(self.slot)
        for operation in chosen:
            case.perform(operation)
            if case.awaited is not None:
                yield
        yield from draining(case)


def _together(system: ExternalSystem, runs: list[_Run], enough: Callable[[], bool]) -> Failure | None:
    """Carries the cases through, as far as they go. Returns the failure that ended all that were under way.

    The cases are two groups: while the system works on a batch of the one, the other one takes its replies.
    """
    half = (len(runs) + 1) // 2
    ready, heard = runs[:half], runs[half:]

    def go_on_with_heard() -> None:
        for run in heard:
            run.go_on()

    for run in ready:
        run.go_on()
    ready = [run for run in ready if run.is_under_way]
    while (ready or heard) and not enough():
        if ready:
            requests = [request for run in ready for request in run.slot.requests]
            try:
                replies = iter(system.ask_all(requests, go_on_with_heard))
            except SystemFailed as failure:
                for run in runs:
                    if run.is_under_way:
                        run.failure = failure
                return failure
            for run in ready:
                run.replies = [*islice(replies, len(run.slot.requests))]
        else:
            go_on_with_heard()
        ready, heard = [run for run in heard if run.is_under_way], ready
    return None


def _judged(
    runs: list[_Run], broken: Failure | None, alone: Callable[[int], CaseOutcome]
) -> Iterator[tuple[_Run, CaseOutcome]]:
    """The outcomes that count, in order, see NOTE(at once)."""
    with_it = [run for run in runs if broken is not None and run.failure is broken]
    shown = False
    for run in runs:
        outcome, failure = run.outcome, run.failure
        if outcome is None and failure is None:
            return
        if outcome is not None and not outcome.findings and not outcome.noted:
            yield run, outcome
            continue
        again = alone(run.seed)
        if outcome is not None:
            confirmed = again.findings or (again.noted and not outcome.findings)
            yield run, again if confirmed else outcome
            continue
        assert failure is not None
        ended = not again.kinds.isdisjoint(_ENDS)
        shown = shown or (ended and run in with_it)
        is_its_own = not ended and (failure is not broken or (run is with_it[-1] and not shown))
        yield run, _with(again, failure, run.case.participants.called, len(runs)) if is_its_own else again


def _with(outcome: CaseOutcome, failure: Failure, process: int, cases: int) -> CaseOutcome:
    """The outcome of the case alone, with the failure that it had at once with others."""
    kind: FindingKind = failure.kind if isinstance(failure, SystemFailed) else "crash"
    said = f"p{process} {'' if isinstance(failure, SystemFailed) else 'raises '}{failure}"
    text = f"{said}, with {cases} cases at once, and not with one"
    finding = CaseFinding(kind, process, text, len(outcome.log), traceback=failure.printed)
    return replace(outcome, findings=(*outcome.findings, finding))
