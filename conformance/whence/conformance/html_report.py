"""The HTML report of `whence verify`: one file that opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from whence.conformance.counts import counts
from whence.spec.verdict import Result


def render(results: Sequence[Result], seconds: float, complete: bool) -> str:
    """The report on these results."""
    environment = Environment(
        loader=PackageLoader("whence.conformance", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    template = environment.get_template("report.html")
    return template.render(
        version=version("whence"),
        seconds=seconds,
        complete=complete,
        groups=_groups(results),
        total=len(results),
        unexpected=[result for result in results if not result.expected],
    )


def _groups(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The results by subject, in order, each with what the template shows."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        subject = result.subject.split("/")[0] if result.kind in ("mutant",) else result.subject
        groups.setdefault(subject, []).append(_row(result))
    return [{"subject": subject, "rows": rows} for subject, rows in groups.items()]


def _row(result: Result) -> dict[str, Any]:
    return {
        "name": result.name if result.kind != "mutant" else f"{result.subject.split('/')[-1]}: {result.name}",
        "kind": result.kind,
        "verdict": result.verdict.value,
        "level": result.level.name,
        "expected": result.expected,
        "seconds": f"{result.seconds:.2f}",
        "counts": counts(result),
        "explanation": result.explanation,
        "picture": result.picture,
    }
