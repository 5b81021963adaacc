"""A system driven through random schedules: the request, the runs, and the statement that they are about."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from thence.api.errors import BadRequest
from thence.api.sizes import byte_size
from thence.conformance.cases.network import CLAIMS, Claim, Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.cases.tally import failure_bound
from thence.conformance.conform.claims import claims_of, kinds_of
from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.outcomes import rounded
from thence.conformance.conform.over_delay import withheld_json
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.harness.explain import explained, picture
from thence.conformance.harness.sources import known_schedules
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.systems.subject import Subject, System, class_name, class_subject, load_subject
from thence.conformance.systems.system import Limits
from thence.dsl import ir
from thence.dsl.check.workloads.settings import Unsettled, links_of
from thence.dsl.find import named_protocol, parted, specification
from thence.dsl.ir.topology import Edges
from thence.dsl.text.diagnostics import nearest
from thence.spec.verdict import Level, Result, Verdict
from thence.spec.words import counted


class Status(Protocol):
    """Is told what is done now, and how much of all is done; `share` where time is the measure."""

    def __call__(self, doing: str, done: int = 0, of: int = 0, noun: str = "", share: float | None = None) -> None: ...


LONGEST_S = 86_400
"""The longest time limit: a day."""


def _silent(doing: str, done: int = 0, of: int = 0, noun: str = "", share: float | None = None) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class Drive:
    """A system to drive, its protocol, and the number and size of the cases.

    Attributes:
        protocol: FILE or FILE:PROTOCOL, where FILE may be a library name; None: the oracle alone judges.
        system: the implementation, as `load_subject` takes it, or the class itself.
        cases: how many schedules, of `operations` operations each.
        limits: time limits of a foreign system.
        sources: the files of schedules to begin with, as `known_schedules` takes them.
        budget_s: seconds for all cases and the shortening of failures; None is no budget.
    """

    protocol: str | None
    system: System
    processes: int
    cases: int
    operations: int
    seed: int
    limits: Limits = field(default_factory=Limits)
    sources: tuple[str, ...] = ()
    budget_s: float | None = None

    @property
    def name(self) -> str:
        """The name of the system: the user's, or the one by which the class can be imported."""
        return self.system if isinstance(self.system, str) else class_name(self.system)

    def subject(self) -> Subject:
        """The system, ready to be driven. Raises: SubjectError."""
        if isinstance(self.system, str):
            return load_subject(self.system, self.processes, self.limits)
        return class_subject(self.name, self.system, self.processes)


@dataclass(frozen=True, slots=True)
class Terms:
    """The network to assume, the claims, and how closely a system is held against its protocol.

    Attributes:
        network: fields of `Settings`, but `links` in the words of a scope (`0 to 1; 1 with 2`); for the value None the
            protocol's own holds, or else the default.
        claims: what is claimed; empty: what the protocol promises, or else what causal delivery means.
        strict: whether the order of the protocol's text is demanded.
    """

    network: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Driven:
    """A report, and the protocol that the system was held against, if there was one.

    `unlimited` names the limits that did not hold; it is empty where all did. `closely` says how the system was held
    against the protocol, and `why_not` why its steps could not be compared; it is empty where they could.
    """

    report: Report
    protocol: str | None
    closely: str = ""
    why_not: str = ""
    unlimited: str = ""

    @property
    def strict(self) -> bool:
        """Whether the order of the protocol's text was demanded."""
        return self.closely == "strictly"


def limits_of(reply_s: float, start_s: float, memory: str) -> Limits:
    """The limits of a foreign system. Raises: BadRequest."""
    for option, seconds in (("--reply-limit", reply_s), ("--start-limit", start_s)):
        if not seconds <= LONGEST_S:
            raise BadRequest(f"{option} {seconds:g}: give at most {LONGEST_S:,} seconds")
    return Limits(reply_s, start_s, memory_bytes=byte_size("--memory-limit", memory))


