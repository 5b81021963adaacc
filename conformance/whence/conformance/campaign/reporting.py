"""The report of a campaign: everything on disk read again, counted again, and shown."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from jinja2 import Environment, PackageLoader, StrictUndefined

from whence.conformance.campaign.case import bits_of
from whence.conformance.campaign.charts import chart
from whence.conformance.campaign.parameters import CampaignError
from whence.conformance.campaign.status import Status, status_of
from whence.conformance.campaign.store import finished_batches, read_manifest, read_rows
from whence.conformance.campaign.tally import Tally, failure_bound, tally_rows

SHOWN_CASES = 100
"""How many failing cases a report shows; the Parquet files have all."""


@dataclass(frozen=True, slots=True)
class FailingCase:
    """A case with findings, or one that ended in an error; `operations_json` replays it."""

    seed: int
    group: str
    events: int
    findings: tuple[str, ...]
    error: str | None
    operations_json: str | None


class ShownCause(Protocol):
    """What a report shows of failures with one cause; see `whence.conformance.causes`."""

    @property
    def kinds(self) -> tuple[str, ...]: ...
    @property
    def guard(self) -> str: ...
    @property
    def cases(self) -> int: ...
    @property
    def seeds(self) -> tuple[int, ...]: ...
    @property
    def finding(self) -> str: ...
    @property
    def shortened(self) -> bool: ...
    @property
    def explanation(self) -> str: ...
    @property
    def picture(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Reached:
    """What the cases reached, as far as the runner says it.

    Attributes:
        features: what the bits stand for, as (kind, name), from the campaign's manifest.
        bits: of all cases.
        seen: how many cases had each bit.
        states: hashes of abstract states, a fixed part of all: one in `sample`.
        by_group: the same for each group.
        sample: see `states`; 0 where nothing is said.
        curve: after each batch: cases, cases a second in it, bits reached, abstract states met (of the part).
    """

    features: tuple[tuple[str, str], ...]
    bits: int
    seen: tuple[int, ...]
    states: frozenset[int]
    by_group: Mapping[str, frozenset[int]]
    sample: int
    curve: tuple[tuple[int, float, int, int], ...]

    def count(self, kind: str) -> tuple[int, int]:
        """How many features of a kind were reached, and how many there are."""
        places = [place for place, feature in enumerate(self.features) if feature[0] == kind]
        return sum(self.bits >> place & 1 for place in places), len(places)

    def estimate(self, states: frozenset[int]) -> int:
        """How many abstract states there were, about: the part, times what it is a part of."""
        return len(states) * self.sample

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        kinds = list(dict.fromkeys(kind for kind, _ in self.features))
        counts = {kind: dict(zip(("reached", "there"), self.count(kind), strict=True)) for kind in kinds}
        missing = [" ".join(feature) for place, feature in enumerate(self.features) if not self.bits >> place & 1]
        return {
            **counts,
            "seen": {" ".join(feature): count for feature, count in zip(self.features, self.seen, strict=True)},
            "missing": missing,
            "abstract_states_about": self.estimate(self.states),
            "curve": [
                {"cases": cases, "cases_per_second": round(rate, 1), "features": features,
                 "abstract_states_about": states * self.sample}
                for cases, rate, features, states in self.curve
            ],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """A campaign, read whole. Its rows have been counted again and agree with the recorded tallies."""

    status: Status
    shown: tuple[FailingCase, ...]
    reached: Reached

    def to_json(self) -> dict[str, Any]:
        """JSON values: the status, what was reached, and the failing cases that are shown."""
        cases = [
            {
                "seed": case.seed,
                "group": case.group,
                "events": case.events,
                "findings": list(case.findings),
                "error": case.error,
                "operations": case.operations_json,
            }
            for case in self.shown
        ]
        verdict = self.status.verdict.value
        return {**self.status.to_json(), "verdict": verdict, "reached": self.reached.to_json(), "failing": cases}

    def to_html(self, causes: Sequence[ShownCause] = (), commands: Sequence[str] = ()) -> str:
        """One page without anything from elsewhere. `commands` run the causes again, in their order."""
        environment = Environment(
            loader=PackageLoader("whence.conformance", "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        environment.filters["count"] = lambda number: f"{number:,}"
        environment.filters["percent"] = lambda rate: f"{100 * rate:.3g} %"
        reached, status = self.reached, self.status
        groups = [
            (group, cases, bad, bad / cases, failure_bound(cases, bad),
             reached.estimate(reached.by_group.get(group, frozenset())))
            for group, (cases, bad) in status.tally.groups.items()
        ]  # fmt: skip
        coverage: list[tuple[str, int, int | None]] = [
            (plural, *reached.count(kind))
            for kind, plural in (("handler", "handlers"), ("branch", "branches"), ("scenario", "scenarios"))
            if reached.count(kind)[1]
        ]
        if reached.states:
            coverage.append(("abstract states, about", reached.estimate(reached.states), None))
        named = enumerate(reached.features)
        inputs = [(name, value) for name, value in status.facts.items() if name in ("protocol", "system") and value]
        params = [(name, value) for name, value in sorted(status.parameters.params.items()) if name != "corpus"]
        curve = reached.curve
        pictures = [
            chart([(cases, states * reached.sample) for cases, _, _, states in curve], "cases", "abstract states"),
            chart([(cases, features) for cases, _, features, _ in curve], "cases", "handlers, branches, scenarios"),
            chart([(cases, rate) for cases, rate, _, _ in curve], "cases", "cases a second"),
        ]
        return environment.get_template("campaign.html").render(
            subject=status.parameters.params.get("system", status.parameters.runner), status=status,
            facts=status.to_json(), groups=groups, cases=self.shown, coverage=coverage, inputs=inputs, params=params,
            scenarios=[(name, reached.seen[place]) for place, (kind, name) in named if kind == "scenario"],
            missing=[feature for place, feature in enumerate(reached.features) if not reached.bits >> place & 1],
            pictures=[picture for picture in pictures if picture],
            causes=[_with_command(cause, command) for cause, command in zip_longest(causes, commands, fillvalue="")],
        )  # fmt: skip


def _with_command(cause: Any, command: Any) -> dict[str, Any]:
    names = ("kinds", "guard", "cases", "seeds", "finding", "shortened", "explanation", "picture")
    return {**{name: getattr(cause, name) for name in names}, "command": command}


def report(directory: Path, shown: int = SHOWN_CASES) -> Report:
    """Read the campaign in `directory` whole and check it: every seed of a finished batch is there once, and the
    digest and the counts come out as recorded.

    Raises:
        CampaignError: there is no campaign, or a file of it is damaged.
    """
    manifest = read_manifest(directory)
    batches = finished_batches(directory, manifest.parameters)
    recounted: list[Tally] = []
    failing: list[FailingCase] = []
    reaching = _Reaching(manifest.facts)
    for batch in batches:
        rows = read_rows(batch)
        tally = tally_rows(rows)
        if tally != batch.tally or rows.column("seed").to_pylist() != list(batch.seeds):
            raise CampaignError(f"{batch.path} does not agree with its own tally; delete it and resume")
        recounted.append(tally)
        reaching.add(rows, batch.seconds)
        if len(failing) < shown:
            failing.extend(_failing(rows))
    status = status_of(directory, manifest, batches)
    assert reduce(Tally.__add__, recounted, Tally()) == status.tally
    return Report(status, tuple(failing[:shown]), reaching.reached())


class _Reaching:
    """What batches reached, batch by batch."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._features = tuple((str(kind), str(name)) for kind, name in facts.get("features", ()))
        self._sample = int(facts.get("state sample", 0))
        self._bits = 0
        self._cases = 0
        self._seen = [0] * len(self._features)
        self._by_group: dict[str, set[int]] = {}
        self._states: set[int] = set()
        self._curve: list[tuple[int, float, int, int]] = []

    def add(self, rows: pa.Table, seconds: float) -> None:
        """One more batch."""
        columns = (rows.column(name).to_pylist() for name in ("covered", "group", "states"))
        counted: dict[tuple[int, ...], int] = {}
        for words, group, states in zip(*columns, strict=True):
            key = tuple(words)
            counted[key] = counted.get(key, 0) + 1
            self._by_group.setdefault(group, set()).update(states)
            self._states.update(states)
        for key, count in counted.items():
            bits = bits_of(key)
            self._bits |= bits
            for place in range(len(self._features)):
                self._seen[place] += count * (bits >> place & 1)
        self._cases += rows.num_rows
        rate = rows.num_rows / seconds if seconds else 0.0
        self._curve.append((self._cases, rate, self._bits.bit_count(), len(self._states)))

    def reached(self) -> Reached:
        """What they reached together."""
        by_group = {group: frozenset(states) for group, states in self._by_group.items()}
        return Reached(
            self._features, self._bits, tuple(self._seen), frozenset(self._states), by_group, self._sample,
            tuple(self._curve),
        )  # fmt: skip


def failing_cases(directory: Path) -> Iterator[FailingCase]:
    """All failing cases of the campaign in `directory`, by seed.

    Raises:
        CampaignError: there is no campaign, or a file of it is damaged.
    """
    for batch in finished_batches(directory, read_manifest(directory).parameters):
        yield from _failing(read_rows(batch))


def write_report(report: Report, path: Path, causes: Sequence[ShownCause] = (), commands: Sequence[str] = ()) -> None:
    """Write the HTML page to `path`, whole or not at all. See `Report.to_html` for the rest.

    Raises:
        CampaignError: it cannot be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".report-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(report.to_html(causes, commands))
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise CampaignError(f"{path} cannot be written: {error.strerror}") from error


def _failing(rows: Any) -> Iterator[FailingCase]:
    bad = pc.or_(pc.greater(pc.list_value_length(rows.column("findings")), 0), pc.is_valid(rows.column("error")))
    for row in rows.filter(bad).to_pylist():
        yield FailingCase(
            seed=row["seed"],
            group=row["group"],
            events=row["events"],
            findings=tuple(row["findings"]),
            error=row["error"],
            operations_json=row["operations"],
        )
