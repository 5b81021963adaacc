"""`thence campaign start`."""

from __future__ import annotations

import json as json_text
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Optional

import typer

from thence.api.driving import claims_named, links_given
from thence.api.sizes import byte_size
from thence.cli.campaigns import CampaignPlan, CasePlan, Tested, Work, campaign_output, parameters, show_progress
from thence.cli.options import (
    CampaignDirectory,
    Channels,
    Claims,
    Delivery,
    Duplication,
    Json,
    Links,
    Loss,
    SelfSends,
    TrustFile,
    Verbose,
)
from thence.cli.output import BadInput, Output
from thence.cli.session import Session, run_command
from thence.cli.subjects import subject_name
from thence.conformance.campaign import start as start_campaign
from thence.conformance.cases.network import PROMISES
from thence.conformance.implementations import SHIPPED
from thence.conformance.systems.protocol_subject import PREFIX
from thence.conformance.systems.trust import Word
from thence.dsl.find import named_protocol


def start(
    directory: CampaignDirectory,
    protocol: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A library protocol, or a file with one, to replay each case in; without, the oracle alone."),
    ] = None,
    impl: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="The implementation: module:Class, or protocol:FILE. By default, the shipped one of the protocol."
        ),
    ] = None,
    exec_: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--exec", help="The implementation, as a command that speaks thence-exec/1 on every worker."),
    ] = None,
    exec_per_process: Annotated[
        Optional[str], typer.Option(help="Like --exec, with one run of the command for each process of the system.")  # noqa: UP045
    ] = None,
    library: Annotated[
        bool, typer.Option("--library", help="Test all shipped implementations in turn, each in its protocol.")
    ] = False,
    systems: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help='Several systems in turn: a file with a JSON list of {"system": NAME, "protocol": NAME}.'),
    ] = None,
    cases: Annotated[int, typer.Option(min=1, help="The number of cases. Each has its own seed.")] = 20000,
    first_seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    processes: Annotated[int, typer.Option(min=2, help="The number of processes.")] = 3,
    operations: Annotated[int, typer.Option(min=1, help="The number of operations in a case.")] = 12,
    scheduler: Annotated[
        str,
        typer.Option(
            help="The scheduler: starve_one_channel, uniform, pct, swarm, guided, or portfolio, which is all of them."
        ),
    ] = "portfolio",
    channels: Channels = None,
    duplication: Duplication = None,
    loss: Loss = None,
    self_sends: SelfSends = None,
    delivery: Delivery = None,
    links: Links = None,
    claim: Claims = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Demand the order of the protocol's text, also where it promises none.")
    ] = False,
    case_limit: Annotated[
        float, typer.Option(min=0.01, help="The time limit for a case, in seconds. After it, the case has no outcome.")
    ] = 60.0,
    reply_limit: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.01, help="The time limit for a reply of a command, in seconds. By default, 5."),
    ] = None,
    start_limit: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.01, help="The time limit for the first reply of a command, in seconds. By default, 20."),
    ] = None,
    memory_limit: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The memory that a command and all that it starts may use on a worker. By default, 2G."),
    ] = None,
    partitions: Annotated[
        int, typer.Option(min=0, help="The number of Spark tasks in a batch. 0 means two for each core.")
    ] = 0,
    batch: Annotated[int, typer.Option(min=1, help="The number of cases in a batch.")] = 2000,
    master: Annotated[str, typer.Option(help="The Spark master.")] = "local[*]",
    py_files: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="A .py, .zip or .egg file that is sent to the workers. Repeatable."),
    ] = None,
    archives: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(help="An archive that is sent to the workers and unpacked, as FILE#FOLDER. Repeatable."),
    ] = None,
    trust_file: TrustFile = False,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Starts a campaign and runs it to its end, or until Ctrl-C."""
    network = {
        "channels": channels,
        "duplication": duplication,
        "loss": loss,
        "self_sends": self_sends,
        "delivery": delivery,
        "strict": strict or None,
    }
    work = Work(partitions, batch, master, case_limit, tuple(py_files or ()), tuple(archives or ()))

    def body(session: Session) -> Output:
        tested = _tested(Named(protocol, impl, exec_, exec_per_process, systems, library))
        if systems is not None:
            word = Word(systems, trust_file)
            for each in tested:
                word.require(each.system)
        limits = {
            "reply_limit_s": reply_limit,
            "start_limit_s": start_limit,
            "memory_limit_bytes": None if memory_limit is None else byte_size("--memory-limit", memory_limit),
        }
        claims = claims_named(claim)
        made: dict[str, bool] = {name: name in claims for name in PROMISES if claims}
        given = None if links is None else [list(link) for link in links_given(links, processes)]
        case = CasePlan(processes, operations, scheduler, {**network, **made, "links": given}, limits)
        return _started(session, directory, CampaignPlan(tested, cases, first_seed, case, work))

    run_command("campaign start", json, body, verbose)


def _started(session: Session, directory: str, plan: CampaignPlan) -> Output:
    started = time.perf_counter()
    chosen = parameters(plan, session.status)
    status = start_campaign(Path(directory), chosen, lambda made: show_progress(session, made))
    return campaign_output(directory, status, time.perf_counter() - started)


@dataclass(frozen=True, slots=True)
class Named:
    """The options that name systems under test."""

    protocol: str | None
    impl: str | None
    exec_: str | None
    exec_per_process: str | None
    systems: str | None
    library: bool


def _tested(named: Named) -> tuple[Tested, ...]:
    """The systems under test. Raises: BadInput where none is named, or in two ways."""
    one = (named.protocol, named.impl, named.exec_, named.exec_per_process)
    if (named.library or named.systems is not None) and any(each is not None for each in one):
        raise BadInput("--library and --systems name protocols and systems already; leave out the other options")
    if named.library and named.systems is not None:
        raise BadInput("give --library or --systems, not both")
    if named.library:
        return tuple(Tested(system, protocol) for protocol, system in SHIPPED.items())
    if named.systems is not None:
        return _listed(named.systems)
    protocol = named.protocol
    system = subject_name(named.impl, named.exec_, named.exec_per_process, protocol, needed=protocol in SHIPPED)
    if not system and protocol is None:
        raise BadInput("what is to be tested? give --protocol, --library, --systems, or one of --impl, --exec and "
                       "--exec-per-process")  # fmt: skip
    if not system and protocol is not None:
        named_protocol(protocol)
        raise BadInput(
            f"no implementation of {protocol} is shipped; name one with --impl module:Class, or run the "
            f"protocol itself with --impl {PREFIX}{protocol}"
        )
    return (Tested(system, protocol),)


def _listed(file: str) -> tuple[Tested, ...]:
    """The systems that a file lists. Raises: BadInput for another content."""
    try:
        content = json_text.loads(Path(file).read_bytes())
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file} is not JSON: {error}") from error
    if not isinstance(content, list) or not content:
        raise BadInput(f'{file} is not a list of {{"system": NAME, "protocol": NAME}}')
    found = []
    for each in content:
        well = isinstance(each, dict) and {"system"} <= set(each) <= {"system", "protocol"}
        if not well or not isinstance(each["system"], str) or not isinstance(each.get("protocol"), str | None):
            raise BadInput(f'{file}: {json_text.dumps(each)[:100]} is not {{"system": NAME, "protocol": NAME}}')
        found.append(Tested(each["system"], each.get("protocol")))
    return tuple(found)
