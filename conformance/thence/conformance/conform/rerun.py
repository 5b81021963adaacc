"""Recorded cases run again: by `thence conform --replay`, in a pytest file, in a folder of the pytest plugin."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase, read_case
from thence.conformance.conform.trials import LIMIT_S
from thence.conformance.harness.explain import case_explained
from thence.conformance.harness.harness import run_case
from thence.conformance.replay.findings import CaseFinding, CaseOutcome
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.contract import Abilities
from thence.conformance.systems.foreign import SystemFailed, SystemRaised
from thence.conformance.systems.strangers import said_besides
from thence.conformance.systems.subject import Subject, SubjectError, load_subject, shows_kinds
from thence.conformance.systems.system import ExternalSystem, Limits
from thence.dsl import ir
from thence.dsl.find import named_protocol
from thence.spec.events import printable


@dataclass(frozen=True, slots=True)
class Opposite:
    """The opposite of a subject, step by step: a protocol that is replayed in lock step, or only the oracle.

    Attributes:
        protocol: replayed in lock step; None where there is none.
        why_not: why the requested protocol is not replayed in lock step; otherwise empty. The visible events of a case
            are replayed all the same, see `thence.conformance.replay.partial_observation`.
    """

    protocol: ir.Protocol | None
    why_not: str = ""


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


def opposite(subject: Subject, settings: Settings, protocol: ir.Protocol | None) -> Opposite:
    """The opposite that a subject can have. A foreign system is started and asked; a class sends on trial.

    Raises:
        SubjectError: the system cannot start, refuses such settings, or its messages go elsewhere.
    """
    subject.require(settings.delivery)
    if subject.external is None:
        if protocol is not None and not shows_kinds(subject.make_process, settings):
            return Opposite(None, "its packets do not say of which kinds they are (they have no attribute kind)")
        return Opposite(protocol)
    try:
        abilities = introduced(subject, subject.external, settings)
    except SystemRaised as error:
        raise SubjectError(f"{subject.name} refuses to begin: {error}{said_besides(error.printed)}") from error
    if protocol is not None and not abilities.kinds:
        return Opposite(None, "the system does not say of which kinds its packets are (kinds, in its reply to init)")
    return Opposite(protocol)


def rerun(recorded: RecordedCase, limits: Limits | None = None) -> CaseOutcome:
    """The outcome of the case, run again.

    Raises:
        SubjectError: the system cannot be used.
        UserError: the protocol cannot be read.
    """
    protocol = None if recorded.protocol is None else named_protocol(recorded.protocol)
    return rerun_against(recorded, protocol, limits)


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
        held = opposite(subject, recorded.settings, protocol).protocol
        if recorded.partially_observed:
            held = None
        replay = None if held is None else Replay(held, recorded.settings.processes)
        limit_s = LIMIT_S if subject.external is None else None
        outcome = run_case(subject.make_process, recorded.operations, recorded.settings, replay, limit_s=limit_s)
        if protocol is None or held is not None:
            return outcome
        follow = PartialObservationReplay(protocol, recorded.settings.processes)
        outcome = follow.follow(outcome)
        if follow.undecided and not outcome.findings:
            raise SubjectError(
                f"the case is not decided: {protocol.name} has too many possible states after its events"
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
        raise AssertionError(f"the case is not decided: nothing was delivered\n\n{case_explained(outcome)}")


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
