"""The harness as the runner of a campaign: `whence.conformance.harness_campaign:campaign_runner`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from whence.conformance.campaign.case import CaseFunction, CaseOutcome
from whence.conformance.drive import settings_for
from whence.conformance.harness import run_scheduled
from whence.conformance.network import PROMISES, Settings
from whence.conformance.recorded_case import RecordedCase
from whence.conformance.replay import Replay
from whence.conformance.schedulers import SCHEDULERS
from whence.conformance.subject import load_subject
from whence.dsl import ir
from whence.dsl.load import SourceError, load

PORTFOLIO: Final = "portfolio"
"""As a scheduler: each seed has the next one, the default every other time."""

DEFAULT_OPERATIONS: Final = 12

_PARAMETERS: Final = {
    "system",
    "protocol",
    "scheduler",
    "processes",
    "operations",
    "channels",
    "duplication",
    "loss",
    "self_sends",
    "delivery",
    *PROMISES,
}


def campaign_runner(params: Mapping[str, Any]) -> CaseFunction:
    """The function that runs the case of a seed.

    Parameters: `system`, `module:Class`; `protocol`, the file or library name of the protocol to replay each case in,
    or null (the default) for the oracle alone; `scheduler`, a name of `SCHEDULERS` or `portfolio`; `operations` of a
    case; and the fields of `Settings`, by default what the protocol says of its network.

    Raises:
        ValueError: a parameter is unknown or has an impossible value.
        SubjectError: the system cannot be used.
    """
    unknown = sorted(set(params) - _PARAMETERS)
    if unknown:
        raise ValueError(f"unknown parameter {', '.join(unknown)}; there are {', '.join(sorted(_PARAMETERS))}")
    system, protocol_name = params.get("system"), params.get("protocol")
    if not isinstance(system, str):
        raise ValueError("the parameter system names what to test, module:Class")
    if not isinstance(protocol_name, str | None):
        raise ValueError(f"the parameter protocol is a name or null, not {protocol_name!r}")
    operations = params.get("operations", DEFAULT_OPERATIONS)
    if type(operations) is not int or operations < 1:
        raise ValueError(f"operations is {operations!r}; a case has at least one")
    names = _scheduler_names(params.get("scheduler", next(iter(SCHEDULERS))))
    protocol = None if protocol_name is None else find_protocol(protocol_name)
    settings = _settings(params, protocol)
    subject = load_subject(system, settings.processes)
    subject.require(settings.delivery)
    replay = None if protocol is None else Replay(protocol, settings.processes)

    def run(seed: int) -> CaseOutcome:
        name = names[seed % len(names)]
        outcome = run_scheduled(subject.make_process, SCHEDULERS[name], seed, operations, settings, replay)
        recorded = None
        if outcome.findings:
            recorded = RecordedCase(system, protocol_name, settings, outcome.operations).text()
        findings = tuple(str(finding) for finding in outcome.findings)
        return CaseOutcome(seed, len(outcome.log), findings, recorded, outcome.digest(), name)

    return run


def find_protocol(name: str) -> ir.Protocol:
    """The protocol of a file or library file: the only one in it, or the one named like the file.

    Raises:
        ValueError: there is none, or the file has errors.
    """
    try:
        loaded = load(name)
    except SourceError as error:
        raise ValueError(str(error)) from error
    if loaded.specification is None:
        raise ValueError(f"{name} has errors; see whence check {name}")
    protocols = loaded.specification.protocols
    fitting = [protocol for protocol in protocols if len(protocols) == 1 or protocol.name == loaded.path.stem]
    if not fitting:
        raise ValueError(f"{name} has no protocol of its own name, and not just one")
    return fitting[0]


def _scheduler_names(name: object) -> tuple[str, ...]:
    default, *others = SCHEDULERS
    if name == PORTFOLIO:
        return tuple(part for other in others for part in (default, other))
    if not isinstance(name, str) or name not in SCHEDULERS:
        raise ValueError(f"the scheduler is {', '.join(SCHEDULERS)} or {PORTFOLIO}, not {name!r}")
    return (name,)


def _settings(params: Mapping[str, Any], protocol: ir.Protocol | None) -> Settings:
    default = Settings() if protocol is None else settings_for(protocol)
    given = {name: params[name] for name in default.to_json() if name in params}
    return Settings.from_json({**default.to_json(), **given})
