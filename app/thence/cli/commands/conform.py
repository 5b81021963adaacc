"""`thence conform`: an implementation, in any language, against the oracle and against its protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thence.cli.byte_sizes import byte_size
from thence.cli.output import BAD_INPUT, UNKNOWN, BadInput, Output
from thence.cli.reaching import indented, reach_table, seen_and_missing, withheld_json, withheld_text
from thence.cli.session import Session, check_writable, write_text
from thence.conformance.cases.network import PROMISES, Settings
from thence.conformance.cases.recorded_case import RecordedCase, read_case
from thence.conformance.conform.conform import Report, settings_for
from thence.conformance.conform.conform import conform as drive
from thence.conformance.conform.outcomes import rounded
from thence.conformance.conform.rerun import opposite, pytest_file, rerun_against
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Against
from thence.conformance.harness.explain import case_explained, explained, picture
from thence.conformance.harness.shortening import Counterexample
from thence.conformance.harness.sources import known_schedules
from thence.conformance.implementations import SHIPPED
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.systems.subject import EXEC, EXEC_PER_PROCESS, ISOLATED, Subject, load_subject
from thence.conformance.systems.system import Limits
from thence.dsl import ir
from thence.dsl.find import named_protocol, parted, specification
from thence.spec.verdict import Level, Result, Verdict

LONGEST_S = 86_400
"""Nobody waits longer for a reply than a day."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to drive against what.

    Attributes:
        protocol: FILE or FILE:PROTOCOL, where FILE may be a library name; None: the oracle alone judges.
        impl: the implementation, as `load_subject` takes it.
        cases: how many schedules, of `operations` operations each.
        network: fields of `Settings`; where the value is None, what the protocol says holds, or else the default.
        limits: time limits of a foreign system.
        sources: what is tried first, as `schedules_from` takes it.
        lockstep: whether each step is compared with the protocol's, or only what can be seen is replayed; None: the
            former, where packets say of which kinds they are.
    """

    protocol: str | None
    impl: str
    processes: int
    cases: int
    operations: int
    seed: int
    network: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    lockstep: bool | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Files:
    """Where the first counterexample goes in each of its forms; None: nowhere."""

    save: str | None = None
    svg: str | None = None
    pytest: str | None = None
    transcript: str | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The files that are to be written."""
        return tuple(path for path in (self.save, self.svg, self.pytest, self.transcript) if path is not None)


@dataclass(frozen=True, slots=True)
class _Driven:
    """A report, and what the subject was held against: a protocol, or the oracle alone, and then why.

    `unlimited` says which limits did not hold; it is empty where all did. `tolerant`: what could be seen was replayed,
    and `why_not` says why not more, where that was not asked for.
    """

    report: Report
    protocol: str | None
    why_not: str = ""
    unlimited: str = ""
    tolerant: bool = False


def subject_name(
    impl: str | None, exec_: str | None, exec_per_process: str | None, protocol: str | None, *, needed: bool
) -> str:
    """The one system that was asked for, as `load_subject` takes it, or that Thence has for the protocol.

    Empty where there is none, and none is needed. Raises: BadInput for several, and for none where one is needed.
    """
    given = [
        prefix + named
        for prefix, named in (("", impl), (EXEC, exec_), (EXEC_PER_PROCESS, exec_per_process))
        if named is not None
    ]
    if len(given) > 1:
        raise BadInput("give one of --impl, --exec and --exec-per-process, not several")
    if not given and needed and protocol not in SHIPPED:
        raise BadInput("what is to be tested? give one of --impl, --exec and --exec-per-process")
    return given[0] if given else SHIPPED.get(protocol or "", "") if needed else ""


def limits_of(reply_s: float, start_s: float, memory: str) -> Limits:
    """The limits of a foreign system. Raises: BadInput."""
    for option, seconds in (("--reply-limit", reply_s), ("--start-limit", start_s)):
        if not seconds <= LONGEST_S:
            raise BadInput(f"{option} {seconds:g}: give at most {LONGEST_S:,} seconds")
    return Limits(reply_s, start_s, memory_bytes=byte_size("--memory-limit", memory))


def protocol_named(protocol: str | None, against: str | None) -> str | None:
    """The one protocol that was asked for: as the argument, or by `--against`. Raises: BadInput for two of them."""
    if protocol is not None and against is not None and protocol != against:
        raise BadInput(f"held against {protocol}, or against {against}? Name one protocol")
    return against if protocol is None else protocol


def conform(session: Session, request: Request, files: Files) -> Output:
    """Drives the implementation."""
    for path in files.asked:
        check_writable(path)
    _require_transcript(request.impl, files.transcript)
    runs = _driven(session, request)
    results = tuple(_result(request, driven) for driven in runs)
    failed = next((driven for driven in runs if driven.report.counterexamples), None)
    unwritten: dict[str, str] = {}
    if failed is not None:
        unwritten = _write(files, request, failed, failed.report.counterexamples[0])
    said = [_sentence(request, driven) for driven in runs]
    for path in files.asked:
        written = f"{path} written" if failed else f"nothing failed; {path} is not written"
        said.append(unwritten.get(path, written))
    interrupted = any(driven.report.interrupted for driven in runs)
    code = UNKNOWN if interrupted and failed is None else None
    fields: dict[str, Any] = {"complete": not interrupted}
    if unwritten:
        fields["unwritten"] = list(unwritten.values())
    code = BAD_INPUT if unwritten else code
    return Output(results, text="\n".join(said) + "\n", fields=fields, exit=code)


