"""`thence conform`: an implementation, in any language, against the oracle and against its protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Optional

import typer

from thence.api.driving import (
    Drive,
    Driven,
    Terms,
    claims_named,
    driven,
    driven_results,
    limits_of,
    recorded_case,
    short_name,
)
from thence.cli.options import (
    Channels,
    Claims,
    Delivery,
    Duplication,
    Exec,
    ExecPerProcess,
    GroupSize,
    Impl,
    Json,
    Links,
    Loss,
    MemoryLimit,
    ReplyLimit,
    Schedules,
    Seed,
    SelfSends,
    StartLimit,
    TimeBudget,
    TrustFile,
    verbosity,
)
from thence.cli.output import UNKNOWN, BadInput, Output, faults_of, unwritten
from thence.cli.reaching import indented, reach_line, reach_table, seen_and_missing, withheld_text
from thence.cli.recorded_cases import read_recorded
from thence.cli.session import Session, check_writable, run_command, write_text
from thence.cli.subjects import subject_name, whose_lines
from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.conform.rerun import pytest_file, rerun_against
from thence.conformance.harness.explain import case_explained, picture
from thence.conformance.harness.shortening import Counterexample
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.systems.subject import EXEC, EXEC_PER_PROCESS, ISOLATED
from thence.conformance.systems.system import Limits
from thence.dsl.find import named_protocol
from thence.spec.verdict import Level, Result, Verdict
from thence.spec.words import counted


def conform(
    protocol: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(
            help="The protocol, as FILE or FILE:PROTOCOL. FILE is yours or of the library. Without it, the oracle "
            "alone judges."
        ),
    ] = None,
    against: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Another way to name the protocol, as trace check has it."),
    ] = None,
    impl: Impl = None,
    exec_: Exec = None,
    exec_per_process: ExecPerProcess = None,
    processes: GroupSize = 3,
    cases: Annotated[int, typer.Option(min=1, help="The number of schedules.")] = 1000,
    operations: Annotated[int, typer.Option(min=1, help="The number of operations in a schedule.")] = 12,
    time: TimeBudget = None,
    seed: Seed = 0,
    channels: Channels = None,
    duplication: Duplication = None,
    loss: Loss = None,
    self_sends: SelfSends = None,
    links: Links = None,
    delivery: Delivery = None,
    claim: Claims = None,
    total_order: Annotated[Optional[bool], typer.Option(help="Whether the system promises a total order.")] = None,  # noqa: UP045
    reply_limit: ReplyLimit = 5.0,
    start_limit: StartLimit = 20.0,
    memory_limit: MemoryLimit = "2G",
    schedules_from: Schedules = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Demand the order of the protocol's text, also where it promises none."),
    ] = False,
    save: Annotated[Optional[str], typer.Option(help="Write the minimal failing schedule to this file.")] = None,  # noqa: UP045
    replay: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Run only the schedule in this file. Its protocol judges, unless another is given. The system is "
            "the given one, or with --trust-file the one that the file names."
        ),
    ] = None,
    trust_file: TrustFile = False,
    svg: Annotated[Optional[str], typer.Option(help="Write the diagram of the failure to this file.")] = None,  # noqa: UP045
    pytest: Annotated[Optional[str], typer.Option(help="Write a test that replays the failure.")] = None,  # noqa: UP045
    transcript: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Write what was said to the command in the failing or replayed case, and what it said."),
    ] = None,
    verbose: Annotated[int, verbosity("Show what each scheduler reached, and what none did.")] = 0,
    json: Json = False,
) -> None:
    """Drives the implementation through random schedules, or with `--replay` through a recorded one."""
    files = FailureFiles(save, svg, pytest, transcript)
    network = {
        "channels": channels,
        "duplication": duplication,
        "loss": loss,
        "self_sends": self_sends,
        "links": links,
        "delivery": delivery,
        "total_order": total_order,
    }

    def body(session: Session) -> Output:
        opposite = _protocol_named(protocol, against)
        system = subject_name(impl, exec_, exec_per_process, opposite, needed=replay is None)
        limits = limits_of(reply_limit, start_limit, memory_limit)
        if replay is not None:
            recorded = read_recorded(replay, opposite, system, trust_file)
            return _again(replace(recorded, strict=strict or recorded.strict), limits, files)
        sources = tuple(schedules_from or ())
        drive = Drive(opposite, system, processes, cases, operations, seed, limits, sources, time)
        return _conformed(session, drive, Terms(network, claims_named(claim), strict), files)

    run_command("conform", json, body, verbose)


@dataclass(frozen=True, slots=True)
class FailureFiles:
    """The file for each form of the first counterexample; None: no file."""

    save: str | None = None
    svg: str | None = None
    pytest: str | None = None
    transcript: str | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The files to write."""
        return tuple(path for path in (self.save, self.svg, self.pytest, self.transcript) if path is not None)