def claims_named(names: Sequence[str] | None) -> tuple[Claim, ...]:
    """The claims with these names. Raises: BadRequest, for a name that is none."""
    for name in names or ():
        if name not in CLAIMS:
            near = nearest(name, CLAIMS)
            hint = f"did you mean {near}?" if near else f"there is {', '.join(CLAIMS)}"
            raise BadRequest(f"there is no claim {name}; {hint}")
    return tuple(claim for claim in CLAIMS if claim in (names or ()))


def conform_result(drive: Drive) -> Result:
    """One statement: the implementation follows its protocol, and does what the protocol promises."""
    run = driven(drive, Terms())
    results = driven_results(drive, run)
    first = results[0]
    worst = min((result for result in results if result.facts["claimed"]), key=_gravity)
    promised = next((result.name for result in results if result.name not in ("started", "conforming")), "")
    name = ", and ".join(filter(None, (promised, "as its protocol" if run.protocol else "")))
    failures = run.report.failures
    facts = {**first.facts, **worst.facts, "property": "conforming" if run.protocol else "causal", "failures": failures}
    return replace(worst, name=name, seconds=first.seconds, facts=facts)


def _gravity(result: Result) -> int:
    return [Verdict.REFUTED, Verdict.UNKNOWN, Verdict.TESTED].index(result.verdict)


def driven(drive: Drive, terms: Terms, status: Status = _silent) -> Driven:
    """The run: against the protocol, if there is one; `status` is told how far it is.

    Raises:
        BadRequest: where terms do not fit.
    """
    if terms.strict and drive.protocol is None:
        raise BadRequest("--strict demands the order of a protocol's text: name a protocol")
    if "conforming" in terms.claims and drive.protocol is None:
        raise BadRequest("--claim conforming is about a protocol: name one")
    protocol = None if drive.protocol is None else named_protocol(drive.protocol)
    subject = drive.subject()
    began = time.monotonic()

    def progress(done: int, planned: int) -> None:
        share = None
        if drive.budget_s is not None:
            share = max(done / planned, min(1.0, (time.monotonic() - began) / drive.budget_s))
        status(drive.name, done, planned, "cases", share)

    unlimited = "" if subject.external is None else subject.external.unlimited
    try:
        status("counterexamples that are known")
        found = None if drive.protocol is None else specification(parted(drive.protocol)[0])
        corpus = known_schedules(found, protocol, drive.sources)
        settings = _settings(drive, terms, protocol, subject)
        held = opposite(subject, settings, protocol, strict=terms.strict)
        sampling = Sampling(drive.cases, drive.operations, drive.seed, corpus)
        budget_s = None if drive.budget_s is None else began + drive.budget_s - time.monotonic()
        report = conform(subject.make_process, held, settings, sampling, progress=progress, budget_s=budget_s)
    finally:
        subject.close()
    if held is None:
        return Driven(report, None, unlimited=unlimited)
    return Driven(report, drive.protocol, held.closely, held.why_not, unlimited)


def _settings(drive: Drive, terms: Terms, protocol: ir.Protocol | None, subject: Subject) -> Settings:
    """What was asked for; else what the protocol says; else reordering channels without faults."""
    default = subject.settings(drive.processes) if protocol is None else settings_for(protocol, drive.processes)
    given = {name: value for name, value in terms.network.items() if value is not None}
    if "links" in given:
        given["links"] = links_given(given["links"], drive.processes)
    try:
        settings = replace(default, **given)
    except ValueError as error:
        raise BadRequest(str(error)) from error
    claims = (*terms.claims, "total_order") if given.get("total_order") else terms.claims
    return settings.claiming(claims) if terms.claims else settings


def links_given(text: str, processes: int) -> Edges:
    """The links of `--links`, in the words of a scope. Raises: BadRequest."""
    try:
        return links_of(text, processes)
    except Unsettled as reason:
        raise BadRequest(f"--links: {reason}") from reason


def driven_results(drive: Drive, driven: Driven) -> tuple[Result, ...]:
    """A result for each claim that was judged, those that were made first; the first one has what was reached."""
    report = driven.report
    made = claims_of(report.settings, protocol=driven.protocol is not None)
    others = claims_of(report.settings, protocol=driven.protocol is not None, claimed=False)
    results = [_claim(drive, driven, claim, claimed=True) for claim in made]
    results += [_claim(drive, driven, claim, claimed=False) for claim in others]
    reached = {
        "schedulers": [reach.to_json() for reach in report.reaches],
        "coverage": report.whole.coverage.to_json(),
        "over_delay": withheld_json(report.arrivals, report.withheld, report.slowest, drive.name, driven.protocol),
    }
    first = replace(results[0], seconds=report.seconds, facts={**results[0].facts, **reached})
    return (first, *results[1:])


