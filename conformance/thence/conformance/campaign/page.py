"""The HTML report of a campaign: the values for its template."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined

from thence.conformance.campaign.charts import chart
from thence.conformance.campaign.parameters import CampaignError
from thence.conformance.campaign.reached import Reached
from thence.conformance.campaign.reporting import Report
from thence.conformance.cases.tally import Count

_KINDS: Final = ("handler", "branch", "scenario")


class ShownCause(Protocol):
    """Failures with one cause, as a report shows them; see `thence.conformance.campaign.causes`."""

    @property
    def systems(self) -> tuple[str, ...]: ...
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
class Row:
    """A line of a table of counts.

    Attributes:
        name: the system, or the scheduler.
        protocol: the protocol in which its cases are replayed, "" without one.
        reached: (reached, there) of handlers, branches, scenarios; None for a kind that there is none of.
        states: abstract states met, about.
        cells: the counts of its schedulers, in the order of the columns.
    """

    name: str
    protocol: str
    count: Count
    reached: tuple[tuple[int, int] | None, ...]
    states: int
    cells: tuple[Count | None, ...]

    @property
    def rate(self) -> float:
        """The share of failures among the cases that have an outcome."""
        judged = self.count.cases - self.count.errors
        return self.count.failures / judged if judged else 0.0


def write_report(report: Report, path: Path, causes: Sequence[tuple[ShownCause, str]] = ()) -> None:
    """Write the HTML page to `path`, whole or not at all. See `render` for the rest.

    Raises:
        CampaignError: it cannot be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".report-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(render(report, causes))
            Path(name).chmod(0o644)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise CampaignError(f"{path} cannot be written: {error.strerror}") from error


def render(report: Report, causes: Sequence[tuple[ShownCause, str]] = ()) -> str:
    """The page: one file that needs nothing from elsewhere. With each cause comes the command that runs it again."""
    environment = Environment(
        loader=PackageLoader("thence.conformance.campaign", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["percent"] = lambda rate: f"{100 * rate:.3g} %"
    environment.filters["duration"] = duration
    status = report.status
    facts = status.to_json()
    params = [(name, value) for name, value in sorted(status.parameters.params.items())
              if name not in ("corpus", "corpora", "systems")]  # fmt: skip
    return environment.get_template("campaign.html").render(
        subject=status.subject, status=status, facts=facts, params=params, inputs=_inputs(report),
        schedulers=[group or "(none)" for group in status.tally.groups], systems=_systems(report),
        groups=_groups(report), missing=_missing(report), scenarios=_scenarios(report), pictures=_pictures(report),
        causes=causes, cases=report.shown, seconds=status.seconds,
    )  # fmt: skip


def duration(seconds: float) -> str:
    """In the unit that people would use."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.1f} h"


def _systems(report: Report) -> list[Row]:
    tally, protocols = report.status.tally, _protocols(report)
    return [
        Row(
            name=name or report.status.subject,
            protocol=protocols.get(name, ""),
            count=count,
            reached=_counts(report.reached.get(name)),
            states=report.reached[name].about() if name in report.reached else 0,
            cells=tuple(tally.cells.get((name, group)) for group in tally.groups),
        )
        for name, count in tally.systems.items()
    ]


def _groups(report: Report) -> list[Row]:
    return [
        Row(group or "(none)", "", count, (), sum(each.about(group) for each in report.reached.values()), ())
        for group, count in report.status.tally.groups.items()
    ]


def _counts(reached: Reached | None) -> tuple[tuple[int, int] | None, ...]:
    counts = [reached.count(kind) if reached is not None else (0, 0) for kind in _KINDS]
    return tuple(count if count[1] else None for count in counts)


def _protocols(report: Report) -> dict[str, str]:
    params = report.status.parameters.params
    systems = params.get("systems", [params])
    return {str(each.get("system", "")): str(each.get("protocol") or "") for each in systems}


def _missing(report: Report) -> list[tuple[str, list[str]]]:
    """The features that were not reached, by system."""
    found = [(name, [" ".join(feature) for feature in reached.missing]) for name, reached in report.reached.items()]
    return [(name or report.status.subject, missing) for name, missing in found if missing]


def _scenarios(report: Report) -> list[tuple[str, int, int]]:
    """Each scenario, with the number of cases that showed it, and of systems with such cases."""
    seen: dict[str, tuple[int, int]] = {}
    for reached in report.reached.values():
        for (kind, name), count in zip(reached.features, reached.seen, strict=True):
            if kind == "scenario":
                cases, systems = seen.get(name, (0, 0))
                seen[name] = cases + count, systems + bool(count)
    return [(name, cases, systems) for name, (cases, systems) in seen.items()]


def _pictures(report: Report) -> list[str]:
    curve = report.curve
    lines: list[tuple[str, list[tuple[float, float]]]] = [
        ("abstract states met, about", [(point.cases, point.states) for point in curve]),
        ("handlers, branches and scenarios reached", [(point.cases, point.features) for point in curve]),
        ("cases a second, batch by batch", [(point.cases, point.rate) for point in curve]),
    ]
    if report.status.tally.failures:
        lines.append(("failures", [(point.cases, point.failures) for point in curve]))
    pictures = [chart(points, "cases", up) for up, points in lines if any(y for _, y in points)]
    return [picture for picture in pictures if picture]


def _inputs(report: Report) -> list[tuple[str, str]]:
    """The hashes of systems and protocols."""
    facts = report.status.facts
    several = facts.get("systems")
    if not isinstance(several, dict):
        return [(f"Hash of the {name}", facts[name]) for name in ("protocol", "system") if facts.get(name)]
    return [(f"Hash of the {kind} of {system}", of[kind]) for system, of in several.items()
            for kind in ("protocol", "system") if of.get(kind)]  # fmt: skip
