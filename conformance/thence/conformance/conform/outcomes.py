"""The outcomes of many cases of one system: counted for each scheduler, with the shortest failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from thence.conformance.cases.network import CLAIMS, Claim
from thence.conformance.cases.tally import failure_bound
from thence.conformance.harness.coverage import CaseCoverage, ProtocolCoverage
from thence.conformance.harness.observing import Observer
from thence.conformance.replay.findings import REFUTES, CaseOutcome, FindingKind


@dataclass(slots=True)
class Reach:
    """The counts of one scheduler on one system.

    Attributes:
        name: of the scheduler.
        coverage: of its cases.
        failures: number of cases with a finding.
        events: sends, arrivals and deliveries in all cases.
        deliveries: of these, the deliveries.
        taken: of these, the inputs of applications that send no messages; None where they do.
        kinds: number of cases with each kind of finding.
    """

    name: str
    coverage: ProtocolCoverage
    failures: int = 0
    events: int = 0
    deliveries: int = 0
    taken: int | None = None
    kinds: dict[FindingKind, int] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """Number of cases."""
        return self.coverage.cases

    @property
    def vacuous(self) -> str:
        """Why the cases say nothing about a system that passes them all; empty where they say something."""
        if not self.cases:
            return "no case ran"
        few = "one case" if self.cases == 1 else f"{self.cases:,} cases"
        if self.taken == 0:
            return f"no application had an input in {few}"
        if self.taken is None and not self.deliveries:
            return f"nothing was delivered in {few}"
        return ""

    @property
    def hit_rate(self) -> float | None:
        """The share of cases that failed; None of no cases."""
        return self.failures / self.cases if self.cases else None

    @property
    def bound(self) -> float:
        """The upper bound on the failure rate at 95 %; 1.0 of no cases."""
        return failure_bound(self.cases, self.failures) if self.cases else 1.0

    def count(self, outcome: CaseOutcome, reached: CaseCoverage) -> None:
        """Counts a case."""
        self.failures += bool(outcome.findings)
        self.events += len(outcome.log)
        self.deliveries += outcome.deliveries
        if not outcome.settings.sends:
            self.taken = (self.taken or 0) + outcome.taken
        for kind in outcome.kinds:
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.coverage.add(reached)

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "name": self.name,
            "cases": self.cases,
            "failures": self.failures,
            "events": self.events,
            "deliveries": self.deliveries,
            "hit_rate": self.hit_rate,
            "failure_rate_bound": rounded(self.bound),
            "kinds": by_gravity(self.kinds),
            "coverage": self.coverage.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Shown:
    """Something that cases show: how many of them do, and the first."""

    cases: int
    first: CaseOutcome


def by_gravity(kinds: Mapping[FindingKind, int]) -> dict[FindingKind, int]:
    """The kinds of finding, the gravest first."""
    return {kind: kinds[kind] for kind in get_args(FindingKind) if kind in kinds}


def rounded(bound: float) -> float:
    """A rate with the digits that mean something."""
    return float(f"{bound:.3g}")


class Outcomes:
    """The cases of a system so far.

    Attributes:
        reaches: by scheduler, in the order in which they came.
        matched: events that the protocol's interpreter took as well.
        arrivals, withheld: messages that arrived, and those of them that were not delivered at once although nothing
            was missing.
        slowest: the case with the longest delay of such a message, or None.
        refuting: for each claim, the number of cases that refute it, whether it is made or not.
        cut: for each claim, the number of cases that a crash or such ended before they could refute it.
        notes: for each kind of finding that breaks nothing that is claimed, the cases with it.
        other_order: the cases whose steps were the protocol's in another order.
        as_a_whole: the cases with a step that the protocol does not take, though it has a run with their events.
        compared: the fields of packets that were compared with the protocol's in any case.
    """

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.reaches: dict[str, Reach] = {}
        self.matched = self.arrivals = self.withheld = 0
        self.slowest: CaseOutcome | None = None
        self.refuting: dict[Claim, int] = {}
        self.cut: dict[Claim, int] = {}
        self.notes: dict[FindingKind, Shown] = {}
        self.other_order: Shown | None = None
        self.as_a_whole: Shown | None = None
        self.compared: set[str] = set()
        self._seen = ProtocolCoverage(observer.features)
        self._shortest: dict[FindingKind, dict[str, CaseOutcome]] = {}

    @property
    def cases(self) -> int:
        """Number of cases."""
        return self._seen.cases

    @property
    def whole(self) -> Reach:
        """All schedulers together."""
        whole = Reach("all", self._seen)
        for one in self.reaches.values():
            whole.failures += one.failures
            whole.events += one.events
            whole.deliveries += one.deliveries
            if one.taken is not None:
                whole.taken = (whole.taken or 0) + one.taken
            for kind, count in one.kinds.items():
                whole.kinds[kind] = whole.kinds.get(kind, 0) + count
        return whole

    @property
    def kinds(self) -> tuple[FindingKind, ...]:
        """The kinds of finding that have shown, the gravest first."""
        return tuple(kind for kind in get_args(FindingKind) if kind in self._shortest)

    def count(self, name: str, outcome: CaseOutcome) -> bool:
        """Counts a case of a scheduler, which has just ended; returns whether it reached anything new."""
        reach = self.reaches.get(name)
        if reach is None:
            reach = self.reaches[name] = Reach(name, ProtocolCoverage(self.observer.features))
        self.matched += outcome.matched
        self.arrivals += outcome.arrivals
        self.withheld += outcome.withheld
        worst = None if self.slowest is None else self.slowest.longest_delay
        if outcome.longest_delay is not None and (worst is None or outcome.longest_delay.rank > worst.rank):
            self.slowest = outcome
        refuted = {REFUTES[finding.kind] for finding in (*outcome.findings, *outcome.noted)}
        for claim in refuted:
            self.refuting[claim] = self.refuting.get(claim, 0) + 1
        for claim in set(CLAIMS) - refuted if "started" in refuted else ():
            self.cut[claim] = self.cut.get(claim, 0) + 1
        for kind in dict.fromkeys(finding.kind for finding in outcome.noted):
            self.notes[kind] = _one_more(self.notes.get(kind), outcome)
        self.compared |= outcome.compared
        if outcome.other_order:
            self.other_order = _one_more(self.other_order, outcome)
        if outcome.as_a_whole:
            self.as_a_whole = _one_more(self.as_a_whole, outcome)
        self.keep(name, outcome)
        reached = self.observer.reached(outcome)
        reach.count(outcome, reached)
        return self._seen.add(reached)

    def keep(self, name: str, outcome: CaseOutcome) -> None:
        """Keeps a failing case, without counting it, if it is the scheduler's shortest of its kind."""
        for kind in outcome.kinds:
            known = self._shortest.setdefault(kind, {})
            if name not in known or len(outcome.operations) < len(known[name].operations):
                known[name] = outcome

    def starts(self, kind: FindingKind) -> list[CaseOutcome]:
        """Cases that show the kind, one of each scheduler at most, the shortest first."""
        return sorted(self._shortest[kind].values(), key=lambda outcome: len(outcome.operations))


def _one_more(shown: Shown | None, outcome: CaseOutcome) -> Shown:
    return Shown(1, outcome) if shown is None else Shown(shown.cases + 1, shown.first)
