"""The harness as the runner of a campaign: `thence.conformance.campaign.one_system:campaign_runner`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from thence.conformance.campaign.case import SeedOutcome
from thence.conformance.cases.network import PROMISES, Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.cases.schedulers import Scheduler
from thence.conformance.conform.claims import claims_of
from thence.conformance.conform.conform import settings_for
from thence.conformance.conform.rerun import opposite
from thence.conformance.conform.trials import Opposite
from thence.conformance.conform.untried import untried
from thence.conformance.harness.coverage import CoveredReplay, Features, scenarios
from thence.conformance.harness.guided import BUILT_IN, Corpus, portfolio
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.systems.isolated import IsolatedSystem
from thence.conformance.systems.protocol_subject import PREFIX
from thence.conformance.systems.subject import Subject, load_subject
from thence.conformance.systems.system import Limits
from thence.dsl import ir
from thence.dsl.find import named_protocol, parted
from thence.dsl.load import locate

PORTFOLIO: Final = "portfolio"
"""As a scheduler: each seed has the next one, the default every other time."""

DEFAULT_OPERATIONS: Final = 12

_PARAMETERS: Final = {
    "system",
    "protocol",
    "scheduler",
    "corpus",
    "processes",
    "operations",
    "channels",
    "duplication",
    "loss",
    "self_sends",
    "delivery",
    "links",
    "reply_limit_s",
    "start_limit_s",
    "memory_limit_bytes",
    "strict",
    *PROMISES,
}


STATE_SAMPLE: Final = 8
"""An abstract state is recorded with its case if this number divides its hash. Campaigns meet millions of them."""


def campaign_runner(params: Mapping[str, Any]) -> HarnessRunner:
    """The function that runs the case of a seed.

    Parameters: `system`, as `load_subject` takes it; `protocol`, the file or library name of the protocol to replay
    each case in, or null (the default) for the oracle alone; `scheduler`, a name of the portfolio or `portfolio`;
    `corpus`, the start of the guided scheduler beside the built-in scripts (`Corpus.to_json`), or null;
    `operations` of a case; `reply_limit_s`, `start_limit_s` and `memory_limit_bytes` of a foreign system; `strict`,
    whether the order of the protocol's text is demanded; and the fields of `Settings`, by default as the protocol
    states.

    Raises:
        ValueError: a parameter is unknown or has an impossible value.
        UserError: there is no such protocol, or the system cannot be used.
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
    given = params.get("corpus")
    schedulers = portfolio(BUILT_IN if given is None else Corpus.from_json(given))
    names = scheduler_names(params.get("scheduler", next(iter(schedulers))), schedulers)
    protocol = None if protocol_name is None else named_protocol(protocol_name)
    settings = _settings(params, protocol)
    subject = load_subject(system, settings.processes, _limits(params))
    strict = params.get("strict", False)
    if not isinstance(strict, bool) or (strict and protocol is None):
        raise ValueError(f"strict is {strict!r}; it is true or false, and true only with a protocol")
    held = opposite(subject, settings, protocol, strict=strict)
    return HarnessRunner(
        subject, protocol_name, held, settings, [(name, schedulers[name]) for name in names], operations
    )


