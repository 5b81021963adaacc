"""A system driven through random schedules: the request, the runs, and the statement that they are about."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from thence.cli.output import BadInput
from thence.cli.reaching import withheld_json
from thence.cli.session import Session
from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.outcomes import rounded
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Against
from thence.conformance.harness.explain import explained, picture
from thence.conformance.harness.shortening import Counterexample
from thence.conformance.harness.sources import known_schedules
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.systems.subject import Subject, load_subject
from thence.conformance.systems.system import Limits
from thence.dsl import ir
from thence.dsl.find import named_protocol, parted, specification
from thence.spec.verdict import Level, Result, Verdict


@dataclass(frozen=True, slots=True)
class Drive:
    """A system to drive, its protocol, and the number and size of the cases.

    Attributes:
        protocol: FILE or FILE:PROTOCOL, where FILE may be a library name; None: the oracle alone judges.
        system: the implementation, as `load_subject` takes it.
        cases: how many schedules, of `operations` operations each.
        limits: time limits of a foreign system.
        sources: the files of schedules to begin with, as `known_schedules` takes them.
        budget_s: seconds for all cases and the shortening of failures; None is no budget.
    """

    protocol: str | None
    system: str
    processes: int
    cases: int
    operations: int
    seed: int
    limits: Limits = field(default_factory=Limits)
    sources: tuple[str, ...] = ()
    budget_s: float | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """The network to assume, and how closely a system is held against its protocol.

    Attributes:
        network: fields of `Settings`; for the value None the protocol's own holds, or else the default.
        lockstep: whether each step is compared with the protocol's, or only what can be seen is replayed; None: the
            former, where packets say of which kinds they are.
    """

    network: Mapping[str, Any] = field(default_factory=dict)
    lockstep: bool | None = None


@dataclass(frozen=True, slots=True)
class Driven:
    """A report, and its opposite: a protocol, or the oracle alone, and then why.

    `unlimited` names the limits that did not hold; it is empty where all did. `tolerant`: only observable events were
    replayed, and `why_not` is the reason, unless the user asked for that.
    """

    report: Report
    protocol: str | None
    why_not: str = ""
    unlimited: str = ""
    tolerant: bool = False


def conform_result(session: Session | None, drive: Drive) -> Result:
    """One statement: the implementation is causal and follows its protocol, in every run."""
    runs = driven(session, drive, Terms())
    return driven_result(drive, next((one for one in runs if one.report.counterexamples), runs[-1]))


def driven(session: Session | None, drive: Drive, terms: Terms) -> list[Driven]:
    """The run against the protocol, if there is one.

    Of a system whose applications can answer from inside a delivery, a run against the oracle alone comes first: only
    there they do, where no protocol can follow.
    """
    protocol = None if drive.protocol is None else named_protocol(drive.protocol)
    subject = load_subject(drive.system, drive.processes, drive.limits)
    began = time.monotonic()

    def progress(done: int, planned: int) -> None:
        if session is not None:
            spent = "" if drive.budget_s is None else f", {time.monotonic() - began:.0f} of {drive.budget_s:g} s"
            session.status(f"{drive.system}: {done:,} of {planned:,} cases{spent}")

    def run(against: Against, share: float = 1.0) -> Report:
        budget_s = None if drive.budget_s is None else share * (began + drive.budget_s - time.monotonic())
        sampling = Sampling(drive.cases, drive.operations, drive.seed, corpus)
        return conform(subject.make_process, against, settings, sampling, progress=progress, budget_s=budget_s)

    unlimited = "" if subject.external is None else subject.external.unlimited
    try:
        if session is not None:
            session.status("counterexamples that are known")
        found = None if drive.protocol is None else specification(parted(drive.protocol)[0])
        corpus = known_schedules(found, protocol, drive.sources)
        settings = _settings(drive, terms, protocol, subject)
        held = opposite(subject, settings, protocol)
        if terms.lockstep and held.why_not:
            raise BadInput(f"{drive.system} cannot be replayed in lock step: {held.why_not}")
        if protocol is not None and (held.protocol is None or terms.lockstep is False):
            report = run(PartialObservationReplay(protocol, settings.processes))
            return [Driven(report, drive.protocol, held.why_not, unlimited, tolerant=True)]
        runs = []
        if held.protocol is None or subject.reacts:
            runs.append(Driven(run(None, 1.0 if held.protocol is None else 0.5), None, held.why_not, unlimited))
        if held.protocol is not None and not any(driven.report.interrupted for driven in runs):
            runs.append(Driven(run(held.protocol), drive.protocol, "", unlimited))
    finally:
        subject.close()
    return runs


def _settings(drive: Drive, terms: Terms, protocol: ir.Protocol | None, subject: Subject) -> Settings:
    """What was asked for; else what the protocol says; else reordering channels without faults."""
    if protocol is None:
        default = Settings(drive.processes, delivery=subject.delivery or "unicast")
    else:
        default = settings_for(protocol, drive.processes)
    try:
        return replace(default, **{name: value for name, value in terms.network.items() if value is not None})
    except ValueError as error:
        raise BadInput(str(error)) from error


def driven_result(drive: Drive, driven: Driven) -> Result:
    """The statement that a run was about, and its verdict."""
    report = driven.report
    worst = report.counterexamples[0] if report.counterexamples else None
    unknown = (report.interrupted or bool(report.undecided) or bool(report.vacuous)) and worst is None
    verdict = Verdict.REFUTED if worst else Verdict.UNKNOWN if unknown else Verdict.TESTED
    facts: dict[str, Any] = {
        "property": "conforms" if driven.protocol else "causal",
        "protocol": short_name(driven.protocol),
        "settings": report.settings.to_json(),
        "seed": drive.seed,
        "operations": drive.operations,
        "cases": report.cases,
        "failures": report.failures,
        "events": report.events,
        "matched": report.matched,
        "over_delay": withheld_json(report.arrivals, report.withheld, report.slowest, drive.system, driven.protocol),
        "schedulers": [reach.to_json() for reach in report.reaches],
        "coverage": report.whole.coverage.to_json(),
    }
    if report.cases:
        facts["hit_rate"] = report.whole.hit_rate
        facts["failure_rate_bound"] = rounded(report.whole.bound)
    if worst is not None:
        facts["findings"] = [str(finding) for shown in report.counterexamples for finding in shown.findings]
        facts["counterexample"] = recorded_case(drive, driven, worst).to_json()
    if driven.tolerant:
        facts["replay"] = "tolerant"
    if report.undecided:
        facts["undecided"] = report.undecided
    if unknown and report.interrupted:
        facts["unknown"] = f"incomplete: interrupted after {report.cases:,} of {drive.cases:,} cases"
    elif unknown and report.vacuous:
        facts["unknown"] = report.vacuous
    elif unknown:
        facts["unknown"] = f"too many possible states of the protocol in {report.undecided:,} of {report.cases:,} cases"
    if report.stopped:
        facts["stopped"] = report.stopped
    if driven.unlimited:
        facts["unlimited"] = driven.unlimited
    return Result(
        _statement(driven), "conform", drive.system, verdict, Level.L0,
        worst is None and not unknown, report.seconds, facts,
        "\n\n".join(explained(shown) for shown in report.counterexamples),
        picture(worst.outcome) if worst is not None else "",
    )  # fmt: skip


def _statement(driven: Driven) -> str:
    """What was judged: the first thing that the system promises, which implies those after it; and the protocol."""
    promised = next(iter(driven.report.settings.promises), "")
    return ", and ".join(filter(None, (promised, "as its protocol" if driven.protocol else "")))


def short_name(protocol: str | None) -> str | None:
    """A library name, or the name of a file without its folder; with the protocol, where that is named."""
    if protocol is None:
        return None
    file, wanted = parted(protocol)
    short = Path(file).stem if "/" in file else file
    return f"{short}:{wanted}" if wanted else short


def recorded_case(drive: Drive, driven: Driven, shown: Counterexample) -> RecordedCase:
    """A counterexample of a run, as a case to run again."""
    return RecordedCase(drive.system, driven.protocol, shown.outcome.settings, shown.operations, driven.tolerant)
