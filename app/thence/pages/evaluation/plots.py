"""A study drawn: a line for each system, a panel for each measure and each value of the settings that have panels."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import matplotlib
from matplotlib.figure import Figure as Canvas

from thence.conformance.evaluation.measures import Interval
from thence.conformance.evaluation.study import Figure, Value
from thence.conformance.evaluation.summary import UNITS, Cell, cell_at
from thence.conformance.evaluation.sweep import Sweep

_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#A6761D", "#777777")
"""Distinct for all kinds of colour vision (after Okabe and Ito), on white and on black."""

_MARKERS: Final = "osD^vP*Xh"
_INK: Final = "#808080"
"""Text and axes: readable on white and on black."""

_WIDEST: Final = 4
_SETTINGS: Final[Any] = {"svg.hashsalt": "thence", "svg.fonttype": "none", "font.size": 9.0, "text.color": _INK}


@dataclass(frozen=True, slots=True)
class _Line:
    label: str
    colour: str
    marker: str
    values: tuple[Interval | None, ...]


def picture(sweep: Sweep, found: Sequence[Cell]) -> str:
    """The SVG of a study that says how it is drawn. The same for the same runs."""
    figure = sweep.study.figure
    assert figure is not None
    panels = [
        (measure, dict(zip(figure.each, values, strict=True)))
        for values in product(*(sweep.study.sweep[setting] for setting in figure.each))
        for measure in (figure.y if figure.ratio_of is None else ("",))
    ]
    columns = min(len(panels), _WIDEST)
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(_SETTINGS):
        canvas = Canvas(figsize=(2.7 * columns + 0.6, 2.5 * rows + 0.9), layout="constrained")
        axes = canvas.subplots(rows, columns, squeeze=False, sharey=figure.ratio_of is not None)
        for place, (measure, fixed) in enumerate(panels):
            _panel(axes[place // columns][place % columns], sweep, found, measure, fixed)
        for place in range(len(panels), rows * columns):
            axes[place // columns][place % columns].set_visible(False)
        handles, labels = axes[0][0].get_legend_handles_labels()
        legend = canvas.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5), frameon=False)
        for text in legend.get_texts():
            text.set_color(_INK)
        out = io.StringIO()
        canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Title": sweep.study.title})
    return out.getvalue()


def _panel(axis: Any, sweep: Sweep, found: Sequence[Cell], measure: str, fixed: Mapping[str, Value]) -> None:
    figure = sweep.study.figure
    assert figure is not None
    values = sweep.study.sweep[figure.x]
    for line in _lines(sweep, found, figure, measure, fixed):
        points = [(place, one) for place, one in enumerate(line.values) if one is not None]
        axis.errorbar(
            [place for place, _ in points], [one.mean for _, one in points], [one.half for _, one in points],
            label=line.label, color=line.colour, marker=line.marker, markersize=4, linewidth=1.2, capsize=2,
        )  # fmt: skip
    axis.set_xticks(range(len(values)), [str(value) or "none" for value in values], rotation=30, ha="right")
    axis.set_xlabel(figure.x)
    title = ", ".join(f"{setting} {value or 'none'}" for setting, value in fixed.items())
    if figure.ratio_of is None:
        axis.set_ylabel(f"{measure} ({UNITS[measure][1]})")
        means = [one.mean for line in _lines(sweep, found, figure, measure, fixed) for one in line.values if one]
        if min(means, default=0) > 0 and max(means) > 20 * min(means):
            axis.set_yscale("log")
    else:
        axis.set_ylabel(f"{figure.ratio_of[0]} / {figure.ratio_of[1]}")
        axis.axhline(1.0, color=_INK, linewidth=0.8, linestyle=":")
    axis.set_title(title, fontsize=9, color=_INK)
    axis.tick_params(colors=_INK, labelsize=8)
    for label in (axis.xaxis.label, axis.yaxis.label):
        label.set_color(_INK)
    for spine in axis.spines.values():
        spine.set_color(_INK)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color=_INK, alpha=0.25, linewidth=0.5)


def _lines(
    sweep: Sweep, found: Sequence[Cell], figure: Figure, measure: str, fixed: Mapping[str, Value]
) -> list[_Line]:
    combinations = [varied for varied in sweep.study.combinations() if fixed.items() <= varied.items()]
    styles = list(zip(_COLOURS, _MARKERS, strict=True))
    if figure.ratio_of is not None:
        above, below = figure.ratio_of
        lines = []
        for (colour, marker), one in zip(styles, figure.y, strict=False):
            pairs = [(cell_at(found, varied, above), cell_at(found, varied, below)) for varied in combinations]
            ratios = tuple(None if a is None or b is None else a.ratio(b, one) for a, b in pairs)
            lines.append(_Line(one, colour, marker, ratios))
        return lines
    lines = []
    for (colour, marker), system in zip(styles, sweep.study.systems, strict=False):
        cells = [cell_at(found, varied, system) for varied in combinations]
        means = tuple(None if cell is None or cell.undelivered else cell.mean(measure) for cell in cells)
        if any(means):
            lines.append(_Line(system, colour, marker, means))
    return lines
