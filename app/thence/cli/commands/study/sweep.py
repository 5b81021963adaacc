"""`thence sweep`: systems under every combination of some settings, on Spark, stopped and resumed."""

from __future__ import annotations

import csv as csv_text
import io
import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.options import Json
from thence.cli.output import AS_EXPECTED, UNKNOWN, BadInput, Output, faults_of, unwritten
from thence.cli.readers.layout import grid, width_of
from thence.cli.session import Session, run_command, write_text
from thence.conformance.evaluation.study import MEASURES, load_study, shipped_studies
from thence.conformance.evaluation.summary import UNITS, cells, shown_measures
from thence.conformance.evaluation.sweep import MANIFEST, Sweep, as_records, run_sweep
from thence.spec.words import counted


def sweep(
    study: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="A shipped study, or a TOML file with one; without it, the shipped ones are listed."),
    ] = None,
    out: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The folder of the runs; by default the study's name. A sweep that is there goes on."),
    ] = None,
    master: Annotated[
        str, typer.Option(help="A Spark master; by default all processors of this machine.")
    ] = "local[*]",
    csv: Annotated[Optional[Path], typer.Option(help="Write each run to this file, as a row of CSV.")] = None,  # noqa: UP045
    json: Json = False,
) -> None:
    """Measures systems under every combination of some settings, on Spark.

    A sweep that was stopped goes on where it was.
    """

    def body(session: Session) -> Output:
        return _listed() if study is None else _swept(session, study, out, master, csv)

    run_command("sweep", json, body)


def _listed() -> Output:
    studies = [load_study(name) for name in shipped_studies()]
    lines = [f"{study.name:<16} {len(study.points()):>4} runs  {study.title}" for study in studies]
    fields = {"studies": [{**study.to_json(), "title": study.title, "runs": len(study.points())} for study in studies]}
    return Output(text="\n".join(lines) + "\n", fields=fields, exit=AS_EXPECTED, table=False)


def _swept(session: Session, name: str, out: str | None, master: str, table: Path | None) -> Output:
    study = load_study(name)
    directory = Path(out or study.name)
    if directory.exists() and not directory.is_dir():
        raise BadInput(f"{directory} is a file; a sweep needs a folder")
    if directory.is_dir() and not (directory / MANIFEST).exists() and any(directory.iterdir()):
        raise BadInput(f"{directory} holds something else; name a folder with --out")

    def progress(done: int, runs: int) -> None:
        session.status(study.name, done, runs, "runs")

    found = run_sweep(directory, study, master, progress)
    faults = () if table is None else faults_of([lambda: write_text(str(table), _csv(found))])
    stuck = any(cell.undelivered or cell.silent for cell in cells(found))
    fields = {
        "sweep": {**found.study.to_json(), "directory": str(directory), "runs": as_records(found)},
        **({} if found.complete else {"complete": False}),
    }
    exit_code = UNKNOWN if stuck or not found.complete else AS_EXPECTED
    return unwritten(Output(text=_text(found, directory), fields=fields, exit=exit_code, table=False), faults)


def _text(found: Sweep, directory: Path) -> str:
    """A table for each measure: a line for each combination, a column for each system."""
    study, made = found.study, cells(found)
    systems = [system for system in study.systems if any(cell.system == system for cell in made)]
    by_place = {(repr(cell.varied), cell.system): cell for cell in made}
    width = width_of(sys.stdout)
    lines = [
        study.title,
        f"{len(found.rows):,} of {counted(found.runs, 'run')}, {counted(study.repeat, 'repetition')} of each; "
        f"they are in {directory}",
    ]
    for measure in shown_measures(found):
        table = [[", ".join(study.sweep), *systems]]
        for varied in study.combinations():
            row = [by_place.get((repr(varied), system)) for system in systems]
            place = ", ".join(str(value) or "none" for value in varied.values())
            table.append([place, *("" if cell is None else str(cell.mean(measure) or "-") for cell in row)])
        lines += ["", f"{measure} ({UNITS[measure][1]})", "", *grid(table, width)]
    lines.append("")
    for cell in made:
        where = ", ".join(f"{name} {value}" for name, value in cell.varied.items())
        if cell.silent:
            lines.append(
                f"{cell.system} at {where}: nothing was delivered in {cell.silent} of {counted(len(cell.rows), 'run')}"
            )
        if cell.undelivered:
            lines.append(f"{cell.system} at {where}: {counted(cell.undelivered, 'message')} never came, in no figure")
    text = "\n".join(lines) + "\n"
    if found.interrupted:
        text += "incomplete: interrupted; the same command goes on\n"
    return text


def _csv(found: Sweep) -> str:
    text = io.StringIO()
    names = ["system", "seed", *found.study.sweep, *MEASURES]
    writer: Any = csv_text.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(as_records(found))
    return text.getvalue()
