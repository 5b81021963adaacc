"""The HTML report of `thence verify`: one file that opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from thence.pages.result_lines import Line, counts, lines
from thence.spec.verdict import Result


def render(results: Sequence[Result], seconds: float, complete: bool) -> str:
    """The report on these results."""
    environment = Environment(
        loader=PackageLoader("thence.pages", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    template = environment.get_template("report.html")
    return template.render(
        version=version("thence"),
        seconds=seconds,
        complete=complete,
        groups=_groups(results),
        total=len(results),
        unexpected=[result for result in results if not result.expected],
    )


_OF_MUTANTS = ("mutant", "scenario")
"""Kinds of results with subjects `PROTOCOL/MUTANT`."""


def _groups(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The lines by subject, in order, each with what the template shows; a mutant is shown with its subject."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in lines(results, explained=True):
        subject = line.first.subject
        group = subject.partition("/")[0] if line.first.kind in _OF_MUTANTS else subject
        groups.setdefault(group, []).append(_row(line))
    return [{"subject": subject, "rows": rows} for subject, rows in groups.items()]


def _row(line: Line) -> dict[str, Any]:
    result = line.first
    mutant = result.subject.partition("/")[2] if result.kind in _OF_MUTANTS else ""
    return {
        "name": f"{mutant}: {line.statement}" if mutant else line.statement,
        "kind": result.kind,
        "verdict": result.verdict.value,
        "level": result.level.name,
        "expected": result.expected,
        "seconds": f"{line.seconds:.2f}",
        "counts": counts(result),
        "explanation": result.explanation,
        "picture": result.picture,
    }
