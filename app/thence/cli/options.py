"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

MOST_PROCESSES = 256
"""The limit of `Settings`."""

File = Annotated[str, typer.Argument(help="A .thence file, or the bare name of a library file.")]
Sends = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="How many messages each process sends: one number for all, or one for each, such as 2,1,1."),
]
Processes = Annotated[Optional[int], typer.Option(min=1, help="The number of processes.")]  # noqa: UP045
SettingTexts = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--setting",
        help="A setting of the scope, written as in files: 'losses 1', 'fifo', 'destinations 0 to 1'. Repeatable.",
    ),
]
ScopeName = Annotated[Optional[str], typer.Option("--scope", help="A scope of the file. By default, all of them.")]  # noqa: UP045
OneScope = Annotated[Optional[str], typer.Option("--scope", help="A scope of the file. By default, the first.")]  # noqa: UP045
MutantName = Annotated[Optional[str], typer.Option("--mutant", help="A mutant of the file, or PROTOCOL/MUTANT.")]  # noqa: UP045

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")]


def verbosity(shows: str) -> Any:
    """The option -v of a command, with what it shows."""
    return typer.Option("--verbose", "-v", count=True, help=shows)


Verbose = Annotated[int, verbosity("Show every statement; with -vv also every expected counterexample.")]
NoPackets = Annotated[bool, typer.Option("--no-packets", help="Leave control packets out of the diagrams.")]
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
        help="Try the executions in this file first: the --json output of any command, a recorded case, or a trace. "
        "The word 'prover' takes the counterexamples of the prover to the file of the protocol. Repeatable.",
    ),
]
Claims = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--claim",
        help="Claim this of the system, and nothing else but that it starts: conforming, causal, fifo, delivered, "
        "once, prompt or total_order. By default what the protocol promises, or else causal, fifo, delivered and once. "
        "Repeatable.",
    ),
]
MemoryLimit = Annotated[
    str,
    typer.Option(help="The memory that a command and all that it starts may use, such as 500M or 4G. Linux only."),
]
TimeBudget = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        "--time",
        min=0.1,
        help="The time for the whole run in seconds, shortening included. The cases end when it is spent.",
    ),
]
ReplyLimit = Annotated[float, typer.Option(min=0.01, help="The time limit for a reply of a command, in seconds.")]
StartLimit = Annotated[
    float, typer.Option(min=0.01, help="The time limit for the first reply of a command, in seconds.")
]
ExecPerProcess = Annotated[
    Optional[str], typer.Option(help="Like --exec, with one run of the command for each process of the system.")  # noqa: UP045
]
GroupSize = Annotated[int, typer.Option(min=2, max=MOST_PROCESSES, help="The number of processes.")]

Channels = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="The channels: fifo or reordering. By default as the protocol says; without one, reordering."),
]
Duplication = Annotated[Optional[bool], typer.Option(help="Whether packets may arrive twice.")]  # noqa: UP045
Loss = Annotated[Optional[bool], typer.Option(help="Whether packets may vanish.")]  # noqa: UP045
Links = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="The links of an overlay, as a scope has them: '0 to 1; 1 with 2'. By default, all of them."),
]
SelfSends = Annotated[Optional[bool], typer.Option(help="Whether processes send to themselves.")]  # noqa: UP045
Delivery = Annotated[Optional[str], typer.Option(help="The kind of delivery: unicast, multicast or broadcast.")]  # noqa: UP045

TraceFormat = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--format", help="The format: ndjson, itf, shiviz, jepsen or otlp. By default, the file tells it."),
]
Merge = Annotated[
    bool, typer.Option("--merge", help="Put the files together: they are the logs of one run, without a common clock.")
]

TrustFile = Annotated[
    bool,
    typer.Option(
        "--trust-file",
        help="Run the programs and import the classes that the file names.",
    ),
]

CampaignDirectory = Annotated[str, typer.Argument(help="The campaign's directory.")]
