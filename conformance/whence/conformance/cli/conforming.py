"""`whence conform`: an implementation against the oracle and against its protocol."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.conformance.campaign.tally import failure_bound
from whence.conformance.cli.session import UNKNOWN, BadInput, Output, Session, check_writable, write_text
from whence.conformance.cli.specifications import specification
from whence.conformance.drive import LIMIT_S, Counterexample, Report, settings_for
from whence.conformance.drive import conform as drive
from whence.conformance.findings import CaseOutcome
from whence.conformance.harness import run_case
from whence.conformance.pictures import svg_of, text_of
from whence.conformance.recorded_case import RecordedCase, read_case
from whence.conformance.replay import Replay
from whence.conformance.schedule import describe
from whence.conformance.subject import load_subject
from whence.dsl import ir
from whence.spec.verdict import Level, Result, Verdict

DRAWN_EVENTS = 60
"""Longer executions are not drawn in the terminal."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to drive against what.

    Attributes:
        protocol: a library name or file.
        impl: the implementation, as module:Class.
        cases: how many schedules, of `operations` operations each.
    """

    protocol: str
    impl: str
    processes: int
    cases: int
    operations: int
    seed: int


def conform(session: Session, request: Request, save: str | None, replay: str | None, svg: str | None) -> Output:
    """Drives the implementation, or runs one recorded case again."""
    check_writable(save)
    check_writable(svg)
    if replay is not None:
        return _again(request, replay, svg)
    report = _driven(session, request)
    result = _result(request, report)
    worst = report.counterexamples[0] if report.counterexamples else None
    if worst is not None and save is not None:
        write_text(save, _recorded(request, worst).text() + "\n")
    if worst is not None and svg is not None:
        write_text(svg, result.picture)
    said = [_sentence(request, report)]
    if report.interrupted:
        said.append(f"incomplete: interrupted after {report.cases:,} of {request.cases:,} cases")
    for path in (save, svg):
        if path is not None:
            said.append(f"{path} written" if worst is not None else f"nothing failed; {path} is not written")
    code = UNKNOWN if report.interrupted and worst is None else None
    return Output((result,), text="\n".join(said) + "\n", fields={"complete": not report.interrupted}, exit=code)


def conform_result(session: Session | None, request: Request) -> Result:
    """One statement: the implementation is causal and follows its protocol."""
    return _result(request, _driven(session, request))


def _driven(session: Session | None, request: Request) -> Report:
    protocol = _protocol(request.protocol)
    subject = load_subject(request.impl, request.processes)
    subject.require(protocol.delivery)

    def progress(done: int, planned: int) -> None:
        if session is not None:
            session.status(f"{request.impl}: {done:,} of {planned:,} cases")

    return drive(
        subject.make_process, protocol, settings_for(protocol, request.processes),
        cases=request.cases, seed=request.seed, operations=request.operations, progress=progress,
    )  # fmt: skip


def _protocol(name: str) -> ir.Protocol:
    protocols = specification(name).protocols
    fitting = [protocol for protocol in protocols if len(protocols) == 1 or protocol.name == Path(name).stem]
    if not fitting:
        there = ", ".join(protocol.name for protocol in protocols)
        raise BadInput(f"{name} has several protocols ({there}), none named like the file" if there else
                       f"{name} has no protocol to conform to")  # fmt: skip
    return fitting[0]


def _result(request: Request, report: Report) -> Result:
    worst = report.counterexamples[0] if report.counterexamples else None
    unknown = report.interrupted and worst is None
    verdict = Verdict.REFUTED if worst else Verdict.UNKNOWN if unknown else Verdict.TESTED
    facts: dict[str, Any] = {
        "property": "conforms",
        "protocol": request.protocol if "/" not in request.protocol else Path(request.protocol).stem,
        "settings": report.settings.to_json(),
        "seed": request.seed,
        "operations": request.operations,
        "cases": report.cases,
        "failures": report.failures,
        "events": report.events,
        "matched": report.matched,
        "over_delay": {"arrivals": report.arrivals, "withheld": report.withheld},
        "schedulers": [
            {"name": count.name, "cases": count.cases, "failures": count.failures} for count in report.schedulers
        ],
    }
    if report.cases:
        facts["failure_rate_bound"] = float(f"{failure_bound(report.cases, report.failures):.3g}")
    if worst is not None:
        facts["findings"] = [str(finding) for shown in report.counterexamples for finding in shown.findings]
        facts["counterexample"] = _recorded(request, worst).to_json()
    if unknown:
        facts["unknown"] = f"incomplete: interrupted after {report.cases:,} of {request.cases:,} cases"
    return Result(
        "causal, and as its protocol", "conform", request.impl, verdict, Level.L0, worst is None and not unknown,
        report.seconds, facts, "\n\n".join(_explained(shown) for shown in report.counterexamples),
        svg_of(worst.outcome.execution, _judged(worst.outcome)) if worst is not None else "",
    )  # fmt: skip


def _sentence(request: Request, report: Report) -> str:
    shares = ", ".join(f"{count.name} {count.failures:,} of {count.cases:,}" for count in report.schedulers)
    return (
        f"{request.impl}: {report.failures:,} of {report.cases:,} cases failed ({shares}); "
        f"{report.events:,} sends, arrivals and deliveries, {report.matched:,} events as in the protocol's interpreter"
    )


def _recorded(request: Request, shown: Counterexample) -> RecordedCase:
    return RecordedCase(request.impl, request.protocol, shown.outcome.settings, shown.operations)


def _explained(shown: Counterexample) -> str:
    return f"{shown.text()}{_drawn(shown.outcome)}"


def _drawn(outcome: CaseOutcome) -> str:
    execution = outcome.execution
    if not 0 < len(execution.events) <= DRAWN_EVENTS:
        return ""
    return f"\n\n{text_of(execution, _judged(outcome))}"


def _judged(outcome: CaseOutcome) -> Any:
    return next((finding.judged for finding in outcome.findings if finding.judged is not None), None)


def _again(request: Request, path: str, svg: str | None) -> Output:
    """Runs a recorded case again: its settings and operations, with the protocol and implementation asked for."""
    try:
        recorded = read_case(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not a recorded case: it is not text") from error
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error
    protocol = _protocol(request.protocol)
    subject = load_subject(request.impl, recorded.settings.processes)
    subject.require(protocol.delivery)
    if recorded.settings.delivery != protocol.delivery:
        raise BadInput(f"{path} has {recorded.settings.delivery} messages; {protocol.name} is {protocol.delivery}")
    replay = Replay(protocol, recorded.settings.processes)
    outcome = run_case(subject.make_process, recorded.operations, recorded.settings, replay, limit_s=LIMIT_S)
    if svg is not None:
        write_text(svg, svg_of(outcome.execution, _judged(outcome)))
    lines = [f"{number:>3}  {describe(operation)}" for number, operation in enumerate(outcome.operations, 1)]
    lines += [f"  => {finding}" for finding in outcome.findings] or ["  nothing is wrong"]
    failed = bool(outcome.findings)
    facts = {
        "protocol": request.protocol,
        "settings": recorded.settings.to_json(),
        "cases": 1,
        "failures": int(failed),
        "events": len(outcome.log),
        "matched": outcome.matched,
        "findings": [str(finding) for finding in outcome.findings],
    }
    result = Result(
        "recorded case", "conform", request.impl, Verdict.REFUTED if failed else Verdict.TESTED, Level.L0, not failed,
        0.0, facts,
    )  # fmt: skip
    return Output((result,), text="\n".join(lines) + _drawn(outcome), table=False)
