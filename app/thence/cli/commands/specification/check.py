"""`thence check`: files parsed, resolved and typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from thence.api.specifications import check as checked
from thence.cli.options import Json
from thence.cli.output import Output
from thence.cli.session import run_command


def check(
    files: Annotated[list[str], typer.Argument(help=".thence files, or bare names of library files.")],
    json: Json = False,
) -> None:
    """Checks each file; diagnostics of all of them."""
    run_command("check", json, lambda session: _checked(files))


def _checked(files: Sequence[str]) -> Output:
    found = checked(*files)
    diagnostics = tuple((diagnostic, file) for file in found.loaded for diagnostic in file.diagnostics)
    good = [str(file.path) for file in found.loaded if file.specification is not None]
    text = "\n".join(f"{path}: no errors" for path in good)
    return Output(diagnostics=diagnostics, text=text, fields={"files": list(found.files)})
