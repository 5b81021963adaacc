"""Options that commands share."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

MOST_PROCESSES = 256
"""As many as `Settings` allows."""

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")]
Seed = Annotated[int, typer.Option(help="Fixes every random choice.")]
Impl = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="The implementation: module:Class, or isolated:module:Class in a process of its own."),
]
Exec = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--exec", help="The implementation, as a command that speaks thence-exec/1."),
]
Schedules = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--schedules-from",
        help="Try the executions in this file first: what any command printed with --json, a recorded case or trace; "
        "or 'prover': what it finds against the file of the protocol. Repeatable.",
    ),
]
MemoryLimit = Annotated[
    str,
    typer.Option(help="What a command, with all that it starts, may have in memory, as 500M or 4G; Linux only."),
]
ExecPerProcess = Annotated[
    Optional[str], typer.Option(help="The same, run once for each process of the system.")  # noqa: UP045
]
Channels = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="fifo or reordering; by default as the protocol says, reordering without one."),
]
Duplication = Annotated[Optional[bool], typer.Option(help="Whether packets may arrive twice.")]  # noqa: UP045
Loss = Annotated[Optional[bool], typer.Option(help="Whether packets may vanish.")]  # noqa: UP045
SelfSends = Annotated[Optional[bool], typer.Option(help="Whether processes send to themselves.")]  # noqa: UP045
Delivery = Annotated[Optional[str], typer.Option(help="unicast, multicast or broadcast.")]  # noqa: UP045