class HarnessRunner:
    """The case function of the harness. `facts` has the hashes of its inputs and the meaning of its bits."""

    def __init__(
        self,
        subject: Subject,
        protocol_name: str | None,
        held: Opposite | None,
        settings: Settings,
        schedulers: Sequence[tuple[str, Scheduler]],
        operations: int,
    ) -> None:
        self._subject = subject
        self._protocol_name = protocol_name
        self._settings = settings
        self._schedulers = schedulers
        self._operations = operations
        self._strict = held is not None and held.closely == "strictly"
        self._replay: CoveredReplay | None = None
        self._follow: PartialObservationReplay | None = None
        if held is not None and held.closely == "as observed":
            self._follow = PartialObservationReplay(held.protocol, settings.processes)
        elif held is not None:
            self._replay = CoveredReplay(held.protocol, settings.processes, self._strict)
        self._features = Features.of(None if self._replay is None else self._replay.protocol)
        made = set(claims_of(settings, protocol=held is not None)) - {"started"}
        # Whether a case in which no message, or some, was seen to arrive could have refuted nothing that is claimed.
        self._nothing_tried = [bool(made) and made <= untried(held, settings, seen).keys() for seen in (0, 1)]
        self._judges_invariants = subject.name.startswith(PREFIX)
        self.facts: dict[str, Any] = {
            "features": [list(feature) for feature in self._features.names],
            "state sample": STATE_SAMPLE,
            "protocol": None if protocol_name is None else _hash_of(locate(parted(protocol_name)[0])),
            "system": _system_hash(subject),
        }

    def close(self) -> None:
        """Ends the processes of a foreign system."""
        self._subject.close()

    def cell(self, seed: int) -> tuple[str, str]:
        """The system, and the scheduler that the seed has."""
        return self._subject.name, self._schedulers[seed % len(self._schedulers)][0]

    def __call__(self, seed: int) -> SeedOutcome:
        """Runs the case of the seed. Raises: Undecided."""
        name, scheduler = self._schedulers[seed % len(self._schedulers)]
        replay, make = self._replay, self._subject.make_process
        outcome = run_scheduled(make, scheduler, seed, self._operations, self._settings, replay)
        if self._follow is not None:
            outcome = self._follow.follow(outcome)
        if self._is_undecided() and not outcome.findings:
            raise Undecided("the protocol has too many possible states after the events of the case")
        findings = [str(finding) for finding in outcome.findings]
        states: tuple[int, ...] = ()
        if replay is None:
            bits = self._features.bits(("scenario", shown) for shown in scenarios(outcome))
        else:
            reached = replay.reached(outcome)
            bits = reached.bits
            states = tuple(state for state in reached.abstract if state % STATE_SAMPLE == 0)
            if self._judges_invariants:
                findings += [f"invariant: {broken} is false" for broken in sorted(reached.broken)]
        recorded = None
        if findings:
            case = RecordedCase(
                self._subject.name, self._protocol_name, self._settings, outcome.operations, self._strict
            )
            recorded = case.text()
        return SeedOutcome(
            seed,
            len(outcome.log),
            tuple(findings),
            recorded,
            outcome.digest(),
            self._subject.name,
            name,
            bits,
            states,
            outcome.vacuous or self._nothing_tried[outcome.arrivals > 0],
        )

    def _is_undecided(self) -> bool:
        """Whether a replay since the last question had too many possible states."""
        known = [one for one in (self._replay, self._follow) if one is not None]
        undecided = any(one.undecided for one in known)
        for one in known:
            one.undecided = 0
        return undecided


class Undecided(Exception):
    """A case that is neither right nor wrong, as far as its replay in the protocol went."""


def _system_hash(subject: Subject) -> str | None:
    """The hash of the file that a system is in, where it is one file, of Python or of the language."""
    name = subject.name
    if name.startswith(PREFIX):
        return _hash_of(locate(name.removeprefix(PREFIX).partition("#")[0]))
    if isinstance(subject.external, IsolatedSystem):
        file = subject.external.description["file"]
    else:
        file = getattr(sys.modules.get(name.partition(":")[0]), "__file__", None)
    return _hash_of(Path(file)) if file is not None and Path(file).is_file() else None


def _hash_of(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def scheduler_names(name: object, schedulers: Collection[str]) -> tuple[str, ...]:
    """The schedulers that the seeds have in turn. Raises: ValueError for a name that there is not."""
    default, *others = schedulers
    if name == PORTFOLIO:
        return tuple(part for other in others for part in (default, other))
    if not isinstance(name, str) or name not in schedulers:
        raise ValueError(f"the scheduler is {', '.join(schedulers)} or {PORTFOLIO}, not {name!r}")
    return (name,)


def _limits(params: Mapping[str, Any]) -> Limits:
    """The limits of a foreign system. Raises: ValueError for a value that is none."""
    default = Limits()
    given = {"reply_s": params.get("reply_limit_s", default.reply_s),
             "start_s": params.get("start_limit_s", default.start_s)}  # fmt: skip
    for value in given.values():
        if not isinstance(value, int | float) or not 0 < value < 1e6:
            raise ValueError(f"a time limit is {value!r}; it is seconds, more than none")
    memory = params.get("memory_limit_bytes", default.memory_bytes)
    if type(memory) is not int or memory < 0:
        raise ValueError(f"a memory limit is {memory!r}; it is bytes, 0 for none")
    return Limits(**given, memory_bytes=memory)


def _settings(params: Mapping[str, Any], protocol: ir.Protocol | None) -> Settings:
    default = Settings() if protocol is None else settings_for(protocol)
    given = {name: params[name] for name in (*default.to_json(), "links") if name in params}
    return Settings.from_json({**default.to_json(), **given})
