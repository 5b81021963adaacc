"""Results and diagnostics for readers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whence.conformance.cli.session import Output
from whence.conformance.counts import counts, lines, statement
from whence.spec.verdict import Result, Verdict

_STYLE = {
    Verdict.PROVED: "green",
    Verdict.HOLDS: "green",
    Verdict.TESTED: "cyan",
    Verdict.REFUTED: "yellow",
    Verdict.UNKNOWN: "magenta",
}


PIPED_WIDTH = 140
"""Columns of a table that does not go to a terminal."""


def print_output(output: Output, seconds: float) -> None:
    """Prints diagnostics on stderr, then the text, what needs explaining, and the table of results."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    console = Console(highlight=False, width=width)
    print_diagnostics(output)
    if output.text:
        print(output.text)
    if output.results and output.table:
        for line in _explanations(output):
            print(line)
        with console.capture() as capture:
            console.print(results_table(output.results, console.width))
        for line in capture.get().splitlines():
            print(line.rstrip())
        unexpected = sum(not result.expected for result in output.results)
        said = "all as expected" if not unexpected else f"{unexpected} not as expected"
        print(f"{_count(len(output.results), 'statement')}, {said}, {seconds:.1f} s")


def print_diagnostics(output: Output) -> None:
    """Prints each diagnostic with its excerpt on stderr."""
    if not output.diagnostics:
        return
    from whence.dsl.diagnostics import render

    for diagnostic, loaded in output.diagnostics:
        print(render(diagnostic, loaded.source), file=sys.stderr, end="\n\n")
    errors = sum(diagnostic.severity == "error" for diagnostic, _ in output.diagnostics)
    warnings = len(output.diagnostics) - errors
    print(f"{_count(errors, 'error')}, {_count(warnings, 'warning')}", file=sys.stderr)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _explanations(output: Output) -> Iterator[str]:
    """What is behind the verdicts; one that explains several is printed once."""
    explained: dict[tuple[str, str, str], list[Result]] = {}
    for result in output.results:
        if result.explanation and not (output.brief and result.expected):
            key = result.subject, result.name.rpartition(": ")[0], result.explanation
            explained.setdefault(key, []).append(result)
    for (subject, _, explanation), results in explained.items():
        yield f"{subject}  {statement(results)}: {results[0].verdict.value}"
        yield from (f"  {line}".rstrip() for line in explanation.splitlines())
        yield ""


def results_table(results: Sequence[Result], width: int) -> Table:
    """Subject, statement, verdict, strength, expected or not, counts, time."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("subject", overflow="fold", no_wrap=width >= PIPED_WIDTH)
    table.add_column("statement", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("level", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("counts", overflow="fold")
    table.add_column("seconds", justify="right", no_wrap=True)
    for line in lines(results):
        result = line.first
        table.add_row(
            Text(result.subject),
            Text(line.statement),
            Text(result.verdict.value, _STYLE[result.verdict] if result.expected else "bold red"),
            result.level.name,
            Text("as expected") if result.expected else Text("NOT EXPECTED", "bold red"),
            Text(counts(result)),
            f"{line.seconds:.2f}",
        )
    return table
