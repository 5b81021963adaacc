"""`thence campaign start`, `resume`, `status`, `report`."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thence.cli.commands.conform import subject_name
from thence.cli.output import UNKNOWN, BadInput, Output
from thence.cli.session import Session, write_text
from thence.conformance.campaign import (
    CampaignParameters,
    Status,
    failing_cases,
    result,
    write_report,
)
from thence.conformance.campaign import (
    report as read_report,
)
from thence.conformance.campaign import (
    resume as resume_campaign,
)
from thence.conformance.campaign import (
    start as start_campaign,
)
from thence.conformance.campaign import (
    status as read_status,
)
from thence.conformance.campaign.causes import Cause, causes
from thence.conformance.campaign.one_system import PORTFOLIO
from thence.conformance.campaign.shipping import absolute, as_on_a_worker
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.guided import NAME as GUIDED
from thence.conformance.harness.guided import Corpus, grown
from thence.conformance.implementations import SHIPPED
from thence.conformance.systems.protocol_subject import PREFIX
from thence.conformance.systems.subject import load_subject
from thence.dsl.find import known, named_protocol, parted, specification

RUNNER = "thence.conformance.campaign.one_system:campaign_runner"
SEVERAL = "thence.conformance.campaign.several_systems:several_runner"

CAUSES_FOLDER = "causes"
"""Beside the report: a case to run again for each cause, as the report names them."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A system under test.

    Attributes:
        system: as `load_subject` takes it.
        protocol: a library name or file; None: the oracle alone judges.
    """

    system: str
    protocol: str | None

    def to_json(self) -> dict[str, Any]:
        """As the runners take it: a file with a protocol by its absolute path, so that it is found from anywhere."""
        named = self.protocol
        file, wanted = ("", "") if named is None else parted(named)
        if Path(file).is_file():
            named = f"{Path(file).resolve()}:{wanted}" if wanted else str(Path(file).resolve())
        return {"system": self.system, "protocol": named}


@dataclass(frozen=True, slots=True)
class Named:
    """What is to be tested, as named on the command line."""

    protocol: str | None
    impl: str | None
    exec_: str | None
    exec_per_process: str | None
    systems: str | None
    library: bool


def tested(named: Named) -> tuple[Tested, ...]:
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
        content = json.loads(Path(file).read_bytes())
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{file} is not JSON: {error}") from error
    if not isinstance(content, list) or not content:
        raise BadInput(f'{file} is not a list of {{"system": NAME, "protocol": NAME}}')
    found = []
    for each in content:
        well = isinstance(each, dict) and {"system"} <= set(each) <= {"system", "protocol"}
        if not well or not isinstance(each["system"], str) or not isinstance(each.get("protocol"), str | None):
            raise BadInput(f'{file}: {json.dumps(each)[:100]} is not {{"system": NAME, "protocol": NAME}}')
        found.append(Tested(each["system"], each.get("protocol")))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Request:
    """A campaign as asked for on the command line.

    Attributes:
        systems: what is tested: one system, or several in turn.
        network: fields of `Settings`; where the value is None, what the protocol says holds.
        case_limit_s: seconds for a case.
        py_files, archives: what is sent to the workers.
        reply_limit_s, start_limit_s: seconds for a reply of a foreign system, and for the first one of a process.
        memory_limit_bytes: what a foreign system may have in memory.
        grow: whether the guided scheduler's corpus is grown from the protocol; else it has the built-in scripts only.
    """

    systems: tuple[Tested, ...]
    cases: int
    first_seed: int
    processes: int
    operations: int
    scheduler: str
    partitions: int
    batch: int
    master: str
    network: Mapping[str, Any] = field(default_factory=dict)
    case_limit_s: float = 60.0
    py_files: Sequence[str] = ()
    archives: Sequence[str] = ()
    grow: bool = True
    reply_limit_s: float | None = None
    start_limit_s: float | None = None
    memory_limit_bytes: int | None = None


def parameters(request: Request, status: Callable[[str], None] = lambda _text: None) -> CampaignParameters:
    """The campaign's parameters. Raises BadInput, SubjectError, CampaignError."""
    names = (*SCHEDULERS, GUIDED, PORTFOLIO)
    known(request.scheduler, names, "scheduler")
    corpora: dict[str, Any] = {}
    py_files, archives = absolute(request.py_files), absolute(request.archives)
    with as_on_a_worker(py_files, archives):
        for each in request.systems:
            load_subject(each.system, request.processes).close()
        systems = [each.to_json() for each in request.systems]
        guided = request.grow and request.scheduler in (GUIDED, PORTFOLIO)
        protocols = dict.fromkeys(each["protocol"] for each in systems if each["protocol"] is not None)
        for number, protocol in enumerate(protocols if guided else (), 1):
            status(f"campaign: schedules to start from, {number} of {len(protocols)}: {protocol}")
            corpora[protocol] = _corpus(protocol, request.processes).to_json()
    shared: dict[str, Any] = {
        "scheduler": request.scheduler,
        "processes": request.processes,
        "operations": request.operations,
        **{name: value for name, value in request.network.items() if value is not None},
    }
    limits = {
        "reply_limit_s": request.reply_limit_s,
        "start_limit_s": request.start_limit_s,
        "memory_limit_bytes": request.memory_limit_bytes,
    }
    shared |= {name: value for name, value in limits.items() if value is not None}
    if len(systems) > 1:
        params = {"systems": systems, "corpora": corpora, **shared}
    else:
        corpus = next(iter(corpora.values()), None)
        params = {**systems[0], **({} if corpus is None else {"corpus": corpus}), **shared}
    return CampaignParameters(
        runner=RUNNER if len(systems) == 1 else SEVERAL,
        params=params,
        first_seed=request.first_seed,
        cases=request.cases,
        batch=request.batch,
        partitions=request.partitions,
        master=request.master,
        case_limit_s=request.case_limit_s,
        py_files=py_files,
        archives=archives,
    )


