"""Options that commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")]
Seed = Annotated[int, typer.Option(help="Fixes every random choice.")]
