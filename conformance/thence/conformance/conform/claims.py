"""The claims of a system, and a run that judges all of them. A test suite has a test for each claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeAlias

from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.conform.conform import Report, conform, settings_for
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Against
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.explain import explained
from thence.conformance.harness.shortening import Counterexample
from thence.conformance.replay.findings import FindingKind
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.systems.subject import Subject, SubjectError, load_subject
from thence.dsl.find import named_protocol, specification

System: TypeAlias = str | Callable[[int, int], Any]
"""A class, or a name as `load_subject` takes it."""

CASES: Final = 300
"""Default number of cases of a run."""

OPERATIONS: Final = 12
"""Default number of operations of a case."""

CLAIMS: Final[dict[str, tuple[FindingKind, ...]]] = {
    "runs": ("crash", "hang", "memory", "endless", "aliasing"),
    "causal": ("causal",),
    "fifo": ("fifo",),
    "total_order": ("total_order",),
    "delivered": ("stuck",),
    "prompt": ("over_delay",),
    "at_most_once": ("duplicate",),
    "no_creation": ("phantom",),
    "conforms": ("nonconformance",),
}
"""Each claim, and the kinds of finding that refute it. `prompt`: nothing is kept back that nothing is missing for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that is to be made.

    Attributes:
        subject: the system.
        protocol: the library name or file of the protocol that it follows, or None.
        settings: the faults of the network, and the promises of the system.
        sampling: the cases.
    """

    subject: Subject
    protocol: str | None
    settings: Settings
    sampling: Sampling

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims that are judged: the system's promises, and those that every system makes."""
        left_out = {name for name in ("causal", "fifo", "total_order", "delivered") if not getattr(self.settings, name)}
        if self.settings.total_order or not self.settings.causal:
            left_out.add("prompt")
        if self.protocol is None:
            left_out.add("conforms")
        return tuple(claim for claim in CLAIMS if claim not in left_out)

    def run(self) -> Judged:
        """Runs the cases. Ctrl-C goes on to whoever runs the tests."""
        protocol = None if self.protocol is None else named_protocol(self.protocol)
        try:
            held = opposite(self.subject, self.settings, protocol)
            sampling = self.sampling
            if self.protocol is not None and protocol is not None:
                sampling = replace(sampling, known=distinguishing(specification(self.protocol), protocol))
            if protocol is not None and held.protocol is None:
                follow = PartialObservationReplay(protocol, self.settings.processes)
                return Judged(self, (self._conform(follow, sampling),), partially_observed=True)
            reports = []
            # Answers come from inside a delivery only where no protocol has to follow.
            for against in (None, protocol) if protocol is not None and self.subject.reacts else (protocol,):
                reports.append(self._conform(against, sampling))
        finally:
            self.subject.close()
        return Judged(self, tuple(reports))

    def _conform(self, against: Against, sampling: Sampling) -> Report:
        report = conform(self.subject.make_process, against, self.settings, sampling)
        if report.interrupted:
            raise KeyboardInterrupt
        if report.vacuous and not report.failures:
            raise SubjectError(f"{self.subject.name} is not judged: {report.vacuous}")
        if report.undecided:
            raise SubjectError(
                f"{self.subject.name} is not replayed in {self.protocol}: in {report.undecided:,} cases there are too "
                f"many possible states; let its packets have the attributes kind and message of the protocol's"
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
    """A plan and its reports: several where it was run in several ways. `partially_observed`: only the visible events
    of the cases were replayed."""

    plan: Plan
    reports: tuple[Report, ...]
    partially_observed: bool = False

    def refutation(self, claim: str) -> Refutation | None:
        """The shortened case that refutes a claim, if there is one."""
        kinds = CLAIMS[claim]
        for report in self.reports:
            for shown in report.counterexamples:
                if not set(kinds).isdisjoint(shown.kinds):
                    return self._refutation(report, shown, kinds)
        return None

    def _refutation(self, report: Report, shown: Counterexample, kinds: tuple[FindingKind, ...]) -> Refutation:
        finding = next(finding for finding in shown.findings if finding.kind in kinds)
        against = "" if report.matched == 0 or self.plan.protocol is None else f" against {self.plan.protocol}"
        count = f"{report.failures:,} of {report.cases:,} cases failed{against}; this one has"
        size = f"{len(shown.operations)} operation{'' if len(shown.operations) == 1 else 's'}"
        # A class may lack something that the protocol needs and the oracle does not.
        protocol = self.plan.protocol if "nonconformance" in kinds else None
        return Refutation(
            f"{finding}\n\n{self.plan.subject.name}: {count} {size}:\n\n{explained(shown)}",
            RecordedCase(
                self.plan.subject.name, protocol, shown.outcome.settings, shown.operations, self.partially_observed
            ),
        )


def plan(
    system: System,
    protocol: str | None = None,
    *,
    processes: int = 3,
    cases: int = CASES,
    operations: int = OPERATIONS,
    seed: int = 0,
    **settings: Any,
) -> Plan:
    """A plan. `settings` are fields of `Settings`; the others are as the protocol states, or the defaults.

    Raises:
        ValueError: a setting is unknown or impossible; there is no such protocol.
        SubjectError: the system cannot be used.
    """
    unknown = sorted(set(settings) - {field.name for field in fields(Settings)})
    if unknown:
        raise ValueError(f"unknown setting {', '.join(unknown)}")
    sampling = Sampling(cases, operations, seed)
    subject = load_subject(system, processes) if isinstance(system, str) else subject_of(system)
    if protocol is None:
        default = Settings(processes, delivery=subject.delivery or "unicast", self_sends=processes == 1)
    else:
        default = settings_for(named_protocol(protocol), processes)
    chosen = replace(default, **settings)
    subject.require(chosen.delivery)
    return Plan(subject, protocol, chosen, sampling)


def subject_of(system: Callable[[int, int], Any]) -> Subject:
    """A class as a subject, by the name under which it can be imported."""
    module, name = getattr(system, "__module__", "?"), getattr(system, "__qualname__", type(system).__qualname__)
    reacts = callable(getattr(system, "react", None))
    return Subject(f"{module}:{name}", system, getattr(system, "delivery", "unicast"), reacts)


def can_be_imported(name: str) -> bool:
    """Whether a recorded case with this system can be run again in another process."""
    try:
        load_subject(name)
    except SubjectError:
        return False
    return True
