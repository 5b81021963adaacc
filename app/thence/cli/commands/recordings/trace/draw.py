"""`thence trace draw`: a recorded execution as a space-time diagram."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from thence.api.recordings import known_format
from thence.cli.options import Json, TraceFormat
from thence.cli.output import Output
from thence.cli.session import run_command, write_text
from thence.conformance.harness.pictures import svg_of, text_of
from thence.conformance.traces.reading import FORMATS, read
from thence.spec.judgement import judge


def draw(
    file: Annotated[str, typer.Argument(help="A recorded execution, in any of the formats.")],
    svg: Annotated[Optional[str], typer.Option(help="Write the diagram as SVG to this file.")] = None,  # noqa: UP045
    format_: TraceFormat = None,
    json: Json = False,
) -> None:
    """Draws the execution: as SVG into a file, or in the terminal."""
    run_command("trace draw", json, lambda session: _drawn(file, svg, format_))


def _drawn(file: str, svg: str | None, format_: str | None) -> Output:
    known_format(format_, FORMATS)
    execution = read(file, format_).execution
    finding = judge(execution).first_finding
    if svg is not None:
        write_text(svg, svg_of(execution, finding))
        return Output(text=f"{svg} written", fields={"svg": svg})
    picture = text_of(execution, finding)
    return Output(text=picture, fields={"diagram": picture})