def _corpus(name: str, processes: int) -> Corpus:
    """What the guided scheduler starts from: the protocol's mutants, and runs of the protocol. Always the same."""
    found, protocol = specification(parted(name)[0]), named_protocol(name)
    # Three processes reach what there is to reach, and schedules for few processes run among many as well.
    corpus = grown(protocol, settings_for(protocol, min(processes, 3))).corpus
    return distinguishing(found, protocol) + corpus


def start(session: Session, directory: str, request: Request) -> Output:
    """Starts a campaign and runs it to its end, or until Ctrl-C."""
    started = time.perf_counter()
    chosen = parameters(request, session.status)
    status = start_campaign(Path(directory), chosen, lambda made: _progress(session, made))
    return _output(directory, status, time.perf_counter() - started)


def resume(session: Session, directory: str, master: str | None, partitions: int | None) -> Output:
    """Goes on where the campaign was stopped."""
    started = time.perf_counter()
    status = resume_campaign(
        Path(directory), lambda made: _progress(session, made), master=master, partitions=partitions
    )
    return _output(directory, status, time.perf_counter() - started)


def status(directory: str) -> Output:
    """How far the campaign is. Exit 0 however far that is, unless a case failed."""
    found = read_status(Path(directory))
    output = _output(directory, found, 0.0)
    return replace(output, exit=1 if found.tally.failures else 0)


def report(session: Session, directory: str, html: str | None, run_again: bool) -> Output:
    """Writes the HTML report, and a case to run again for each cause of failures."""
    folder = Path(directory)
    target = Path(html) if html is not None else folder / "report.html"
    found = read_report(folder)
    grouped = causes(
        failing_cases(folder), run_again=run_again,
        progress=lambda done, of: session.status(f"report: {done:,} of {of:,} groups of failures shortened"),
    )  # fmt: skip
    place = folder / CAUSES_FOLDER if html is None else target.with_name(f"{target.stem}-{CAUSES_FOLDER}")
    commands = [_command(place, number, cause) for number, cause in enumerate(grouped, 1)]
    write_report(found, target, list(zip(grouped, commands, strict=True)))
    fields = {"report": {**found.to_json(), "causes": _causes_json(grouped, commands)}, "html": str(target)}
    lines = [f"{target} written"]
    for cause, command in zip(grouped, commands, strict=True):
        where = f" at {cause.guard}" if cause.guard else ""
        cases = "1 case" if cause.cases == 1 else f"{cause.cases:,} cases"
        of = f" of {', '.join(cause.systems)}" if len(found.status.tally.systems) > 1 else ""
        lines.append(f"{cases}{of}: {', '.join(cause.kinds)}{where}: {cause.finding}")
        if command:
            lines.append(f"  {command}")
    return Output(text="\n".join(lines) + "\n", fields=fields)


def _causes_json(grouped: Sequence[Cause], commands: Sequence[str]) -> list[dict[str, Any]]:
    return [{**cause.to_json(), "command": command or None} for cause, command in zip(grouped, commands, strict=True)]


def _command(place: Path, number: int, cause: Cause) -> str:
    """Writes the case of a cause, and says how it is run again; "" where that is not possible."""
    if cause.recorded is None:
        return ""
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"{place} cannot be made: {error.strerror or error}") from error
    path = place / f"{number}.json"
    write_text(str(path), cause.recorded.text() + "\n")
    words = ["thence", "conform", "--replay", str(path)]
    return shlex.join(words)


def _progress(session: Session, status: Status) -> None:
    rate = "" if status.rate is None else f", {status.rate:,.0f} cases/s, {_duration(status.seconds_left or 0)} left"
    session.status(
        f"campaign: {status.tally.cases:,} of {status.parameters.cases:,} cases, "
        f"{status.tally.failures:,} failures{rate}"
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.1f} h"


def _output(directory: str, status: Status, seconds: float) -> Output:
    said = result(status, seconds)
    tally = status.tally
    lines = [
        f"{tally.cases:,} of {status.parameters.cases:,} cases, {tally.failures:,} failures, "
        f"{tally.errors:,} without an outcome, digest {status.to_json()['digest']}"
    ]
    if status.rate is not None:
        lines.append(f"{status.seconds:.1f} s in batches, {status.rate:,.0f} cases/s")
    if status.running:
        left = status.seconds_left
        lines.append("running" if left is None else f"running: about {_duration(left)} left")
    elif not status.complete:
        lines.append(f"incomplete: thence campaign resume {directory} goes on")
    return Output(
        results=(said,), text="\n".join(lines) + "\n", fields={"campaign": status.to_json()},
        exit=UNKNOWN if status.interrupted and not tally.failures else None, table=status.complete,
    )  # fmt: skip
