"""`thence demo`: an implementation in operating-system processes of its own, and a verdict on their recording."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Optional, cast

import typer

from thence.cli.options import Json, Seed, verbosity
from thence.cli.output import REFUTED, UNKNOWN, BadInput, Output, unwritten
from thence.cli.session import Session, run_command
from thence.cli.subjects import not_shipped
from thence.conformance.implementations import SHIPPED
from thence.conformance.systems.subject import load_subject
from thence.impl.transport.demo import DemoError, DemoOutcome, DemoSettings, run_demo
from thence.impl.transport.disturbance import Disturbance
from thence.spec.judgement import Judgement, judge
from thence.spec.verdict import Level, Result, Verdict
from thence.spec.words import counted

MOST_FINDINGS: Final = 5
"""So many findings are shown without -v."""


def demo(
    protocol: Annotated[str, typer.Argument(help="A library protocol with a shipped implementation.")] = "hybrid_basic",
    impl: Annotated[Optional[str], typer.Option(help="Another implementation, as module:Class.")] = None,  # noqa: UP045
    processes: Annotated[int, typer.Option(min=2, max=32, help="The number of operating-system processes.")] = 3,
    messages: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="The number of messages that each process sends. It may answer as many."),
    ] = 30,
    carrier: Annotated[str, typer.Option(help="The carrier, on the loopback interface: udp or tcp.")] = "udp",
    loss_rate: Annotated[float, typer.Option(min=0, max=0.95, help="The share of frames that is lost.")] = 0.1,
    duplication_rate: Annotated[
        float, typer.Option(min=0, max=0.95, help="The share of frames that is sent twice.")
    ] = 0.1,
    delay: Annotated[
        float, typer.Option(min=0, max=10_000, help="The greatest delay of a frame, in milliseconds.")
    ] = 5.0,
    seed: Seed = 0,
    out: Annotated[str, typer.Option(help="The folder for the recorded traces.")] = "thence-demo",
    time_limit: Annotated[
        float, typer.Option(min=0.1, max=3600, help="The time limit of the demonstration, in seconds.")
    ] = 60.0,
    verbose: Annotated[int, verbosity("Show everything that is wrong, not the first five findings only.")] = 0,
    json: Json = False,
) -> None:
    """Runs a group of processes, and judges their trace."""
    request = DemoRequest(
        protocol, impl, processes, messages, carrier, loss_rate, duplication_rate, delay, seed, out, time_limit
    )
    run_command("demo", json, lambda session: _demonstrated(session, request), verbose)


@dataclass(frozen=True, slots=True)
class DemoRequest:
    """A shipped protocol, or in its place an implementation as module:Class, and the group to run."""

    protocol: str
    impl: str | None
    processes: int
    messages: int
    carrier: str
    loss_rate: float
    duplication_rate: float
    delay_ms: float
    seed: int
    folder: str
    time_limit_s: float


def _demonstrated(session: Session, request: DemoRequest) -> Output:
    """Runs the group, and judges its trace."""
    impl = request.impl or SHIPPED.get(request.protocol)
    if impl is None:
        raise not_shipped(request.protocol)
    subject = load_subject(impl, request.processes)
    subject.require(subject.settings(request.processes))
    settings = _settings(request, impl)
    started = time.perf_counter()

    def progress(delivered: int, sent: int) -> None:
        session.status("delivering", delivered, sent, "messages")

    try:
        outcome = run_demo(settings, progress)
    except DemoError as error:
        raise BadInput(f"{impl} cannot be demonstrated: {error}") from error
    judgement = judge(outcome.trace.execution)
    most = None if session.verbosity else MOST_FINDINGS
    result = _result(impl, outcome, judgement, most, time.perf_counter() - started)
    code = None if outcome.complete else REFUTED if not judgement.causal or judgement.duplicate else UNKNOWN
    fields = {"complete": outcome.complete, "demo": _facts(settings, outcome)}
    output = Output((result,), text=_text(settings, outcome), fields=fields, exit=code)
    return unwritten(output, (outcome.unwritten,) if outcome.unwritten else ())


def _settings(request: DemoRequest, impl: str) -> DemoSettings:
    if request.carrier not in ("udp", "tcp"):
        raise BadInput(f"the carrier is udp or tcp, not {request.carrier}")
    folder = Path(request.folder)
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is not a folder")
    try:
        return DemoSettings(
            impl=impl,
            folder=folder,
            processes=request.processes,
            messages=request.messages,
            carrier=cast(Literal["udp", "tcp"], request.carrier),
            disturbance=Disturbance(request.loss_rate, request.duplication_rate, request.delay_ms, seed=request.seed),
            time_limit_s=request.time_limit_s,
        )
    except ValueError as error:
        raise BadInput(str(error)) from error


def _result(impl: str, outcome: DemoOutcome, judgement: Judgement, most: int | None, seconds: float) -> Result:
    """Tested or refuted, with the first findings; unknown, where the time was over before anything wrong was seen."""
    wrong = not judgement.causal or judgement.duplicate or bool(judgement.phantoms)
    verdict = Verdict.REFUTED if wrong or (outcome.complete and not judgement.faultless) else Verdict.TESTED
    facts = judgement.to_json()
    if not outcome.complete and not wrong:
        verdict = Verdict.UNKNOWN
        why = "interrupted" if outcome.interrupted else "the time was over"
        facts["unknown"] = f"{why} with {outcome.delivered:,} of {counted(outcome.sent, 'message')} delivered"
    return Result(
        name="causal delivery",
        kind="trace",
        subject=impl,
        verdict=verdict,
        level=Level.L0,
        expected=verdict is Verdict.TESTED,
        seconds=seconds,
        facts=facts,
        explanation="\n".join(judgement.told(most)),
    )


def _facts(settings: DemoSettings, outcome: DemoOutcome) -> dict[str, object]:
    return {
        "trace": str(outcome.path),
        "logs": [str(settings.log(identity)) for identity in range(settings.processes)],
        "carrier": settings.carrier,
        "sent": outcome.sent,
        "delivered": outcome.delivered,
        "processes": [
            {"pid": pid, "counters": counters} for pid, counters in zip(outcome.pids, outcome.counters, strict=True)
        ],
    }


def _text(settings: DemoSettings, outcome: DemoOutcome) -> str:
    disturbance = settings.disturbance
    lines = [
        f"{counted(settings.processes, 'process')} of {settings.impl} over {settings.carrier.upper()} on this machine; "
        f"{disturbance.loss:.0%} lost, {disturbance.duplication:.0%} sent twice, "
        f"delays up to {disturbance.delay_ms:g} ms",
    ]
    for identity, counters in enumerate(outcome.counters):
        said = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in counters.items() if value)
        lines.append(f"  p{identity} (pid {outcome.pids[identity]}): {said or 'had to be killed'}")
    if not outcome.complete:
        why = "interrupted" if outcome.interrupted else f"the time limit of {settings.time_limit_s:g} s was over"
        lines.append(f"incomplete: {why}, with {outcome.delivered:,} of {counted(outcome.sent, 'message')} delivered")
    if not outcome.unwritten:
        lines.append(f"{outcome.path} written; `thence trace check {outcome.path}` judges it again")
    return "\n".join(lines) + "\n"
