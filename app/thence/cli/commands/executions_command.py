"""The options of `thence executions`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from thence.cli.options import Json
from thence.cli.session import run_command


def executions(
    protocols: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(help="Protocols: also count what each generates. By default those of the library, not counted."),
    ] = None,
    processes: Annotated[int, typer.Option(min=2, max=5, help="Executions of up to so many processes.")] = 4,
    messages: Annotated[int, typer.Option(min=1, max=5, help="Executions of up to so many messages.")] = 4,
    program: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A file with lines such as '0: send to 1; receive from 2': every execution of this program."),
    ] = None,
    json: Json = False,
) -> None:
    """Say of which kinds executions are (causal, FIFO, ...), what separates the kinds, and who generates which."""
    from thence.cli.commands import executions as listing_executions

    run_command(
        "executions",
        json,
        lambda session: listing_executions.executions(session, protocols or (), processes, messages, program),
    )
