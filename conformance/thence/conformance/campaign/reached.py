"""The coverage of a campaign, read back from its rows: by system, by scheduler, and over its course."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from thence.conformance.campaign.case import bits_of

Feature: TypeAlias = tuple[str, str]
"""(kind, name) of a bit."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The coverage of the cases of one system, as far as the runner records it.

    Attributes:
        features: the meaning of the bits, from the campaign's manifest.
        bits: of all cases.
        seen: number of cases with each bit.
        states: hashes of abstract states, a fixed part of all: one in `sample`.
        by_group: the same for each group.
        sample: see `states`; 0 where the manifest has none.
    """

    features: tuple[Feature, ...] = ()
    bits: int = 0
    seen: tuple[int, ...] = ()
    states: frozenset[int] = frozenset()
    by_group: Mapping[str, frozenset[int]] = field(default_factory=dict)
    sample: int = 0

    def count(self, kind: str) -> tuple[int, int]:
        """Number of features of a kind that were reached, and that there are."""
        places = [place for place, feature in enumerate(self.features) if feature[0] == kind]
        return sum(self.bits >> place & 1 for place in places), len(places)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of features."""
        return tuple(dict.fromkeys(kind for kind, _ in self.features))

    @property
    def missing(self) -> tuple[Feature, ...]:
        """The features that no case reached."""
        return tuple(feature for place, feature in enumerate(self.features) if not self.bits >> place & 1)

    def about(self, group: str | None = None) -> int:
        """Estimate of the abstract states met, by a group or by all: the sampled ones, scaled up."""
        return self.sample * len(self.states if group is None else self.by_group.get(group, ()))

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        counts = {kind: dict(zip(("reached", "there"), self.count(kind), strict=True)) for kind in self.kinds}
        return {
            **counts,
            "seen": {" ".join(feature): count for feature, count in zip(self.features, self.seen, strict=True)},
            "missing": [" ".join(feature) for feature in self.missing],
            "abstract_states_about": self.about(),
        }


@dataclass(frozen=True, slots=True)
class Point:
    """The campaign after a batch.

    Attributes:
        cases: so far.
        seconds: that the batches took so far.
        rate: cases a second in the last of them.
        features, states: reached so far, over all systems; the states about.
        failures: so far.
    """

    cases: int
    seconds: float
    rate: float
    features: int
    states: int
    failures: int

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "cases": self.cases, "seconds": round(self.seconds, 3), "cases_per_second": round(self.rate, 1),
            "features": self.features, "abstract_states_about": self.states, "failures": self.failures,
        }  # fmt: skip


class Reaching:
    """Adds up the coverage of batches. `facts` are the manifest's."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        several = facts.get("systems")
        self._facts: Mapping[str, Mapping[str, Any]] | None = several if isinstance(several, dict) else None
        self._only = facts
        self._systems: dict[str, _System] = {}
        self.curve: list[Point] = []

    def add(self, rows: pa.Table, seconds: float) -> None:
        """Adds a batch, and the seconds that it took."""
        for system in pc.unique(rows.column("system")).to_pylist():
            self._of(system).add(rows.filter(pc.equal(rows.column("system"), system)))
        last = self.curve[-1] if self.curve else Point(0, 0.0, 0.0, 0, 0, 0)
        self.curve.append(Point(
            cases=last.cases + rows.num_rows,
            seconds=last.seconds + seconds,
            rate=rows.num_rows / seconds if seconds else 0.0,
            features=sum(system.bits.bit_count() for system in self._systems.values()),
            states=sum(system.sample * len(system.states) for system in self._systems.values()),
            failures=last.failures + pc.sum(pc.greater(pc.list_value_length(rows.column("findings")), 0)).as_py(),
        ))  # fmt: skip

    def _of(self, system: str) -> _System:
        if system not in self._systems:
            facts = self._only if self._facts is None else self._facts.get(system, {})
            self._systems[system] = _System(facts)
        return self._systems[system]

    def reached(self) -> dict[str, Reached]:
        """The coverage so far, by system."""
        return {name: system.reached() for name, system in sorted(self._systems.items())}


class _System:
    """The coverage of one system, under construction."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._features = tuple((str(kind), str(name)) for kind, name in facts.get("features", ()))
        self.sample = int(facts.get("state sample", 0))
        self.bits = 0
        self._seen = [0] * len(self._features)
        self._by_group: dict[str, set[int]] = {}
        self.states: set[int] = set()

    def add(self, rows: pa.Table) -> None:
        """Adds the rows of more cases."""
        counted: dict[tuple[int, ...], int] = {}
        for words in rows.column("covered").to_pylist():
            key = tuple(words)
            counted[key] = counted.get(key, 0) + 1
        for key, count in counted.items():
            bits = bits_of(key)
            self.bits |= bits
            for place in range(len(self._features)):
                self._seen[place] += count * (bits >> place & 1)
        for group in pc.unique(rows.column("group")).to_pylist():
            of = rows.filter(pc.equal(rows.column("group"), group)).column("states")
            met = pc.unique(pc.list_flatten(of)).to_pylist()
            self._by_group.setdefault(group, set()).update(met)
            self.states.update(met)

    def reached(self) -> Reached:
        """The coverage so far."""
        by_group = {group: frozenset(states) for group, states in self._by_group.items()}
        return Reached(self._features, self.bits, tuple(self._seen), frozenset(self.states), by_group, self.sample)
