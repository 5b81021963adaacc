"""Recorded cases run again: by `thence conform --replay`, in a pytest file, in a folder of the pytest plugin."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase, read_case
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite, Trials
from thence.conformance.harness.explain import case_explained
from thence.conformance.replay.findings import CaseFinding, CaseOutcome
from thence.conformance.systems.contract import Abilities
from thence.conformance.systems.foreign import SystemFailed, SystemRaised
from thence.conformance.systems.strangers import said_besides
from thence.conformance.systems.subject import Subject, SubjectError, first_kinds, load_subject
from thence.conformance.systems.system import ExternalSystem, Limits
from thence.dsl import ir
from thence.dsl.find import named_protocol
from thence.dsl.run.scoped import on_links
from thence.spec.events import printable


def introduced(subject: Subject, system: ExternalSystem, settings: Settings) -> Abilities:
    """The abilities of the foreign system of a subject, which is started and asked.

    Raises:
        SystemRaised: it refuses such settings.
        SubjectError: it cannot start; the message says what was tried.
    """
    try:
        return system.introduce(settings)
    except SystemFailed as failed:
        raise SubjectError(f"{subject.name} {failed}{said_besides(failed.printed)}") from failed


def opposite(
    subject: Subject, settings: Settings, protocol: ir.Protocol | None, *, strict: bool = False
) -> Opposite | None:
    """The opposite that a subject can have: none without a protocol. A foreign system is started and asked; a class
    sends on trial.

    Raises:
        SubjectError: the system cannot start, refuses such settings, or its messages go elsewhere; or there are links,
            and the protocol has no overlay; or it is to be
            compared strictly, and its steps cannot be compared.
    """
    if settings.links and protocol is not None:
        if not protocol.network.overlay:
            raise SubjectError(f"links are for overlays; the network of {protocol.name} is none")
        protocol = on_links(protocol, settings.links)
    found = _opposite(subject, settings, protocol)
    if not strict or found is None:
        return found
    if found.why_not:
        raise SubjectError(f"{subject.name} cannot be compared with {found.protocol.name} strictly: {found.why_not}")
    return replace(found, closely="strictly")


def _opposite(subject: Subject, settings: Settings, protocol: ir.Protocol | None) -> Opposite | None:
    subject.require(settings)
    if subject.external is None:
        if protocol is None:
            return None
        kinds = first_kinds(subject.make_process, settings)
        if None in kinds:
            no_kinds = "its packets do not say of which kinds they are (they have no attribute kind)"
            return Opposite(protocol, "as observed", no_kinds)
        others = sorted({str(kind) for kind in kinds} - {packet.name for packet in protocol.packets})
        if others:
            return Opposite(protocol, "as observed", f"the protocol has no packets of the kind {', '.join(others)}")
        return Opposite(protocol)
    try:
        abilities = introduced(subject, subject.external, settings)
    except SystemRaised as error:
        raise SubjectError(f"{subject.name} refuses to begin: {error}{said_besides(error.printed)}") from error
    if protocol is None:
        return None
    if not abilities.kinds:
        no_kinds = "the system does not say of which kinds its packets are (kinds, in its reply to init)"
        return Opposite(protocol, "as observed", no_kinds)
    return Opposite(protocol)


def rerun(recorded: RecordedCase) -> CaseOutcome:
    """The outcome of the case, run again.

    Raises:
        SubjectError: the system cannot be used.
        UserError: the protocol cannot be read.
    """
    protocol = None if recorded.protocol is None else named_protocol(recorded.protocol)
    return rerun_against(recorded, protocol)


def rerun_against(
    recorded: RecordedCase,
    protocol: ir.Protocol | None,
    limits: Limits | None = None,
    transcript: list[str] | None = None,
) -> CaseOutcome:
    """As `rerun`, against a protocol that is already there. The requests to a foreign system and its replies are added
    to `transcript`, line by line."""
    if protocol is not None and protocol.delivery != recorded.settings.delivery:
        delivery = recorded.settings.delivery
        raise SubjectError(f"the case has {delivery} messages; {protocol.name} is {protocol.delivery}")
    subject = load_subject(recorded.system, recorded.settings.processes, limits)
    try:
        held = opposite(subject, recorded.settings, protocol, strict=recorded.strict)
        trials = Trials(subject.make_process, held, recorded.settings, Sampling())
        outcome = trials.again(recorded.operations)
        if held is not None and trials.undecided and not outcome.findings:
            raise SubjectError(
                f"the case is not decided: {held.protocol.name} has too many possible states after its events"
            )
        return outcome
    finally:
        if subject.external is not None and transcript is not None:
            transcript += subject.external.transcript
        subject.close()


def assert_case_passes(case: Mapping[str, Any] | str) -> None:
    """Runs a recorded case again, given as a mapping or as its text. For tests: nothing may be wrong with it.

    Raises:
        AssertionError: there is a finding; the message shows it with the diagram. Or nothing was delivered.
        ScheduleError: it is no recorded case. And as in `rerun`.
    """
    recorded = read_case(case if isinstance(case, str) else json.dumps(case))
    outcome = rerun(recorded)
    if outcome.findings:
        raise AssertionError(f"{outcome.findings[0]}\n\n{case_explained(outcome)}")
    if outcome.vacuous and recorded.operations:  # A case without operations is about the start, which went well.
        raise AssertionError(f"the case is not decided: {outcome.nothing}\n\n{case_explained(outcome)}")


_TEMPLATE = '''"""{title}

Found and shortened by `thence conform`. The test fails as long as the fault is there, and shows it.
"""

from thence.conformance.conform.rerun import assert_case_passes

CASE = {case}


def test_{name}() -> None:
    assert_case_passes(CASE)
'''


def pytest_file(recorded: RecordedCase, findings: Sequence[CaseFinding]) -> str:
    """The text of a test that fails as long as the case does. What was found is its title."""
    title = "\n".join(printable(str(finding)) for finding in findings) + "."
    lines = [f"    {key!r}: {value!r}," for key, value in recorded.to_json().items() if key != "operations"]
    operations = [f"        {operation!r}," for operation in recorded.to_json()["operations"]]
    case = "\n".join(["{", *lines, "    'operations': [", *operations, "    ],", "}"])
    kinds = dict.fromkeys(finding.kind for finding in findings)
    # The title may contain a foreign system's names of messages.
    return _TEMPLATE.format(
        title=title.replace("\\", "\\\\").replace('"""', "'''"), case=case, name="_".join(["no", *kinds])
    )
