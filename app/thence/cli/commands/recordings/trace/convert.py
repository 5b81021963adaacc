"""`thence trace convert`: a recorded execution in another format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from thence.api.recordings import known_format
from thence.cli.options import Json, Merge, TraceFormat
from thence.cli.output import BadInput, Output
from thence.cli.session import check_writable, run_command, write_text
from thence.conformance.traces.reading import FORMATS, WRITTEN, read, read_merged, written
from thence.spec.trace import write_trace
from thence.spec.words import counted


def convert(
    files: Annotated[list[str], typer.Argument(help="A recorded execution. With --merge, the logs of one.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The file to write.")],
    to: Annotated[str, typer.Option(help="The format to write: ndjson, itf or shiviz.")] = "ndjson",
    format_: TraceFormat = None,
    merge: Merge = False,
    json: Json = False,
) -> None:
    """Writes the execution of a file, or of logs of one run, in another format."""
    run_command("trace convert", json, lambda session: _converted(files, output, to, format_, merge))


def _converted(files: Sequence[str], output: str, to: str, format_: str | None, merge: bool) -> Output:
    known_format(format_, FORMATS)
    known_format(to, WRITTEN)
    if len(files) > 1 and not merge:
        raise BadInput("one file is converted at a time; --merge takes several as logs of one run")
    trace = read_merged(files) if merge else read(files[0], format_)
    if to == "shiviz" and trace.header.get("inferred") is True:
        raise BadInput(
            "sends and deliveries are inferred from clocks, which a ShiViz log cannot say; --to ndjson or itf"
        )
    text = written(trace, to)
    if text is None:
        check_writable(output)
        write_trace(output, trace)
    else:
        write_text(output, text)
    events = len(trace.execution.events)
    return Output(text=f"{output} written: {counted(events, 'event')}", fields={"files": [output]})