def _protocol_named(protocol: str | None, against: str | None) -> str | None:
    """The one protocol, as the argument or by `--against`. Raises: BadInput for two of them."""
    if protocol is not None and against is not None and protocol != against:
        raise BadInput(f"held against {protocol}, or against {against}? Name one protocol")
    return against if protocol is None else protocol


def _conformed(session: Session, drive: Drive, terms: Terms, files: FailureFiles) -> Output:
    for path in files.asked:
        check_writable(path)
    _require_transcript(drive.name, files.transcript)
    run = driven(drive, terms, session.status)
    report = run.report
    results = driven_results(drive, run)
    failed = bool(report.counterexamples)
    missing: dict[str, str] = {}
    if failed:
        missing = _write(files, drive, run, report.counterexamples[0])
    said = list(_sentences(drive, run, whole=session.verbosity > 0))
    for path in files.asked:
        written = f"{path} written" if failed else f"nothing failed; {path} is not written"
        if path not in missing:
            said.append(written)
    code = UNKNOWN if report.interrupted and not failed else None
    fields: dict[str, Any] = {"complete": not report.interrupted}
    output = Output(results, notes="\n".join(said) + "\n", fields=fields, exit=code)
    return unwritten(output, tuple(missing.values()))


def _write(files: FailureFiles, drive: Drive, driven: Driven, shown: Counterexample) -> dict[str, str]:
    """Writes the counterexample in each of its forms; the failures to write, by path."""
    recorded = recorded_case(drive, driven, shown.outcome)
    ways: list[tuple[str | None, Callable[[str], object]]] = [
        (files.save, lambda path: write_text(path, recorded.text() + "\n")),
        (files.svg, lambda path: write_text(path, picture(shown.outcome))),
        (files.pytest, lambda path: write_text(path, pytest_file(recorded, shown.findings))),
        (files.transcript, lambda path: _write_transcript(path, recorded, drive.limits)),
    ]
    missing: dict[str, str] = {}
    for path, write in ways:
        if path is not None:
            for fault in faults_of([partial(write, path)]):
                missing[path] = fault
    return missing


def _sentences(drive: Drive, driven: Driven, *, whole: bool) -> Iterator[str]:
    """What the run did; `whole`: each scheduler, each scenario, and each feature that was not reached."""
    report = driven.report
    cases = counted(report.cases, "case")
    said = f"{report.failures:,} of {cases} failed; {report.events:,} {_events_of(report.settings)}"
    if driven.protocol is not None:
        said += f", {counted(report.matched, 'event')} as in the protocol's interpreter"
    if driven.why_not:
        seen = "inputs" if not report.settings.sends else "sends, deliveries and known arrivals"
        said += f"; replayed by {seen}, since {driven.why_not}"
    if report.fields is not None:
        said += f"; {fields_text(report.fields)}"
    if report.undecided:
        said += f"; {counted(report.undecided, 'replay')} undecided: too many possible states"
    if report.other_order is not None:
        others = report.other_order
        said += f"; {_conforming(others.cases)} in another order than the text's: {others.first.other_order}"
    if report.as_a_whole is not None:
        wholes = report.as_a_whole
        said += (
            f"; {_conforming(wholes.cases)} as a whole only: the protocol has a run with these sends, deliveries and "
            f"known arrivals, though a step differs: {wholes.first.as_a_whole}"
        )
    if driven.unlimited:
        said += f"; {driven.unlimited}"
    yield said
    yield from _cited(drive.protocol, [kind for shown in report.counterexamples for kind in shown.kinds])
    if report.cases:
        reached = seen_and_missing(report.whole)
        if whole:
            yield indented([*reach_table(report.reaches, report.whole).splitlines(), *reached])
        else:
            yield reach_line(report.whole)
        if report.settings.sends:
            yield withheld_text(report.arrivals, report.withheld, report.slowest)
    if report.vacuous and not report.failures:
        yield f"no verdict: {report.vacuous}"
    if report.interrupted:
        yield f"incomplete: interrupted after {report.cases:,} of {counted(drive.cases, 'case')}"
    elif report.stopped:
        yield f"stopped after {report.cases:,} of {counted(drive.cases, 'case')}: {report.stopped}"


