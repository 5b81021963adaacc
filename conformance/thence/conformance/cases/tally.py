"""Counts over cases, which add up in any order, and the bound that they set to the failure rate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Count:
    """Numbers of cases.

    Attributes:
        cases: all of them, one for each seed.
        failures: cases with a finding.
        errors: cases without an outcome: the runner raised, or the time limit passed.
        vacuous: cases that passed and say nothing about the system.
    """

    cases: int = 0
    failures: int = 0
    errors: int = 0
    vacuous: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.cases + other.cases,
            self.failures + other.failures,
            self.errors + other.errors,
            self.vacuous + other.vacuous,
        )

    @property
    def says_nothing(self) -> bool:
        """Whether every case that has an outcome passed and says nothing."""
        return 0 < self.vacuous == self.cases - self.errors

    @property
    def bound(self) -> float:
        """The upper bound on the failure rate at 95 % confidence, over the cases that say something."""
        return failure_bound(self.cases - self.errors - self.vacuous, self.failures)

    def to_json(self) -> dict[str, int]:
        """JSON values; `vacuous` only where there are such cases."""
        shown = {"cases": self.cases, "failures": self.failures, "errors": self.errors}
        return {**shown, "vacuous": self.vacuous} if self.vacuous else shown

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Count:
        """A count as `to_json` wrote it."""
        return Count(int(value["cases"]), int(value["failures"]), int(value["errors"]), int(value.get("vacuous", 0)))


Cell: TypeAlias = tuple[str, str]
"""(system, group)."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of some cases.

    Attributes:
        events: of all cases.
        digest: XOR of the rows' digests, an unsigned 64-bit number: the same for every order and partition.
        kinds: number of cases with a finding of each kind.
        cells: the count of each system under each group (scheduler).
    """

    events: int = 0
    digest: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    cells: Mapping[Cell, Count] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        kinds = {kind: self.kinds.get(kind, 0) + other.kinds.get(kind, 0) for kind in {*self.kinds, *other.kinds}}
        cells = {
            cell: self.cells.get(cell, Count()) + other.cells.get(cell, Count())
            for cell in {*self.cells, *other.cells}
        }  # fmt: skip
        return Tally(
            events=self.events + other.events,
            digest=self.digest ^ other.digest,
            kinds=dict(sorted(kinds.items())),
            cells=dict(sorted(cells.items())),
        )

    @property
    def count(self) -> Count:
        """The count of all cases."""
        return sum(self.cells.values(), Count())

    @property
    def cases(self) -> int:
        """Number of seeds."""
        return self.count.cases

    @property
    def failures(self) -> int:
        """Cases with a finding."""
        return self.count.failures

    @property
    def errors(self) -> int:
        """Cases without an outcome."""
        return self.count.errors

    @property
    def systems(self) -> dict[str, Count]:
        """The count of each system."""
        return self._by(0)

    @property
    def groups(self) -> dict[str, Count]:
        """The count of each group."""
        return self._by(1)

    def _by(self, place: int) -> dict[str, Count]:
        counts: dict[str, Count] = {}
        for cell, count in self.cells.items():
            counts[cell[place]] = counts.get(cell[place], Count()) + count
        return dict(sorted(counts.items()))

    def to_json(self) -> dict[str, Any]:
        """JSON values; the digest as 16 hexadecimal digits."""
        systems: dict[str, Any] = {}
        for name, count in self.systems.items():
            groups = {group: each.to_json() for (system, group), each in self.cells.items() if system == name}
            systems[name] = {**count.to_json(), "groups": groups}
        return {
            **self.count.to_json(),
            "events": self.events,
            "digest": f"{self.digest:016x}",
            "kinds": dict(self.kinds),
            "groups": {group: count.to_json() for group, count in self.groups.items()},
            "systems": systems,
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Tally:
        """A tally as `to_json` wrote it."""
        cells = {
            (system, group): Count.from_json(of)
            for system, counts in value["systems"].items()
            for group, of in counts["groups"].items()
        }
        return Tally(
            events=int(value["events"]),
            digest=int(value["digest"], 16),
            kinds={kind: int(number) for kind, number in value["kinds"].items()},
            cells=cells,
        )


def kind_of(finding: str) -> str:
    """`kind` of `kind: detail`."""
    return finding.partition(":")[0].strip()


def failure_bound(cases: int, failures: int, confidence: float = CONFIDENCE) -> float:
    """The upper bound on the failure rate at `confidence`, one-sided and exact (Clopper and Pearson 1934).

    At this rate, as few failures as these or fewer have the probability `1 - confidence`. For no failures in n cases
    it is close to 3 / n at 95 %. It is 1.0 where every case failed, and of no cases.

    Raises:
        ValueError: not 0 <= failures <= cases, or the confidence is not between 0 and 1.
    """
    if not 0 <= failures <= cases or not 0 < confidence < 1:
        raise ValueError(f"failures {failures} of {cases} at confidence {confidence}")
    if failures == cases:
        return 1.0
    if failures == 0:
        return -math.expm1(math.log1p(-confidence) / cases)
    low, high = failures / cases, 1.0
    while high - low > 1e-9 * high:
        rate = (low + high) / 2
        if _at_most(failures, cases, rate) > 1 - confidence:
            low = rate
        else:
            high = rate
    return high


def _at_most(failures: int, cases: int, rate: float) -> float:
    """P(X <= failures) for X binomial in (cases, rate), 0 < rate < 1. Summed from the largest term down."""
    log_term = (
        math.lgamma(cases + 1)
        - math.lgamma(failures + 1)
        - math.lgamma(cases - failures + 1)
        + failures * math.log(rate)
        + (cases - failures) * math.log1p(-rate)
    )
    largest = math.exp(log_term)
    total = term = 1.0
    for number in range(failures, 0, -1):
        term *= number * (1 - rate) / ((cases - number + 1) * rate)
        total += term
        if term < 1e-17 * total:
            break
    return min(1.0, largest * total)
