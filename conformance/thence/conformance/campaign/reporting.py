"""The report of a campaign: everything on disk read again, counted again, and shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from thence.conformance.campaign.parameters import CampaignError
from thence.conformance.campaign.reached import Point, Reached, Reaching
from thence.conformance.campaign.status import Status, status_of
from thence.conformance.campaign.store import finished_batches, read_manifest, read_rows
from thence.conformance.campaign.tally_rows import tally_rows
from thence.conformance.cases.tally import Tally

SHOWN_CASES = 100
"""Failing cases that a report shows; the Parquet files have all."""


@dataclass(frozen=True, slots=True)
class FailingCase:
    """A case with findings, or one that ended in an error; `operations_json` replays it."""

    seed: int
    group: str
    events: int
    findings: tuple[str, ...]
    error: str | None
    operations_json: str | None
    system: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A campaign, read whole. Its rows have been counted again and agree with the recorded tallies."""

    status: Status
    shown: tuple[FailingCase, ...]
    reached: Mapping[str, Reached]
    curve: tuple[Point, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON values: the status, the coverage, and the failing cases that are shown."""
        cases = [
            {
                "seed": case.seed,
                "system": case.system,
                "group": case.group,
                "events": case.events,
                "findings": list(case.findings),
                "error": case.error,
                "operations": case.operations_json,
            }
            for case in self.shown
        ]
        verdict = self.status.verdict.value
        reached = {system: reached.to_json() for system, reached in self.reached.items()}
        curve = [point.to_json() for point in self.curve]
        return {**self.status.to_json(), "verdict": verdict, "reached": reached, "curve": curve, "failing": cases}


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
    reaching = Reaching(manifest.facts)
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
    return Report(status, tuple(failing[:shown]), reaching.reached(), tuple(reaching.curve))


def failing_cases(directory: Path) -> Iterator[FailingCase]:
    """All failing cases of the campaign in `directory`, by seed.

    Raises:
        CampaignError: there is no campaign, or a file of it is damaged.
    """
    for batch in finished_batches(directory, read_manifest(directory).parameters):
        yield from _failing(read_rows(batch))


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
            system=row["system"],
        )
