"""Summaries of a sweep: for each combination of settings and each system, means over the repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from thence.conformance.evaluation.measures import Interval, interval
from thence.conformance.evaluation.study import Value
from thence.conformance.evaluation.sweep import Row, Sweep

UNITS: Final[Mapping[str, tuple[float, str]]] = {
    "median": (1e3, "ms"), "p99": (1e3, "ms"), "mean": (1e3, "ms"), "at_sender": (1e3, "ms"), "in_flight": (1e3, "ms"),
    "at_receiver": (1e3, "ms"), "job_start": (1.0, "s"), "execution": (1.0, "s"), "throughput": (1.0, "deliveries/s"),
    "bytes_per_message": (1.0, "bytes"), "control_per_message": (1.0, "packets"),
    "packets_per_message": (1.0, "packets"), "state": (1.0, "entries"), "buffered": (1.0, "messages"),
    "messages": (1.0, "messages"),
    "undelivered": (1.0, "messages"),
}  # fmt: skip
"""Factor and unit in which a measure is shown."""

USUAL: Final = ("mean", "p99", "bytes_per_message", "control_per_message")
"""The measures that are shown of a study that does not say which."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The repetitions of a system under one combination of settings."""

    varied: Mapping[str, Value]
    system: str
    rows: tuple[Row, ...]

    @property
    def undelivered(self) -> int:
        """Messages that never came, in all repetitions in which any did; their figures leave them out."""
        return sum(row.figures.undelivered for row in self.rows if row.figures is not None)

    @property
    def silent(self) -> int:
        """Repetitions in which nothing was delivered."""
        return sum(row.figures is None for row in self.rows)

    def mean(self, measure: str) -> Interval | None:
        """The mean of a measure, as it is shown; None, if nothing was delivered."""
        factor, _ = UNITS[measure]
        found = [factor * getattr(row.figures, measure) for row in self.rows if row.figures is not None]
        return interval(found) if found else None

    def ratio(self, other: Cell, measure: str) -> Interval | None:
        """The mean of this measure divided by the other's, seed by seed; None where a seed has no such figures."""
        mine = {row.seed: getattr(row.figures, measure) for row in self.rows if row.figures is not None}
        theirs = {row.seed: getattr(row.figures, measure) for row in other.rows if row.figures is not None}
        found = [mine[seed] / theirs[seed] for seed in sorted(mine.keys() & theirs.keys()) if theirs[seed]]
        return interval(found) if found else None


def cells(sweep: Sweep) -> tuple[Cell, ...]:
    """One for each combination and system of which a run is finished, in the study's order."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in sweep.rows:
        found.setdefault((repr(row.varied), row.system), []).append(row)
    return tuple(Cell(rows[0].varied, rows[0].system, tuple(rows)) for rows in found.values())


def cell_at(found: Sequence[Cell], varied: Mapping[str, Value], system: str) -> Cell | None:
    """The cell of a combination and a system."""
    return next((cell for cell in found if cell.system == system and cell.varied == varied), None)


def shown_measures(sweep: Sweep) -> tuple[str, ...]:
    """The measures that a study is about."""
    figure = sweep.study.figure
    return USUAL if figure is None else figure.y