def _write(files: Files, request: Request, driven: _Driven, shown: Counterexample) -> dict[str, str]:
    """Writes the counterexample in each of its forms. What cannot be written is said, and costs nothing else."""
    recorded = _recorded(request, driven, shown)
    ways: list[tuple[str | None, Callable[[str], object]]] = [
        (files.save, lambda path: write_text(path, recorded.text() + "\n")),
        (files.svg, lambda path: write_text(path, picture(shown.outcome))),
        (files.pytest, lambda path: write_text(path, pytest_file(recorded, shown.findings))),
        (files.transcript, lambda path: _write_transcript(path, recorded, request.limits)),
    ]
    unwritten: dict[str, str] = {}
    for path, write in ways:
        if path is not None:
            try:
                write(path)
            except BadInput as error:
                unwritten[path] = str(error)
    return unwritten


def conform_result(session: Session | None, request: Request) -> Result:
    """One statement: the implementation is causal and follows its protocol, in every run."""
    runs = _driven(session, request)
    return _result(request, next((driven for driven in runs if driven.report.counterexamples), runs[-1]))


def _driven(session: Session | None, request: Request) -> list[_Driven]:
    """The run against the protocol, if there is one.

    Of a system whose applications can answer from inside a delivery, a run against the oracle alone comes first: only
    there they do, where no protocol can follow.
    """
    protocol = None if request.protocol is None else named_protocol(request.protocol)
    subject = load_subject(request.impl, request.processes, request.limits)

    def progress(done: int, planned: int) -> None:
        if session is not None:
            session.status(f"{request.impl}: {done:,} of {planned:,} cases")

    def run(against: Against) -> Report:
        sampling = Sampling(request.cases, request.operations, request.seed, corpus)
        return drive(subject.make_process, against, settings, sampling, progress=progress)

    unlimited = "" if subject.external is None else subject.external.unlimited
    try:
        if session is not None:
            session.status("counterexamples that are known")
        found = None if request.protocol is None else specification(parted(request.protocol)[0])
        corpus = known_schedules(found, protocol, request.sources)
        settings = _settings(request, protocol, subject)
        held = opposite(subject, settings, protocol)
        if request.lockstep and held.why_not:
            raise BadInput(f"{request.impl} cannot be replayed in lock step: {held.why_not}")
        if protocol is not None and (held.protocol is None or request.lockstep is False):
            report = run(PartialObservationReplay(protocol, settings.processes))
            return [_Driven(report, request.protocol, held.why_not, unlimited, tolerant=True)]
        runs = []
        if held.protocol is None or subject.reacts:
            runs.append(_Driven(run(None), None, held.why_not, unlimited))
        if held.protocol is not None and not any(driven.report.interrupted for driven in runs):
            runs.append(_Driven(run(held.protocol), request.protocol, "", unlimited))
    finally:
        subject.close()
    return runs


def _settings(request: Request, protocol: ir.Protocol | None, subject: Subject) -> Settings:
    """What was asked for; else what the protocol says; else reordering channels without faults."""
    if protocol is None:
        default = Settings(request.processes, delivery=subject.delivery or "unicast")
    else:
        default = settings_for(protocol, request.processes)
    try:
        return replace(default, **{name: value for name, value in request.network.items() if value is not None})
    except ValueError as error:
        raise BadInput(str(error)) from error


def _result(request: Request, driven: _Driven) -> Result:
    report = driven.report
    worst = report.counterexamples[0] if report.counterexamples else None
    unknown = (report.interrupted or bool(report.undecided)) and worst is None
    verdict = Verdict.REFUTED if worst else Verdict.UNKNOWN if unknown else Verdict.TESTED
    facts: dict[str, Any] = {
        "property": "conforms" if driven.protocol else "causal",
        "protocol": _short(driven.protocol),
        "settings": report.settings.to_json(),
        "seed": request.seed,
        "operations": request.operations,
        "cases": report.cases,
        "failures": report.failures,
        "events": report.events,
        "matched": report.matched,
        "over_delay": withheld_json(report.arrivals, report.withheld, report.slowest, request.impl, driven.protocol),
        "schedulers": [reach.to_json() for reach in report.reaches],
        "coverage": report.whole.coverage.to_json(),
    }
    if report.cases:
        facts["hit_rate"] = report.whole.hit_rate
        facts["failure_rate_bound"] = rounded(report.whole.bound)
    if worst is not None:
        facts["findings"] = [str(finding) for shown in report.counterexamples for finding in shown.findings]
        facts["counterexample"] = _recorded(request, driven, worst).to_json()
    if driven.tolerant:
        facts["replay"] = "tolerant"
    if report.undecided:
        facts["undecided"] = report.undecided
    if unknown and report.interrupted:
        facts["unknown"] = f"incomplete: interrupted after {report.cases:,} of {request.cases:,} cases"
    elif unknown:
        facts["unknown"] = f"too many possible states of the protocol in {report.undecided:,} of {report.cases:,} cases"
    if report.stopped:
        facts["stopped"] = report.stopped
    if driven.unlimited:
        facts["unlimited"] = driven.unlimited
    return Result(
        _statement(driven), "conform", request.impl, verdict, Level.L0,
        worst is None and not unknown, report.seconds, facts,
        "\n\n".join(explained(shown) for shown in report.counterexamples),
        picture(worst.outcome) if worst is not None else "",
    )  # fmt: skip


