"""Results and diagnostics for readers."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whence.conformance.cli.session import Output
from whence.conformance.counts import counts
from whence.spec.verdict import Result, Verdict

_STYLE = {
    Verdict.PROVED: "green",
    Verdict.HOLDS: "green",
    Verdict.TESTED: "cyan",
    Verdict.REFUTED: "yellow",
    Verdict.UNKNOWN: "magenta",
}


def print_output(output: Output, seconds: float) -> None:
    """Prints diagnostics on stderr, then the text or the table of results."""
    console = Console(soft_wrap=True, highlight=False)
    print_diagnostics(output)
    if output.text:
        console.out(output.text, highlight=False)
    if output.results and output.table:
        print_results(console, output.results, seconds)


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


def print_results(console: Console, results: Sequence[Result], seconds: float) -> None:
    """Prints what needs explaining, then one table with a line per statement, then the sum."""
    for result in results:
        if result.explanation and (not result.expected or len(results) <= 12):
            console.out(f"{result.subject}  {result.name}: {result.verdict.value}", highlight=False)
            console.out(_indented(result.explanation), highlight=False)
            console.out("")
    console.print(results_table(results))
    unexpected = sum(not result.expected for result in results)
    said = "all as expected" if not unexpected else f"{unexpected} not as expected"
    console.out(f"{_count(len(results), 'statement')}, {said}, {seconds:.1f} s", highlight=False)


def results_table(results: Sequence[Result]) -> Table:
    """One line per statement: subject, statement, verdict, strength, expected or not, counts, time."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("subject", "statement", "verdict", "level", "", "counts"):
        table.add_column(header, no_wrap=header == "level")
    table.add_column("seconds", justify="right")
    for result in results:
        table.add_row(
            Text(result.subject),
            Text(result.name),
            Text(result.verdict.value, _STYLE[result.verdict] if result.expected else "bold red"),
            result.level.name,
            Text("as expected") if result.expected else Text("NOT EXPECTED", "bold red"),
            Text(counts(result)),
            f"{result.seconds:.2f}",
        )
    return table


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
