"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

MOST_PROCESSES = 256
"""The limit of `Settings`."""

File = Annotated[str, typer.Argument(help="A .thence file, or the bare name of a library file.")]
Sends = Annotated[
    Optional[str], typer.Option(help="Messages per process: one number for all, or one each, as 2,1,1.")  # noqa: UP045
]
Processes = Annotated[Optional[int], typer.Option(min=1, help="How many processes.")]  # noqa: UP045
SettingTexts = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--setting", help="A setting of the scope, as in files: 'losses 1', 'fifo', 'destinations 0 to 1'."),
]
ScopeName = Annotated[Optional[str], typer.Option("--scope", help="A scope of the file.")]  # noqa: UP045
MutantName = Annotated[Optional[str], typer.Option("--mutant", help="A mutant of the file, in place of its subject.")]  # noqa: UP045

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else there.")]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose", "-v", count=True, help="Show every statement; with -vv also every expected counterexample."
    ),
]
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
    typer.Option(help="What a command, with all that it starts, may have in memory, as 500M or 4G; Linux only."),
]
TimeBudget = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        "--time", min=0.1, help="Seconds for the whole run, shortening included; the cases end when they are spent."
    ),
]
ReplyLimit = Annotated[float, typer.Option(min=0.01, help="Seconds for a reply of a command.")]
StartLimit = Annotated[float, typer.Option(min=0.01, help="Seconds for the first reply of a command.")]
ExecPerProcess = Annotated[
    Optional[str], typer.Option(help="The same, run once for each process of the system.")  # noqa: UP045
]
GroupSize = Annotated[int, typer.Option(min=2, max=MOST_PROCESSES, help="How many processes.")]

Channels = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="fifo or reordering; by default as the protocol says, reordering without one."),
]
Duplication = Annotated[Optional[bool], typer.Option(help="Whether packets may arrive twice.")]  # noqa: UP045
Loss = Annotated[Optional[bool], typer.Option(help="Whether packets may vanish.")]  # noqa: UP045
SelfSends = Annotated[Optional[bool], typer.Option(help="Whether processes send to themselves.")]  # noqa: UP045
Delivery = Annotated[Optional[str], typer.Option(help="unicast, multicast or broadcast.")]  # noqa: UP045

TraceFormat = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--format", help="ndjson, itf, shiviz, jepsen or otlp; by default, what the file looks like."),
]
Merge = Annotated[
    bool, typer.Option("--merge", help="The files are logs of one run, without a common clock: put them together.")
]

TrustFile = Annotated[
    bool,
    typer.Option(
        "--trust-file",
        help="Run the programs and import the classes that the file names.",
    ),
]

CampaignDirectory = Annotated[str, typer.Argument(help="The campaign's directory.")]
