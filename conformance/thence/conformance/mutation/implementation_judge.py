"""Mutants of an implementation: killed by the harness, with the oracle and the replay in the protocol."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Final

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.cases.time_limit import PATIENCE, OutOfTime, limited
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.mutation.edits import applied
from thence.conformance.mutation.equality import StepRecord
from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.implementation_equality import Likeness, LocalComparison
from thence.conformance.mutation.mutants import Mutant
from thence.conformance.mutation.protocol_judge import explored, usual_workloads
from thence.conformance.mutation.python_edits import implementation_edits
from thence.conformance.replay.findings import CaseOutcome
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.strangers import say
from thence.conformance.systems.subject import MakeProcess, SubjectError
from thence.dsl import ir
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.scoped import on_links
from thence.dsl.run.system import System
from thence.spec.words import counted

CASES: Final = 1_200
"""Cases that a mutant has to pass to survive."""

OPERATIONS: Final = (12, 30)
"""Operations of the cases, in turn: short ones are quick, long ones reach further."""

CASE_LIMIT_S: Final = 2.0

COMPARED_STATES: Final = 20_000
"""Scopes of up to so many states are compared in; the interpreter explores them, since native code also tabulates local
steps that no run takes."""

MOST_LOCAL_STEPS: Final = 3_000


@dataclass(frozen=True, slots=True)
class ImplementationBaseline:
    """The baseline of an implementation.

    Attributes:
        module: its module's name.
        name: its class.
        text: of the module.
        protocol: to replay in, or None for the oracle alone.
        settings: the abilities of network and application.
        records: the protocol's local steps in scopes, to compare in; the smaller first. None where the original
            cannot even be compared with itself in one of them.
        notes: why nothing is compared, if so.
    """

    module: str
    name: str
    text: str
    protocol: ir.Protocol | None
    settings: tuple[Settings, ...]
    records: tuple[tuple[str, StepRecord], ...]
    notes: tuple[str, ...] = ()


def implementation_baseline(system: str, protocol: ir.Protocol | None, settings: Settings) -> ImplementationBaseline:
    """Of the class `module:Class`, which has been loaded before. On given links nothing is compared in scopes, which
    have others.

    Raises:
        SubjectError: its text is not at hand, or it fails without a fault.
    """
    module, _, name = system.partition(":")
    text = implementation_text(system)
    records = []
    for workload, compared in _systems(protocol) if not settings.links else ():
        if explored(compared, (), COMPARED_STATES, native=False).complete:
            record = StepRecord(compared)
            if record.size <= MOST_LOCAL_STEPS:
                records.append(
                    (f"{counted(workload.processes, 'process')}, sends {', '.join(map(str, workload.sends))}", record)
                )
    records.sort(key=lambda known: known[1].size)
    all_settings = [settings]
    if protocol is not None and settings.links:
        protocol = on_links(protocol, settings.links)
    elif protocol is not None and settings.processes != 4:
        all_settings.append(settings_for(protocol, 4))
    found = ImplementationBaseline(module, name, text, protocol, tuple(all_settings), tuple(records))
    unfit = ImplementationJudge(found).failure(getattr(sys.modules[module], name), CASES)
    if unfit is not None:
        raise SubjectError(f"{system} fails without a fault: {unfit}")
    unlike = _unlike_itself(found)
    if unlike is None:
        return found
    states = f"the states of {name} in scope {unlike}"
    why = f"no mutant is called equal: {states} are too many to compare, or not those of the protocol"
    return replace(found, records=(), notes=(why,))


def _unlike_itself(known: ImplementationBaseline) -> str | None:
    """The first scope in which the original cannot be compared with itself, and so no mutant with it: comparing each
    mutant there would cost as much, and say as little."""
    judge = ImplementationJudge(known)
    original = load_mutant(known.module, known.name, known.text)
    return next((name for name, record in known.records if judge.likeness(record, original) == "different"), None)


def implementation_text(system: str) -> str:
    """The text of the module of `module:Class`, which has been loaded before. Raises: SubjectError."""
    module = system.partition(":")[0]
    file = getattr(sys.modules[module], "__file__", None)
    if file is None or not file.endswith(".py"):
        raise SubjectError(f"the text of {module} is not at hand")
    return Path(file).read_text(encoding="utf-8")


def implementation_mutants(system: str, text: str) -> list[Mutant]:
    """The edits of the text of `module:Class`, as mutants."""
    file = system.partition(":")[0].rpartition(".")[2] + ".py"
    return [
        Mutant(number, "implementation", system, edit, text, applied(text, edit), file)
        for number, edit in enumerate(implementation_edits(text), 1)
    ]


def _systems(protocol: ir.Protocol | None) -> list[tuple[ir.Workload, System]]:
    if protocol is None:
        return []
    return [(workload, system_of(protocol, workload)) for workload in usual_workloads(protocol)]


class ImplementationJudge:
    """Judges mutants of one implementation, in a process that is for nothing else."""

    def __init__(self, known: ImplementationBaseline) -> None:
        self._known = known
        protocol = known.protocol
        self._replays: dict[int, Replay | None] = {
            settings.processes: None if protocol is None else Replay(protocol, settings.processes)
            for settings in known.settings
        }

    def fate(self, mutant: Mutant, cases: int = CASES) -> Fate:
        """The fate of the mutant."""
        try:
            with limited(CASE_LIMIT_S, PATIENCE):
                make = load_mutant(self._known.module, self._known.name, mutant.text)
        except (Exception, SystemExit, OutOfTime) as error:
            return Fate("refused", f"does not import: {say(error)}")
        failed = self.failure(make, cases)
        if failed is not None:
            return Fate("killed", failed)
        alike = self._alike(make)
        if alike:
            return Fate("equal", f"equal in scope {'; '.join(alike)}")
        return Fate("survived", f"{counted(cases, 'case')} with {_count(self._known.settings)} passed")

    def _alike(self, make: MakeProcess) -> list[str]:
        """The scopes, each with the likeness there; none where the mutant differs in one of them."""
        alike = []
        for name, record in self._known.records:
            likeness = self.likeness(record, make)
            if likeness == "different":
                return []
            alike.append(f"{name} ({likeness})")
        return alike

    def failure(self, make: MakeProcess, cases: int) -> str | None:
        """The first failure in the cases of all schedulers, in words."""
        names = list(SCHEDULERS)
        for seed in range(cases):
            name = names[seed % len(names)]
            turn = seed // len(names)
            settings = self._known.settings[turn % len(self._known.settings)]
            operations = OPERATIONS[turn // 2 % len(OPERATIONS)]
            outcome = self._run(make, name, seed, operations, settings)
            if outcome.kinds == {"hang"}:  # The machine may have been busy with something else.
                outcome = self._run(make, name, seed, operations, settings)
            if outcome.findings:
                kinds = ", ".join(sorted(outcome.kinds))
                size = f"{counted(settings.processes, 'process')}, {counted(operations, 'operation')}"
                return f"{kinds} in case {seed} ({name}, {size})"
        return None

    def _run(self, make: MakeProcess, name: str, seed: int, operations: int, settings: Settings) -> CaseOutcome:
        replay = self._replays[settings.processes]
        return run_scheduled(make, SCHEDULERS[name], seed, operations, settings, replay, limit_s=CASE_LIMIT_S)

    def likeness(self, record: StepRecord, make: MakeProcess) -> Likeness:
        """The likeness of a class to the original in the scope of the record."""
        original = load_mutant(self._known.module, self._known.name, self._known.text)
        try:
            with limited(10 * CASE_LIMIT_S):
                return LocalComparison(record).likeness(original, make)
        except OutOfTime:
            return "different"


def load_mutant(module: str, name: str, text: str) -> MakeProcess:
    """The class of that name in the mutated text, as if it stood in its module. Raises whatever the text raises."""
    made = ModuleType(module)
    made.__dict__["__package__"] = module.rpartition(".")[0]
    before = sys.modules.get(module)
    sys.modules[module] = made
    try:
        exec(compile(text, f"<mutant of {module}>", "exec"), made.__dict__)
    finally:
        if before is not None:
            sys.modules[module] = before
    make: MakeProcess = getattr(made, name)
    return make


def _count(settings: Sequence[Settings]) -> str:
    return f"{' and '.join(str(each.processes) for each in settings)} processes"
