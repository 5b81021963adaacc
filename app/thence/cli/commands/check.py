"""`thence check`: files parsed, resolved and typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from thence.cli.options import Json
from thence.cli.output import Output
from thence.cli.session import run_command
from thence.dsl.load import load


def check(
    files: Annotated[list[str], typer.Argument(help=".thence files, or bare names of library files.")],
    json: Json = False,
) -> None:
    """Checks each file; diagnostics of all of them."""
    run_command("check", json, lambda session: _checked(files))


def _checked(files: Sequence[str]) -> Output:
    loaded = [load(file) for file in files]
    diagnostics = tuple((diagnostic, file) for file in loaded for diagnostic in file.diagnostics)
    good = [str(file.path) for file in loaded if file.specification is not None]
    text = "\n".join(f"{path}: no errors" for path in good)
    return Output(diagnostics=diagnostics, text=text, fields={"files": [str(file.path) for file in loaded]})