def _conforming(cases: int) -> str:
    return "1 case conforms" if cases == 1 else f"{cases:,} cases conform"


def _cited(protocol: str | None, kinds: Iterable[str]) -> Iterator[str]:
    """Where the lines are that a nonconformance names, of a library protocol."""
    if "nonconformance" in kinds:
        yield from whose_lines(protocol)


def fields_text(fields: Mapping[str, bool]) -> str:
    """Which fields of packets were compared with the protocol's."""
    there, missing = [name for name, was in fields.items() if was], [name for name, was in fields.items() if not was]
    if not fields:
        return "its packets have no fields but the message"
    if not there:
        return f"no fields of packets compared ({', '.join(missing)})"
    return f"fields compared: {', '.join(there)}" + (f"; not compared: {', '.join(missing)}" if missing else "")


def _events_of(settings: Settings) -> str:
    """The events of cases with these settings, in words."""
    if not settings.sends:
        return "inputs"
    return "sends, inputs, arrivals and deliveries" if settings.inputs else "sends, arrivals and deliveries"


def _require_transcript(system: str, transcript: str | None) -> None:
    if transcript is not None and not system.startswith((EXEC, EXEC_PER_PROCESS, ISOLATED)):
        raise BadInput(f"--transcript is for commands and isolated classes; {system} is neither")


def _write_transcript(path: str, recorded: RecordedCase, limits: Limits) -> CaseOutcome:
    """Runs a case of a foreign system once more, and writes the lines of both sides."""
    lines: list[str] = []
    protocol = None if recorded.protocol is None else named_protocol(recorded.protocol)
    outcome = rerun_against(recorded, protocol, limits, lines)
    write_text(path, "".join(f"{line}\n" for line in lines))
    return outcome


def _again(recorded: RecordedCase, limits: Limits, files: FailureFiles) -> Output:
    """Runs a recorded case again."""
    check_writable(files.svg)
    check_writable(files.transcript)
    if files.transcript is not None:
        _require_transcript(recorded.system, files.transcript)
        outcome = _write_transcript(files.transcript, recorded, limits)
    else:
        found = None if recorded.protocol is None else named_protocol(recorded.protocol)
        outcome = rerun_against(recorded, found, limits)
    faults = () if files.svg is None else faults_of([partial(write_text, files.svg, picture(outcome))])
    failed = bool(outcome.findings)
    facts = {
        "protocol": short_name(recorded.protocol),
        "settings": recorded.settings.to_json(),
        "cases": 1,
        "failures": int(failed),
        "events": len(outcome.log),
        "matched": outcome.matched,
        "findings": [str(finding) for finding in outcome.findings],
    }
    if outcome.vacuous:
        facts["unknown"] = outcome.nothing
    verdict = Verdict.REFUTED if failed else Verdict.UNKNOWN if outcome.vacuous else Verdict.TESTED
    result = Result(
        "recorded case", "conform", recorded.system, verdict, Level.L0, verdict is Verdict.TESTED, 0.0, facts
    )
    said = [case_explained(outcome).rstrip("\n"), *_cited(recorded.protocol, outcome.kinds)]
    return unwritten(Output((result,), text="\n".join(said) + "\n", table=False), faults)
