"""`whence campaign start`, `resume`, `status`, `report`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from whence.conformance.campaign import (
    CampaignParameters,
    Status,
    result,
    write_report,
)
from whence.conformance.campaign import (
    report as read_report,
)
from whence.conformance.campaign import (
    resume as resume_campaign,
)
from whence.conformance.campaign import (
    start as start_campaign,
)
from whence.conformance.campaign import (
    status as read_status,
)
from whence.conformance.cli.session import UNKNOWN, BadInput, Output, Session
from whence.conformance.cli.specifications import known
from whence.conformance.harness_campaign import PORTFOLIO
from whence.conformance.implementations import SHIPPED
from whence.conformance.schedulers import SCHEDULERS
from whence.conformance.subject import load_subject

RUNNER = "whence.conformance.harness_campaign:campaign_runner"


@dataclass(frozen=True, slots=True)
class Request:
    """A campaign as asked for on the command line."""

    protocol: str
    impl: str | None
    cases: int
    first_seed: int
    processes: int
    operations: int
    scheduler: str
    partitions: int
    batch: int
    master: str


def parameters(request: Request) -> CampaignParameters:
    """The campaign's parameters. Raises BadInput, SubjectError, CampaignError."""
    system = request.impl or SHIPPED.get(request.protocol)
    if system is None:
        raise BadInput(f"no implementation of {request.protocol} is shipped; name one with --impl module:Class")
    known(request.scheduler, (*SCHEDULERS, PORTFOLIO), "scheduler")
    load_subject(system, request.processes)
    return CampaignParameters(
        runner=RUNNER,
        params={
            "system": system,
            "protocol": request.protocol,
            "scheduler": request.scheduler,
            "processes": request.processes,
            "operations": request.operations,
        },
        first_seed=request.first_seed,
        cases=request.cases,
        batch=request.batch,
        partitions=request.partitions,
        master=request.master,
    )


def start(session: Session, directory: str, request: Request) -> Output:
    """Starts a campaign and runs it to its end, or until Ctrl-C."""
    started = time.perf_counter()
    status = start_campaign(Path(directory), parameters(request), lambda made: _progress(session, made))
    return _output(directory, status, time.perf_counter() - started)


def resume(session: Session, directory: str) -> Output:
    """Goes on where the campaign was stopped."""
    started = time.perf_counter()
    status = resume_campaign(Path(directory), lambda made: _progress(session, made))
    return _output(directory, status, time.perf_counter() - started)


def status(directory: str) -> Output:
    """How far the campaign is. Exit 0 however far that is, unless a case failed."""
    found = read_status(Path(directory))
    output = _output(directory, found, 0.0)
    return Output(output.results, (), output.text, output.fields, 1 if found.tally.failures else 0)


def report(directory: str, html: str | None) -> Output:
    """Writes the HTML report."""
    target = Path(html) if html is not None else Path(directory) / "report.html"
    found = read_report(Path(directory))
    write_report(found, target)
    return Output(text=f"{target} written", fields={"report": found.to_json(), "html": str(target)})


def _progress(session: Session, status: Status) -> None:
    session.status(
        f"campaign: {status.tally.cases:,} of {status.parameters.cases:,} cases, {status.tally.failures:,} failures"
    )


def _output(directory: str, status: Status, seconds: float) -> Output:
    said = result(status, seconds)
    tally = status.tally
    lines = [
        f"{tally.cases:,} of {status.parameters.cases:,} cases, {tally.failures:,} failures, "
        f"{tally.errors:,} without an outcome, digest {status.to_json()['digest']}"
    ]
    if not status.complete:
        lines.append(f"incomplete: whence campaign resume {directory} goes on")
    return Output(
        results=(said,), text="\n".join(lines) + "\n", fields={"campaign": status.to_json()},
        exit=UNKNOWN if status.interrupted and not tally.failures else None,
    )  # fmt: skip
