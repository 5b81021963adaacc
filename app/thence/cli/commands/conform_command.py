"""The options of `thence conform`."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from thence.cli.options import (
    MOST_PROCESSES,
    Channels,
    Delivery,
    Duplication,
    Exec,
    ExecPerProcess,
    Impl,
    Json,
    Loss,
    MemoryLimit,
    Schedules,
    Seed,
    SelfSends,
)
from thence.cli.session import run_command


def conform(
    protocol: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(help="FILE or FILE:PROTOCOL, FILE of the library or yours; without, the oracle alone judges."),
    ] = None,
    against: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The protocol, as 'trace check' takes it: FILE or FILE:PROTOCOL."),
    ] = None,
    impl: Impl = None,
    exec_: Exec = None,
    exec_per_process: ExecPerProcess = None,
    processes: Annotated[int, typer.Option(min=2, max=MOST_PROCESSES, help="How many processes.")] = 3,
    cases: Annotated[int, typer.Option(min=1, help="How many schedules.")] = 1000,
    operations: Annotated[int, typer.Option(min=1, help="Operations a schedule.")] = 12,
    seed: Seed = 0,
    channels: Channels = None,
    duplication: Duplication = None,
    loss: Loss = None,
    self_sends: SelfSends = None,
    delivery: Delivery = None,
    total_order: Annotated[
        Optional[bool], typer.Option(help="Whether the system promises a total order.")  # noqa: UP045
    ] = None,
    reply_limit: Annotated[float, typer.Option(min=0.01, help="Seconds for a reply of a command.")] = 5.0,
    start_limit: Annotated[float, typer.Option(min=0.01, help="Seconds for the first reply of a command.")] = 20.0,
    memory_limit: MemoryLimit = "2G",
    schedules_from: Schedules = None,
    lockstep: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option(
            "--lockstep/--tolerant",
            help="Compare each step with the protocol's, or replay sends and deliveries only; "
            "by default the former, where packets say of which kinds they are.",
        ),
    ] = None,
    save: Annotated[Optional[str], typer.Option(help="Write the minimal failing schedule to this file.")] = None,  # noqa: UP045
    replay: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Run only the schedule in this file; its system and protocol, unless others are given."),
    ] = None,
    svg: Annotated[Optional[str], typer.Option(help="Write the diagram of the failure to this file.")] = None,  # noqa: UP045
    pytest: Annotated[Optional[str], typer.Option(help="Write a test that replays the failure.")] = None,  # noqa: UP045
    transcript: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Write what was said to the command in the failing or replayed case, and what it said."),
    ] = None,
    json: Json = False,
) -> None:
    """Drive an implementation, in any language, through random schedules, against the oracle and the protocol."""
    from thence.cli.commands import conform as conforming

    def body(session: Any) -> Any:
        opposite = conforming.protocol_named(protocol, against)
        system = conforming.subject_name(impl, exec_, exec_per_process, opposite, needed=replay is None)
        limits = conforming.limits_of(reply_limit, start_limit, memory_limit)
        if replay is not None:
            return conforming.again(replay, opposite, system, limits, svg, transcript)
        network = {"channels": channels, "duplication": duplication, "loss": loss, "self_sends": self_sends,
                   "delivery": delivery, "total_order": total_order}  # fmt: skip
        request = conforming.Request(opposite, system, processes, cases, operations, seed, network, limits, lockstep,
                                     sources=tuple(schedules_from or ()))  # fmt: skip
        return conforming.conform(session, request, conforming.Files(save, svg, pytest, transcript))

    run_command("conform", json, body)
