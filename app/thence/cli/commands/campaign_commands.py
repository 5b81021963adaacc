"""The options of `thence campaign`."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from thence.cli.options import Channels, Delivery, Duplication, Json, Loss, SelfSends
from thence.cli.session import run_command

campaign = typer.Typer(help="Randomized conformance campaigns on Spark, stopped and resumed.", rich_markup_mode=None)

Directory = Annotated[str, typer.Argument(help="The campaign's directory.")]


@campaign.command("start")
def campaign_start(
    directory: Directory,
    protocol: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A library protocol, or a file with one, to replay each case in; without, the oracle alone."),
    ] = None,
    impl: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="module:Class, or protocol:FILE; by default the shipped implementation of the protocol."),
    ] = None,
    exec_: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--exec", help="The implementation, as a command that speaks thence-exec/1 on every worker."),
    ] = None,
    exec_per_process: Annotated[
        Optional[str], typer.Option(help="The same, run once for each process of the system.")  # noqa: UP045
    ] = None,
    library: Annotated[
        bool, typer.Option("--library", help="All shipped implementations in turn, each in its protocol.")
    ] = False,
    systems: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help='Several systems in turn: a file with a JSON list of {"system": NAME, "protocol": NAME}.'),
    ] = None,
    cases: Annotated[int, typer.Option(min=1, help="How many cases, a seed each.")] = 20000,
    first_seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    processes: Annotated[int, typer.Option(min=2, help="How many processes.")] = 3,
    operations: Annotated[int, typer.Option(min=1, help="Operations a case.")] = 12,
    scheduler: Annotated[
        str, typer.Option(help="starve_one_channel, uniform, pct, swarm, guided, or portfolio: all of them.")
    ] = "portfolio",
    channels: Channels = None,
    duplication: Duplication = None,
    loss: Loss = None,
    self_sends: SelfSends = None,
    delivery: Delivery = None,
    case_limit: Annotated[float, typer.Option(min=0.01, help="Seconds for a case; then it has no outcome.")] = 60.0,
    reply_limit: Annotated[
        Optional[float], typer.Option(min=0.01, help="Seconds for a reply of a command; 5 by default.")  # noqa: UP045
    ] = None,
    start_limit: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.01, help="Seconds for the first reply of a command; 20 by default."),
    ] = None,
    memory_limit: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="What a command may have in memory on a worker, with all that it starts; 2G by default."),
    ] = None,
    partitions: Annotated[int, typer.Option(min=0, help="Spark tasks a batch; 0: two a core.")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Cases a batch.")] = 2000,
    master: Annotated[str, typer.Option(help="Any Spark master.")] = "local[*]",
    py_files: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="A .py, .zip or .egg file that is sent to the workers; repeatable."),
    ] = None,
    archives: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="An archive that is sent to the workers and unpacked, as FILE#FOLDER; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Start a campaign."""
    from thence.cli.byte_sizes import byte_size
    from thence.cli.commands import campaigns

    def body(session: Any) -> Any:
        named = campaigns.Named(protocol, impl, exec_, exec_per_process, systems, library)
        network = {"channels": channels, "duplication": duplication, "loss": loss, "self_sends": self_sends,
                   "delivery": delivery}  # fmt: skip
        request = campaigns.Request(
            campaigns.tested(named), cases, first_seed, processes, operations, scheduler, partitions, batch, master,
            network, case_limit, tuple(py_files or ()), tuple(archives or ()), reply_limit_s=reply_limit,
            start_limit_s=start_limit,
            memory_limit_bytes=None if memory_limit is None else byte_size("--memory-limit", memory_limit),
        )  # fmt: skip
        return campaigns.start(session, directory, request)

    run_command("campaign start", json, body)


@campaign.command("resume")
def campaign_resume(
    directory: Directory,
    master: Annotated[Optional[str], typer.Option(help="Another Spark master than before.")] = None,  # noqa: UP045
    partitions: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=0, help="Another number of Spark tasks a batch than before."),
    ] = None,
    json: Json = False,
) -> None:
    """Go on with a campaign that was stopped, exactly where it was."""
    from thence.cli.commands import campaigns

    run_command("campaign resume", json, lambda session: campaigns.resume(session, directory, master, partitions))


@campaign.command("status")
def campaign_status(directory: Directory, json: Json = False) -> None:
    """Say how far a campaign is; works while it runs."""
    from thence.cli.commands import campaigns

    run_command("campaign status", json, lambda session: campaigns.status(directory))


@campaign.command("report")
def campaign_report(
    directory: Directory,
    html: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where the HTML report goes; by default in the directory."),
    ] = None,
    shorten: Annotated[
        bool, typer.Option("--shorten/--no-shorten", help="Whether failures are run again here, shortened and drawn.")
    ] = True,
    json: Json = False,
) -> None:
    """Write the report of a campaign."""
    from thence.cli.commands import campaigns

    run_command("campaign report", json, lambda session: campaigns.report(session, directory, html, shorten))
