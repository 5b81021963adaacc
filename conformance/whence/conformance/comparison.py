"""The schedulers of the portfolio compared on one system: what each hits, and what it reaches of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from whence.conformance.campaign.tally import failure_bound
from whence.conformance.coverage import Coverage, CoveredReplay
from whence.conformance.harness import run_scheduled
from whence.conformance.network import Settings
from whence.conformance.schedulers import Scheduler
from whence.conformance.subject import MakeProcess

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called now and then with the scheduler, the cases done and the cases planned."""

_PROGRESS_EVERY = 20


@dataclass(frozen=True, slots=True)
class Reach:
    """One scheduler on one system.

    Attributes:
        name: of the scheduler.
        cases, failures: how many ran, and how many of them had a finding.
        events: sends, arrivals and deliveries in all of them.
        kinds: how many cases showed each kind of finding.
        coverage: what they reached.
    """

    name: str
    cases: int
    failures: int
    events: int
    kinds: Mapping[str, int]
    coverage: Coverage

    @property
    def bound(self) -> float:
        """The upper bound on the failure rate at 95 %; 1.0 of no cases."""
        return failure_bound(self.cases, self.failures) if self.cases else 1.0

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "name": self.name,
            "cases": self.cases,
            "failures": self.failures,
            "events": self.events,
            "hit_rate": self.failures / self.cases if self.cases else None,
            "failure_rate_bound": float(f"{self.bound:.3g}"),
            "kinds": dict(self.kinds),
            "coverage": self.coverage.to_json(),
        }


def reach(
    make_process: MakeProcess,
    name: str,
    scheduler: Scheduler,
    replay: CoveredReplay,
    settings: Settings,
    *,
    cases: int,
    operations: int,
    seed: int = 0,
    limit_s: float | None = None,
    progress: Progress | None = None,
    hopeless: Callable[[], str | None] = lambda: None,
) -> Reach:
    """Runs so many cases of the scheduler. A case that leaves its protocol counts up to there."""
    coverage = Coverage(replay.features)
    failures = events = 0
    kinds: dict[str, int] = {}
    for number in range(cases):
        if hopeless() is not None:
            break
        outcome = run_scheduled(make_process, scheduler, seed + number, operations, settings, replay, limit_s=limit_s)
        coverage.add(replay.reached(outcome))
        failures += bool(outcome.findings)
        events += len(outcome.log)
        for kind in outcome.kinds:
            kinds[kind] = kinds.get(kind, 0) + 1
        if progress is not None and number % _PROGRESS_EVERY == 0:
            progress(name, number, cases)
    return Reach(name, coverage.cases, failures, events, dict(sorted(kinds.items())), coverage)


def together(reaches: list[Reach]) -> Coverage:
    """What all of them reached."""
    whole = Coverage(reaches[0].coverage.features)
    for one in reaches:
        whole.cases += one.coverage.cases
        whole.bits |= one.coverage.bits
        whole.abstract |= one.coverage.abstract
        whole.local |= one.coverage.local
        for feature, count in one.coverage.seen.items():
            whole.seen[feature] = whole.seen.get(feature, 0) + count
    return whole