def _statement(driven: _Driven) -> str:
    """What was judged: the first thing that the system promises, which implies those after it; and the protocol."""
    promised = next(iter(driven.report.settings.promises), "")
    return ", and ".join(filter(None, (promised, "as its protocol" if driven.protocol else "")))


def _sentence(request: Request, driven: _Driven) -> str:
    report = driven.report
    said = (
        f"{request.impl}: {report.failures:,} of {report.cases:,} cases failed; "
        f"{report.events:,} sends, arrivals and deliveries"
    )
    if driven.protocol is not None:
        said += f", {report.matched:,} events as in the protocol's interpreter"
    if driven.tolerant:
        said += "; replayed by sends, deliveries and known arrivals"
        said += f", since {driven.why_not}" if driven.why_not else ""
    if report.undecided:
        said += f"; {report.undecided:,} replays undecided: too many possible states"
    if not_promised := [name for name in PROMISES[:3] if name not in report.settings.promises]:
        said += f"; not promised, and so not judged: {', '.join(not_promised)}"
    if driven.why_not and not driven.tolerant:
        said += f"; not replayed in {_short(request.protocol)}: {driven.why_not}"
    if driven.unlimited:
        said += f"; {driven.unlimited}"
    if report.cases:
        reached = seen_and_missing(report.whole)
        delays = withheld_text(report.arrivals, report.withheld, report.slowest)
        said += f"\n{indented([*reach_table(report.reaches, report.whole).splitlines(), *reached, delays])}"
    if report.interrupted:
        said += f"\nincomplete: interrupted after {report.cases:,} of {request.cases:,} cases"
    elif report.stopped:
        said += f"\nstopped after {report.cases:,} of {request.cases:,} cases: {report.stopped}"
    return said


def _short(protocol: str | None) -> str | None:
    """A library name, or the name of a file without its folder; with the protocol, where that is named."""
    if protocol is None:
        return None
    file, wanted = parted(protocol)
    short = Path(file).stem if "/" in file else file
    return f"{short}:{wanted}" if wanted else short


def _recorded(request: Request, driven: _Driven, shown: Counterexample) -> RecordedCase:
    return RecordedCase(request.impl, driven.protocol, shown.outcome.settings, shown.operations, driven.tolerant)


def _require_transcript(system: str, transcript: str | None) -> None:
    if transcript is not None and not system.startswith((EXEC, EXEC_PER_PROCESS, ISOLATED)):
        raise BadInput(f"--transcript is for commands and isolated classes; {system} is neither")


def _write_transcript(path: str, recorded: RecordedCase, limits: Limits) -> CaseOutcome:
    """Runs a case of a foreign system once more, and writes down what was said."""
    lines: list[str] = []
    protocol = None if recorded.protocol is None else named_protocol(recorded.protocol)
    outcome = rerun_against(recorded, protocol, limits, lines)
    write_text(path, "".join(f"{line}\n" for line in lines))
    return outcome


def again(
    path: str, protocol: str | None, impl: str, limits: Limits, svg: str | None, transcript: str | None
) -> Output:
    """Runs a recorded case again, with the protocol and the implementation asked for, or else with its own."""
    check_writable(svg)
    check_writable(transcript)
    try:
        recorded = read_case(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not a recorded case: it is not text") from error
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error
    recorded = replace(recorded, system=impl or recorded.system, protocol=protocol or recorded.protocol)
    if transcript is not None:
        _require_transcript(recorded.system, transcript)
        outcome = _write_transcript(transcript, recorded, limits)
    else:
        found = None if recorded.protocol is None else named_protocol(recorded.protocol)
        outcome = rerun_against(recorded, found, limits)
    if svg is not None:
        write_text(svg, picture(outcome))
    failed = bool(outcome.findings)
    facts = {
        "protocol": _short(recorded.protocol),
        "settings": recorded.settings.to_json(),
        "cases": 1,
        "failures": int(failed),
        "events": len(outcome.log),
        "matched": outcome.matched,
        "findings": [str(finding) for finding in outcome.findings],
    }
    result = Result(
        "recorded case", "conform", recorded.system, Verdict.REFUTED if failed else Verdict.TESTED, Level.L0,
        not failed, 0.0, facts,
    )  # fmt: skip
    return Output((result,), text=case_explained(outcome), table=False)
