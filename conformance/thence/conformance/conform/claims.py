"""The claims of a system, and a run that judges all of them. A test suite has a test for each claim."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

from thence.conformance.cases.network import CLAIMS, Claim, Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.explain import explained
from thence.conformance.harness.shortening import Counterexample
from thence.conformance.replay.findings import REFUTES, FindingKind
from thence.conformance.systems.subject import Subject, SubjectError, System, class_name, class_subject, load_subject
from thence.dsl.find import named_protocol, specification
from thence.spec.words import counted

CASES: Final = 300
"""Default number of cases of a run."""

OPERATIONS: Final = 12
"""Default number of operations of a case."""


def kinds_of(claim: Claim) -> tuple[FindingKind, ...]:
    """The kinds of finding that refute the claim."""
    return tuple(kind for kind, refuted in REFUTES.items() if refuted == claim)


def claims_of(settings: Settings, *, protocol: bool, claimed: bool = True) -> tuple[Claim, ...]:
    """The claims about a system with these settings, or those that are not made and looked at all the same. `protocol`:
    it is held against one."""
    looked_at = set(CLAIMS)
    if not protocol:
        looked_at.discard("conforming")
    looked_at.discard("prompt" if settings.total_order else "total_order")
    if not settings.sends:
        looked_at &= {"started", "conforming"}
    return tuple(claim for claim in CLAIMS if claim in looked_at and settings.claims(claim) is claimed)


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that is to be made.

    Attributes:
        subject: the system.
        protocol: the library name or file of the protocol that it follows, or None.
        settings: the faults of the network, and the claims.
        sampling: the cases.
        strict: whether the order of the protocol's text is demanded.
    """

    subject: Subject
    protocol: str | None
    settings: Settings
    sampling: Sampling
    strict: bool = False

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that are judged."""
        return claims_of(self.settings, protocol=self.protocol is not None)

    def run(self) -> Judged:
        """Runs the cases. Ctrl-C goes on to whoever runs the tests."""
        protocol = None if self.protocol is None else named_protocol(self.protocol)
        try:
            held = opposite(self.subject, self.settings, protocol, strict=self.strict)
            sampling = self.sampling
            if self.protocol is not None and protocol is not None:
                sampling = replace(sampling, known=distinguishing(specification(self.protocol), protocol))
            return Judged(self, self._conform(held, sampling))
        finally:
            self.subject.close()

    def _conform(self, against: Opposite | None, sampling: Sampling) -> Report:
        report = conform(self.subject.make_process, against, self.settings, sampling)
        if report.interrupted:
            raise KeyboardInterrupt
        if report.vacuous and not report.failures:
            raise SubjectError(f"{self.subject.name} is not judged: {report.vacuous}")
        for claim, why in report.untried.items():
            if claim in self.claims and not report.failures:
                raise SubjectError(f"{self.subject.name} is not judged: {claim}: {why}")
        if report.undecided:
            raise SubjectError(
                f"{self.subject.name} is not replayed in {self.protocol}: in {counted(report.undecided, 'case')} there "
                f"are too many possible states; let its packets have the attributes kind and message of the protocol's"
            )
        return report


@dataclass(frozen=True, slots=True)
class Refutation:
    """Why a claim does not hold.

    Attributes:
        text: for readers: the finding, how often it showed, the operations, the diagram.
        recorded: the case, to be run again; its system is named only as far as the class can be imported.
    """

    text: str
    recorded: RecordedCase


@dataclass(frozen=True, slots=True)
class Judged:
    """A plan and its report."""

    plan: Plan
    report: Report

    def refutation(self, claim: Claim) -> Refutation | None:
        """The shortened case that refutes a claim, if there is one."""
        kinds = kinds_of(claim)
        for shown in self.report.counterexamples:
            if not set(kinds).isdisjoint(shown.kinds):
                return self._refutation(shown, kinds)
        return None

    def _refutation(self, shown: Counterexample, kinds: tuple[FindingKind, ...]) -> Refutation:
        report = self.report
        finding = next(finding for finding in shown.findings if finding.kind in kinds)
        against = "" if report.matched == 0 or self.plan.protocol is None else f" against {self.plan.protocol}"
        count = f"{report.failures:,} of {counted(report.cases, 'case')} failed{against}; this one has"
        size = f"{len(shown.operations)} operation{'' if len(shown.operations) == 1 else 's'}"
        # A class may lack something that the protocol needs and the oracle does not.
        protocol = self.plan.protocol if "nonconformance" in kinds else None
        return Refutation(
            f"{finding}\n\n{self.plan.subject.name}: {count} {size}:\n\n{explained(shown)}",
            RecordedCase(self.plan.subject.name, protocol, shown.outcome.settings, shown.operations, self.plan.strict),
        )


def plan(
    system: System,
    protocol: str | None = None,
    *,
    processes: int = 3,
    cases: int = CASES,
    operations: int = OPERATIONS,
    seed: int = 0,
    **words: Any,
) -> Plan:
    """A plan. `words` are `strict`; `claims`, names of all that is claimed beside `started`; or fields of `Settings`.
    What is left out is as the protocol states, or has its default.

    Raises:
        ValueError: a setting is unknown or impossible; there is no such protocol.
        SubjectError: the system cannot be used.
    """
    strict = words.pop("strict", False)
    if not isinstance(strict, bool) or (strict and protocol is None):
        raise ValueError(f"strict is {strict!r}; it is true or false, and true only with a protocol")
    claims = words.pop("claims", None)
    there = tuple(claim for claim in CLAIMS if protocol is not None or claim != "conforming")
    strangers = sorted(set(claims or ()) - set(there))
    if strangers:
        raise ValueError(f"there is no claim {', '.join(strangers)} here; there is {', '.join(there)}")
    unknown = sorted(set(words) - {field.name for field in fields(Settings)})
    if unknown:
        raise ValueError(f"unknown setting {', '.join(unknown)}")
    sampling = Sampling(cases, operations, seed)
    subject = (
        load_subject(system, processes)
        if isinstance(system, str)
        else class_subject(class_name(system), system, processes)
    )
    default = subject.settings(processes) if protocol is None else settings_for(named_protocol(protocol), processes)
    chosen = replace(default, **words)
    if claims is not None:
        chosen = chosen.claiming(claims)
    subject.require(chosen)
    return Plan(subject, protocol, chosen, sampling, strict)


def can_be_imported(name: str) -> bool:
    """Whether a recorded case with this system can be run again in another process."""
    try:
        load_subject(name)
    except SubjectError:
        return False
    return True
