"""The page's tables and text. The text is a template; every number in it is computed from the runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from thence.conformance.evaluation.study import Value
from thence.conformance.evaluation.summary import UNITS, Cell, cell_at, cells, shown_measures
from thence.conformance.evaluation.sweep import Sweep

MISSING = "-"


@dataclass(slots=True)
class Numbers:
    """The numbers that the template asks for."""

    sweeps: Mapping[str, Sweep]
    _cells: dict[str, tuple[Cell, ...]] = field(default_factory=dict)

    def found(self, study: str) -> tuple[Cell, ...]:
        """The cells of a study."""
        if study not in self._cells:
            self._cells[study] = cells(self.sweeps[study])
        return self._cells[study]

    def mean(self, study: str, system: str, measure: str, **varied: Value) -> str:
        """A mean with its interval, without the unit."""
        found = self._cell(study, system, varied).mean(measure)
        return MISSING if found is None else str(found)

    def ratio(self, study: str, above: str, below: str, measure: str, **varied: Value) -> str:
        """A ratio of two systems."""
        found = self._cell(study, above, varied).ratio(self._cell(study, below, varied), measure)
        return MISSING if found is None else str(found)

    def range(self, study: str, above: str, below: str, measure: str, **fixed: Value) -> str:
        """The least and the largest ratio of two systems where some settings are fixed."""
        found = []
        for varied in self.sweeps[study].study.combinations():
            if fixed.items() <= varied.items():
                one = self._cell(study, above, varied).ratio(self._cell(study, below, varied), measure)
                if one is not None:
                    found.append(one.mean)
        return f"{min(found):.2f} to {max(found):.2f}" if found else MISSING

    def table(self, study: str) -> str:
        """All means of a study: a line for each combination, a column for each system; one table for each measure."""
        sweep, found = self.sweeps[study], self.found(study)
        return "\n\n".join(_table(sweep, found, measure) for measure in shown_measures(sweep))

    def ratios(self, study: str) -> str:
        """The ratios that a study draws."""
        sweep, found = self.sweeps[study], self.found(study)
        figure = sweep.study.figure
        assert figure is not None and figure.ratio_of is not None
        above, below = figure.ratio_of
        lines = [_line([*sweep.study.sweep, *(f"{measure}, {above} / {below}" for measure in figure.y)])]
        lines.append(_rule(len(sweep.study.sweep), len(figure.y)))
        for varied in sweep.study.combinations():
            one, other = cell_at(found, varied, above), cell_at(found, varied, below)
            values = [
                MISSING if one is None or other is None else str(one.ratio(other, m) or MISSING) for m in figure.y
            ]
            lines.append(_line([*_texts(varied), *values]))
        return "\n".join(lines)

    def best(self, study: str, measure: str) -> str:
        """For each combination the best system in which everything came, and how far the next ones are."""
        sweep, found = self.sweeps[study], self.found(study)
        lines = [_line([*sweep.study.sweep, f"least {measure} ({UNITS[measure][1]})", "then", "then"])]
        lines.append(_rule(len(sweep.study.sweep), 3))
        for varied in sweep.study.combinations():
            ranked = []
            for cell in found:
                mean = cell.mean(measure)
                if cell.varied == varied and mean is not None and not cell.undelivered and not cell.silent:
                    ranked.append((mean.mean, cell.system))
            ranked.sort()
            shown = [f"{system} {mean:,.3g}" for mean, system in ranked[:1]]
            shown += [f"{system} x {mean / ranked[0][0]:,.2f}" for mean, system in ranked[1:3]]
            lines.append(_line([*_texts(varied), *shown, *[""] * (3 - len(shown))]))
        return "\n".join(lines)

    def setting(self, study: str) -> str:
        """The fixed settings of a study."""
        fixed = ", ".join(f"{name} {value}" for name, value in self.sweeps[study].study.fixed.items())
        repeat = self.sweeps[study].study.repeat
        return f"`thence sweep {study}`; {fixed}; seeds 0 to {repeat - 1}"

    def _cell(self, study: str, system: str, varied: Mapping[str, Value]) -> Cell:
        found = cell_at(self.found(study), varied, system)
        if found is None:
            raise ValueError(f"{study} has no runs of {system} at {varied}")
        return found


def page(sweeps: Mapping[str, Sweep], facts: Mapping[str, Any]) -> str:
    """The page in Markdown. `facts` are about the machine and the versions."""
    environment = Environment(
        loader=PackageLoader("thence.pages.evaluation", "."), undefined=StrictUndefined, keep_trailing_newline=True,
        autoescape=False,
    )  # fmt: skip
    return environment.get_template("page.md.j2").render(n=Numbers(sweeps), **facts)


def _table(sweep: Sweep, found: tuple[Cell, ...], measure: str) -> str:
    systems = [system for system in sweep.study.systems if any(cell.system == system for cell in found)]
    lines = [_line([*sweep.study.sweep, *systems]), _rule(len(sweep.study.sweep), len(systems))]
    for varied in sweep.study.combinations():
        row = [cell_at(found, varied, system) for system in systems]
        values = ["" if cell is None else str(cell.mean(measure) or MISSING) for cell in row]
        missing = [cell.system for cell in row if cell is not None and (cell.undelivered or cell.silent)]
        lines.append(_line([*_texts(varied), *values]) + (f" not all came: {', '.join(missing)}" if missing else ""))
    return f"{measure} ({UNITS[measure][1]}):\n\n" + "\n".join(lines)


def _texts(varied: Mapping[str, Value]) -> list[str]:
    return [str(value) or "none" for value in varied.values()]


def _line(cells_of: list[str]) -> str:
    return "| " + " | ".join(cells_of) + " |"


def _rule(texts: int, numbers: int) -> str:
    return "|" + "---|" * texts + "--:|" * numbers
