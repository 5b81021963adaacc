"""The report of a campaign: everything on disk read again, counted again, and shown."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from jinja2 import Environment, StrictUndefined

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


@dataclass(frozen=True, slots=True)
class Report:
    """A campaign, read whole. Its rows have been counted again and agree with the recorded tallies."""

    status: Status
    shown: tuple[FailingCase, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON values: the status, and the failing cases that are shown."""
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
        return {**self.status.to_json(), "verdict": self.status.verdict.value, "failing": cases}

    def to_html(self) -> str:
        """One page without anything from elsewhere."""
        environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        environment.filters["count"] = lambda number: f"{number:,}"
        environment.filters["percent"] = lambda rate: f"{100 * rate:.3g} %"
        groups = [
            (group, cases, bad, bad / cases, failure_bound(cases, bad))
            for group, (cases, bad) in self.status.tally.groups.items()
        ]
        return environment.from_string(_PAGE).render(
            status=self.status, facts=self.status.to_json(), groups=groups, cases=self.shown
        )


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
    for batch in batches:
        rows = read_rows(batch)
        tally = tally_rows(rows)
        if tally != batch.tally or rows.column("seed").to_pylist() != list(batch.seeds):
            raise CampaignError(f"{batch.path} does not agree with its own tally; delete it and resume")
        recounted.append(tally)
        if len(failing) < shown:
            failing.extend(_failing(rows))
    status = status_of(directory, manifest, batches)
    assert reduce(Tally.__add__, recounted, Tally()) == status.tally
    return Report(status, tuple(failing[:shown]))


def failing_cases(directory: Path) -> Iterator[FailingCase]:
    """All failing cases of the campaign in `directory`, by seed.

    Raises:
        CampaignError: there is no campaign, or a file of it is damaged.
    """
    for batch in finished_batches(directory, read_manifest(directory).parameters):
        yield from _failing(read_rows(batch))


def write_report(report: Report, path: Path) -> None:
    """Write the HTML page to `path`, whole or not at all.

    Raises:
        CampaignError: it cannot be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".report-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(report.to_html())
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


_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Campaign: {{ status.parameters.runner }}</title>
<style>
:root { color-scheme: light dark; --line: #8886; --bad: #b3261e; --good: #1b6e3c; --quiet: #6b6b6b; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #7bd88f; --quiet: #a0a0a0; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: .3rem 1rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
code, pre { font: 14px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; max-height: 16rem; overflow: auto; }
.refuted { color: var(--bad); } .tested { color: var(--good); } .quiet { color: var(--quiet); }
</style>
</head>
<body>
<h1>Campaign</h1>
<p><strong class="{{ status.verdict.value }}">{{ status.verdict.value }}</strong> (L0, sampled):
{{ facts.failures|count }} of {{ facts.cases|count }} cases failed; with 95 % confidence
the failure rate is below {{ facts.failure_rate_bound|percent }}.
{% if not status.complete %}
<strong>Incomplete:</strong> {{ (facts.cases_total - facts.cases)|count }} cases have not run.
{% endif %}
{% if facts.errors %}
<strong>{{ facts.errors|count }} cases have no outcome</strong> (the runner failed, or the time limit passed).
{% endif %}
</p>
<table>
<tr><th>Runner</th><td><code>{{ status.parameters.runner }}</code></td></tr>
{% for name, value in status.parameters.params|dictsort %}
<tr><th>{{ name }}</th><td><code>{{ value }}</code></td></tr>
{% endfor %}
<tr><th>Seeds</th><td>{{ status.parameters.first_seed }} to {{ status.parameters.end_seed - 1 }}</td></tr>
<tr><th>Events</th><td>{{ facts.events|count }}</td></tr>
<tr><th>Digest</th><td><code>{{ facts.digest }}</code></td></tr>
<tr><th>Code</th><td><code>{{ status.code }}</code></td></tr>
<tr><th>Versions</th><td>{% for name, value in status.versions|dictsort %}{{ name }} {{ value }}
{{- ", " if not loop.last }}{% endfor %}</td></tr>
</table>
{% if facts.kinds %}
<h2>Findings</h2>
<table>
<tr><th>Kind</th><th class="number">Cases</th></tr>
{% for kind, number in facts.kinds.items() %}
<tr><td>{{ kind }}</td><td class="number">{{ number|count }}</td></tr>
{% endfor %}
</table>
{% endif %}
{% if groups|length > 1 %}
<h2>Groups</h2>
<table>
<tr><th>Group</th><th class="number">Cases</th><th class="number">Failed</th><th class="number">Rate</th>
<th class="number">Rate below (95 %)</th></tr>
{% for group, cases, bad, rate, bound in groups %}
<tr><td>{{ group or "(none)" }}</td><td class="number">{{ cases|count }}</td><td class="number">{{ bad|count }}</td>
<td class="number">{{ rate|percent }}</td><td class="number">{{ bound|percent }}</td></tr>
{% endfor %}
</table>
{% endif %}
{% if cases %}
<h2>Failing cases</h2>
<p class="quiet">The first {{ cases|length }} by seed. The operations replay a case.</p>
{% for case in cases %}
<h3>Seed {{ case.seed }}{{ ", " ~ case.group if case.group }}</h3>
<ul>
{% for finding in case.findings %}
<li class="refuted">{{ finding }}</li>
{% endfor %}
{% if case.error is not none %}
<li>{{ case.error }}</li>
{% endif %}
</ul>
{% if case.operations_json is not none %}
<details><summary>Operations</summary><pre>{{ case.operations_json }}</pre></details>
{% endif %}
{% endfor %}
{% endif %}
</body>
</html>
"""
