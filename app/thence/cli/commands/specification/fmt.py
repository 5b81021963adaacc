"""`thence fmt`: files in their canonical form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from thence.cli.options import Json
from thence.cli.output import REFUTED, Output
from thence.cli.session import rewrite_text, run_command
from thence.dsl.load import Loaded, locate, read_source
from thence.dsl.text.diagnostics import Diagnostic, SourceText
from thence.dsl.text.parse import decode
from thence.dsl.write.format import format_source


def fmt(
    files: Annotated[list[str], typer.Argument(help=".thence files.")],
    check_only: Annotated[
        bool, typer.Option("--check", help="Change nothing, and exit with 1 where a file would change.")
    ] = False,
    json: Json = False,
) -> None:
    """Formats each file in place. A file that does not parse is left alone, with its diagnostics."""
    run_command("fmt", json, lambda session: _formatted(files, check_only))


def _formatted(files: Sequence[str], check_only: bool) -> Output:
    diagnostics: list[tuple[Diagnostic, Loaded]] = []
    changed = []
    for file in files:
        path = locate(file)
        content, size = read_source(path)
        text, wrong = decode(content, str(path), size)
        formatted = None
        if text is not None:
            formatted, wrong = format_source(text, str(path))
        diagnostics += [(fault, Loaded(path, SourceText(str(path), text or ""), None, wrong)) for fault in wrong]
        if formatted is not None and formatted != text:
            changed.append(str(path))
            if not check_only:
                rewrite_text(str(path), formatted)
    said = "would change" if check_only else "formatted"
    return Output(
        diagnostics=tuple(diagnostics),
        text="\n".join(f"{path}: {said}" for path in changed),
        fields={"changed": changed},
        exit=REFUTED if check_only and changed and not diagnostics else None,
    )
