"""`thence compare`: the costs of shipped implementations, counted, beside Table 1 of Almeida's paper."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Annotated, Optional

import typer

from thence.cli.options import Json
from thence.cli.output import Output, exit_incomplete
from thence.cli.readers.colours import bare
from thence.cli.readers.layout import Entry, laid_out, width_of, wrapped
from thence.cli.session import Session, run_command
from thence.cli.subjects import not_shipped
from thence.conformance.costs.claims import CELLS
from thence.conformance.costs.measures import Measured, measure
from thence.conformance.implementations import SYSTEMS
from thence.pages.comparison import Compared, figures, markdown
from thence.pages.comparison import compare as compare_with_claims
from thence.spec.verdict import Level, Result, Verdict

STATEMENT = "costs as in Table 1"


def compare(
    protocols: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Library protocols with a shipped implementation; by default all."),
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    json: Json = False,
) -> None:
    """Counts the costs, and sets them beside the claims of the literature."""
    names = tuple(protocols or ())
    run_command("compare", json, lambda session: _compared(session, names, as_markdown))


def _compared(session: Session, names: Sequence[str], as_markdown: bool) -> Output:
    """Measures the protocols, or all that have a shipped implementation. Ctrl-C ends it with those that are done."""
    for name in names:
        if name not in SYSTEMS:
            raise not_shipped(name)
    columns: list[tuple[Measured, tuple[Compared, ...]]] = []
    results: list[Result] = []
    complete = True
    for name in dict.fromkeys(names or SYSTEMS):
        started = time.perf_counter()
        try:
            measured = measure(name, SYSTEMS[name], lambda name, what: session.status(f"compare {name}: {what}"))
        except KeyboardInterrupt:
            complete = False
            break
        cells = compare_with_claims(measured)
        columns.append((measured, cells))
        results.append(_result(measured, cells, time.perf_counter() - started))
    text = markdown(columns) if as_markdown else _text(columns)
    if not complete:
        text += "incomplete: interrupted; these are the systems so far\n"
    fields = {} if complete else {"complete": False}
    code = None if complete else exit_incomplete(results)
    return Output(tuple(results), text=text, fields=fields, exit=code, table=False)


def _result(measured: Measured, cells: tuple[Compared, ...], seconds: float) -> Result:
    """Tested: the workloads are samples. Expected, as long as every difference from the paper is explained."""
    expected = all(one.explained for one in cells)
    facts = {"costs": {**measured.to_json(), "cells": [one.to_json() for one in cells]}}
    unexplained = "\n".join(
        f"{CELLS[one.cell]}: the paper says {one.claim}, measured {one.measured}" for one in cells if not one.explained
    )
    verdict = Verdict.TESTED if expected else Verdict.REFUTED
    return Result(STATEMENT, "check", measured.name, verdict, Level.L0, expected, seconds, facts, unexplained)


def _text(columns: Sequence[tuple[Measured, tuple[Compared, ...]]]) -> str:
    """A table for each system, and the counts behind it."""
    width, lines = width_of(sys.stdout), []
    for measured, cells in columns:
        heading = [Entry(said) for said in ("", "Table 1", "measured", "", "why")]
        rows = [
            [Entry(said) for said in (CELLS[one.cell], one.claim or "-", one.measured, one.agreement, one.why)]
            for one in cells
        ]
        lines += [measured.name, *(line for row in laid_out([heading, *rows], width, bare, indent=2) for line in row)]
        lines += [broken for line in figures(measured) for broken in wrapped(line, width)]
        lines.append("")
    return "\n".join(lines)
