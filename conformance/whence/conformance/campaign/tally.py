"""Counts over cases, which add up in any order, and what they say about the failure rate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Tally:
    """What some cases came to.

    Attributes:
        cases: how many seeds.
        events: of all cases.
        failures: cases with a finding.
        errors: cases without an outcome: the runner raised, or the time limit passed.
        digest: XOR of the rows' digests, an unsigned 64-bit number: the same for every order and partition.
        kinds: how many cases had a finding of the kind.
        groups: (cases, failures) of each group.
    """

    cases: int = 0
    events: int = 0
    failures: int = 0
    errors: int = 0
    digest: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        kinds = {kind: self.kinds.get(kind, 0) + other.kinds.get(kind, 0) for kind in {*self.kinds, *other.kinds}}
        groups = {}
        for group in {*self.groups, *other.groups}:
            mine, theirs = self.groups.get(group, (0, 0)), other.groups.get(group, (0, 0))
            groups[group] = (mine[0] + theirs[0], mine[1] + theirs[1])
        return Tally(
            cases=self.cases + other.cases,
            events=self.events + other.events,
            failures=self.failures + other.failures,
            errors=self.errors + other.errors,
            digest=self.digest ^ other.digest,
            kinds=dict(sorted(kinds.items())),
            groups=dict(sorted(groups.items())),
        )

    def to_json(self) -> dict[str, Any]:
        """JSON values; the digest as 16 hexadecimal digits."""
        return {
            "cases": self.cases,
            "events": self.events,
            "failures": self.failures,
            "errors": self.errors,
            "digest": f"{self.digest:016x}",
            "kinds": dict(self.kinds),
            "groups": {group: {"cases": cases, "failures": bad} for group, (cases, bad) in self.groups.items()},
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Tally:
        """A tally as `to_json` wrote it."""
        groups = {group: (int(of["cases"]), int(of["failures"])) for group, of in value["groups"].items()}
        return Tally(
            cases=int(value["cases"]),
            events=int(value["events"]),
            failures=int(value["failures"]),
            errors=int(value["errors"]),
            digest=int(value["digest"], 16),
            kinds={kind: int(number) for kind, number in value["kinds"].items()},
            groups=groups,
        )


def tally_rows(table: pa.Table) -> Tally:
    """The tally of rows in the schema of `case.SCHEMA`."""
    digest = failures = errors = 0
    kinds: dict[str, int] = {}
    groups: dict[str, tuple[int, int]] = {}
    columns = (table.column(name).to_pylist() for name in ("digest", "findings", "error", "group"))
    for row_digest, findings, error, group in zip(*columns, strict=True):
        digest ^= row_digest
        failures += bool(findings)
        errors += error is not None
        for kind in {kind_of(finding) for finding in findings}:
            kinds[kind] = kinds.get(kind, 0) + 1
        cases, bad = groups.get(group, (0, 0))
        groups[group] = (cases + 1, bad + bool(findings))
    return Tally(
        cases=table.num_rows,
        events=sum(table.column("events").to_pylist()),
        failures=failures,
        errors=errors,
        digest=digest % 2**64,
        kinds=dict(sorted(kinds.items())),
        groups=dict(sorted(groups.items())),
    )


def kind_of(finding: str) -> str:
    """`kind` of `kind: detail`."""
    return finding.partition(":")[0].strip()


def failure_bound(cases: int, failures: int, confidence: float = CONFIDENCE) -> float:
    """The upper bound on the failure rate at `confidence`, one-sided and exact (Clopper and Pearson 1934).

    It is the rate at which as few failures as these would come up with probability `1 - confidence`; for no
    failures in n cases that is close to 3 / n at 95 %. 1.0 where there is nothing to go by.

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