def _claim(drive: Drive, driven: Driven, claim: Claim, *, claimed: bool) -> Result:
    """A claim, and what the run says of it. What is not claimed is as expected, however it came out."""
    report, kinds = driven.report, kinds_of(claim)
    shown = [each for each in report.counterexamples if not set(kinds).isdisjoint(each.kinds)]
    noted = [note for kind, note in report.notes.items() if kind in kinds]
    failures = report.refuting.get(claim, 0)
    unknown = "" if shown or noted else _unknown(drive, driven, claim)
    verdict = Verdict.REFUTED if shown or noted else Verdict.UNKNOWN if unknown else Verdict.TESTED
    facts: dict[str, Any] = {
        "property": claim,
        "claimed": claimed,
        "protocol": short_name(driven.protocol),
        "settings": report.settings.to_json(),
        "seed": drive.seed,
        "operations": drive.operations,
        "cases": report.cases,
        "failures": failures,
        "events": report.events,
        "matched": report.matched,
    }
    tried = report.tried(claim)
    if tried and not unknown:
        facts["hit_rate"] = failures / tried
        facts["failure_rate_bound"] = rounded(failure_bound(tried, failures))
    if tried < report.cases:
        facts["carried_through"] = tried
    if shown:
        facts["findings"] = [str(found) for each in shown for found in each.findings if found.kind in kinds]
        facts["counterexample"] = recorded_case(drive, driven, shown[0].outcome).to_json()
    elif noted:
        first = noted[0].first
        facts["findings"] = [str(found) for found in first.noted if found.kind in kinds][:1]
        judged = replace(first, settings=first.settings.claiming((*_made(first.settings), claim)))
        facts["counterexample"] = recorded_case(drive, driven, judged).to_json()
    if claim == "conforming":
        facts["replay"] = driven.closely
        if report.fields is not None:
            facts["fields"] = dict(report.fields)
        if (others := report.other_order) is not None:
            facts["in_another_order"] = {"cases": others.cases, "first": others.first.other_order}
        if (wholes := report.as_a_whole) is not None:
            facts["as_a_whole"] = {"cases": wholes.cases, "first": wholes.first.as_a_whole}
    if report.undecided:
        facts["undecided"] = report.undecided
    if unknown:
        facts["unknown"] = unknown
    if report.stopped:
        facts["stopped"] = report.stopped
    if driven.unlimited:
        facts["unlimited"] = driven.unlimited
    return Result(
        claim, "conform", drive.name, verdict, Level.L0, not claimed or (not shown and not unknown), 0.0, facts,
        "\n\n".join(explained(each) for each in shown), picture(shown[0].outcome) if shown else "",
    )  # fmt: skip


def _made(settings: Settings) -> tuple[Claim, ...]:
    return tuple(claim for claim in CLAIMS if settings.claims(claim))


def _unknown(drive: Drive, driven: Driven, claim: Claim) -> str:
    """Why nothing is known of a claim that nothing refutes; empty where it was tested."""
    report = driven.report
    if report.interrupted:
        return f"incomplete: interrupted after {report.cases:,} of {counted(drive.cases, 'case')}"
    return report.unknown(claim)


def short_name(protocol: str | None) -> str | None:
    """A library name, or the name of a file without its folder; with the protocol, where that is named."""
    if protocol is None:
        return None
    file, wanted = parted(protocol)
    short = Path(file).stem if "/" in file else file
    return f"{short}:{wanted}" if wanted else short


def recorded_case(drive: Drive, driven: Driven, outcome: CaseOutcome) -> RecordedCase:
    """A case of a run, to run again."""
    return RecordedCase(drive.name, driven.protocol, outcome.settings, outcome.operations, driven.strict)
