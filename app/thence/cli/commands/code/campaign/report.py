"""`thence campaign report`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from thence.cli.options import CampaignDirectory, Json, TrustFile
from thence.cli.output import BadInput, Output
from thence.cli.session import Session, run_command, write_text
from thence.conformance.campaign import failing_cases, write_report
from thence.conformance.campaign import report as read_report
from thence.conformance.campaign.causes import Cause, causes
from thence.conformance.campaign.store import check_no_links
from thence.conformance.systems.trust import Word
from thence.spec.words import counted

CAUSES_FOLDER = "causes"
"""Beside the report: a case to run again for each cause, as the report names them."""


def report(
    directory: CampaignDirectory,
    html: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The file that gets the HTML report. By default, it is in the directory."),
    ] = None,
    shorten: Annotated[
        bool, typer.Option("--shorten/--no-shorten", help="Whether failures are run again here, shortened and drawn.")
    ] = True,
    trust_file: TrustFile = False,
    json: Json = False,
) -> None:
    """Writes the HTML report, and a case to run again for each cause of failures."""
    word = Word(directory, trust_file, otherwise="give --no-shorten, which runs nothing") if shorten else None
    run_command("campaign report", json, lambda session: _reported(session, directory, html, word))


def _reported(session: Session, directory: str, html: str | None, word: Word | None) -> Output:
    folder = Path(directory)
    check_no_links(folder, CAUSES_FOLDER)
    target = Path(html) if html is not None else folder / "report.html"
    found = read_report(folder)
    grouped = causes(
        failing_cases(folder), word=word,
        progress=lambda done, of: session.status("shortening", done, of, "groups of failures"),
    )  # fmt: skip
    place = folder / CAUSES_FOLDER if html is None else target.with_name(f"{target.stem}-{CAUSES_FOLDER}")
    commands = [_command(place, number, cause) for number, cause in enumerate(grouped, 1)]
    write_report(found, target, list(zip(grouped, commands, strict=True)))
    fields = {"report": {**found.to_json(), "causes": _causes_json(grouped, commands)}, "html": str(target)}
    lines = [f"{target} written"]
    for cause, command in zip(grouped, commands, strict=True):
        where = f" at {cause.guard}" if cause.guard else ""
        cases = counted(cause.cases, "case")
        of = f" of {', '.join(cause.systems)}" if len(found.status.tally.systems) > 1 else ""
        lines.append(f"{cases}{of}: {', '.join(cause.kinds)}{where}: {cause.finding}")
        if command:
            lines.append(f"  {command}")
    return Output(text="\n".join(lines) + "\n", fields=fields)


def _causes_json(grouped: Sequence[Cause], commands: Sequence[str]) -> list[dict[str, Any]]:
    return [{**cause.to_json(), "command": command or None} for cause, command in zip(grouped, commands, strict=True)]


def _command(place: Path, number: int, cause: Cause) -> str:
    """Writes the case of a cause, and says how it is run again; "" where that is not possible."""
    if cause.recorded is None:
        return ""
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"{place} cannot be made: {error.strerror or error}") from error
    path = place / f"{number}.json"
    write_text(str(path), cause.recorded.text() + "\n")
    words = ["thence", "conform", "--replay", str(path)]
    return shlex.join(words)
