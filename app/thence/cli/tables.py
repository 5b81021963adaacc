"""The table of results."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from thence.pages.result_lines import counts, lines
from thence.spec.events import printable
from thence.spec.verdict import Result, Verdict

_STYLE = {
    Verdict.PROVED: "green",
    Verdict.HOLDS: "green",
    Verdict.TESTED: "cyan",
    Verdict.REFUTED: "yellow",
    Verdict.UNKNOWN: "magenta",
}


PIPED_WIDTH = 140
"""Columns of a table that does not go to a terminal."""


def table_text(results: Sequence[Result]) -> str:
    """The table of results, as wide as the terminal; coloured where stdout is one."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    console = Console(highlight=False, width=width)
    with console.capture() as capture:
        console.print(results_table(results, console.width))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def results_table(results: Sequence[Result], width: int) -> Table:
    """Subject, statement, verdict, strength, expected or not, counts, time."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    # A foreign system is named by its command, which may be long.
    longest = max((len(result.subject) for result in results), default=0)
    table.add_column("subject", overflow="fold", no_wrap=width >= PIPED_WIDTH and longest <= width // 2)
    table.add_column("statement", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("level", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("counts", overflow="fold")
    table.add_column("seconds", justify="right", no_wrap=True)
    for line in lines(results):
        result = line.first
        table.add_row(
            Text(printable(result.subject)),
            Text(printable(line.statement)),
            Text(result.verdict.value, _STYLE[result.verdict] if result.expected else "bold red"),
            result.level.name,
            Text(_expectation(result), "" if result.expected else "bold red"),
            Text(printable(counts(result))),
            f"{line.seconds:.2f}",
        )
    return table


def _expectation(result: Result) -> str:
    """Nothing is expected of what is not claimed."""
    if result.facts.get("claimed") is False:
        return "not claimed"
    return "as expected" if result.expected else "NOT EXPECTED"
