"""All mutants of the subjects of a file, or of an implementation, judged; the score."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from thence.conformance.cases.network import Settings
from thence.conformance.conform.conform import settings_for
from thence.conformance.mutation.fate import Fate, Outcome
from thence.conformance.mutation.implementation_judge import (
    ImplementationJudge,
    implementation_baseline,
    implementation_mutants,
    implementation_text,
)
from thence.conformance.mutation.machine_judge import FAST, judge_machine, machine_baseline
from thence.conformance.mutation.mutants import Mutant, SubjectKind, meaning, specification_mutants
from thence.conformance.mutation.protocol_judge import baseline, judge_protocol
from thence.conformance.mutation.store import Store
from thence.conformance.mutation.subjects import Subject, context_of
from thence.conformance.mutation.workers import Judge, Judged, MakeJudge, judged, limit_memory
from thence.conformance.systems.subject import SubjectError, load_subject
from thence.dsl import ir
from thence.dsl.ir.topology import Edges
from thence.dsl.load import Loaded, load
from thence.proofs.prove import solver_pool
from thence.spec.words import counted

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the subject, the number of its mutants that are judged, and the number of all."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work: `jobs` judges at a time, each with `limit_s` for a mutant; at most `mutants` of each subject,
    spread evenly; nothing is begun after `budget_s` (None: no end)."""

    jobs: int = 2
    limit_s: float = 120.0
    mutants: int | None = None
    budget_s: float | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """The mutants of one subject.

    Attributes:
        row: the name of its file.
        kind, subject: of the original.
        total: number of mutants, of which `wanted` were to be judged.
        judged: those that have a fate, by number.
        notes: the statements that were not used to judge them, and why.
        seconds: wall time, of which each mutant has its own.
        why_incomplete: why there are fewer fates than wanted, or "".
        unkept: why some fates could not be kept, or "".
    """

    row: str
    kind: SubjectKind
    subject: str
    total: int
    wanted: int
    judged: tuple[Judged, ...]
    notes: tuple[str, ...]
    seconds: float
    why_incomplete: str = ""
    unkept: str = ""

    def count(self, outcome: Outcome) -> int:
        """Number of mutants with that fate."""
        return sum(one.fate.outcome == outcome for one in self.judged)

    @property
    def score(self) -> float | None:
        """The share of killed mutants, without those that are equal in scope or refused; None of none.

        An undecided mutant counts as one that was not killed.
        """
        return score_of((self,))

    @property
    def alive(self) -> tuple[Judged, ...]:
        """Those that survived or are undecided."""
        return tuple(one for one in self.judged if one.fate.outcome in ("survived", "undecided"))


def score_of(scores: Sequence[Score]) -> float | None:
    """The share of killed mutants of all scores, without those that are equal in scope or refused; None of none."""
    killed, alive = sum(score.count("killed") for score in scores), sum(len(score.alive) for score in scores)
    return killed / (killed + alive) if killed + alive else None


def spread(mutants: Sequence[Mutant], most: int | None) -> list[Mutant]:
    """A limited number of the mutants, spread evenly over the text."""
    if most is None or most >= len(mutants):
        return list(mutants)
    return [mutants[position * len(mutants) // most] for position in range(most)]


def mutants_of(subject: Subject) -> tuple[list[Mutant], Loaded]:
    """All mutants of the subject, with its file.

    Raises: SourceError, SubjectError.
    """
    loaded = load(subject.file)
    return mutants_in(subject, loaded), loaded


def mutants_in(subject: Subject, loaded: Loaded) -> list[Mutant]:
    """All mutants of the subject, of which this is the file. Raises: SubjectError."""
    assert loaded.specification is not None, "the file has no errors"
    if subject.kind == "implementation":
        load_subject(subject.name, 3)
        return implementation_mutants(subject.name, implementation_text(subject.name))
    return specification_mutants(loaded, subject.declared(loaded.specification))


def store_of(subject: Subject, loaded: Loaded, folder: Path) -> Store:
    """The store of the subject's fates in the folder. An implementation has been loaded before."""
    implementation = subject.name if subject.kind == "implementation" else None
    name = f"{subject.row}-{subject.name}"
    on_links = f"\n{subject.links}" if subject.links else ""
    return Store(folder, subject.kind, name, context_of(loaded, implementation) + on_links)


def kept(subject: Subject, folder: Path) -> Score:
    """The subject's score from the folder; nothing is judged. Raises: SourceError, SubjectError, OSError."""
    mutants, loaded = mutants_of(subject)
    done, left = _taken(mutants, store_of(subject, loaded, folder), undecided=True)
    why = f"{counted(len(left), 'mutant')} not judged yet" if left else ""
    return Score(subject.row, subject.kind, subject.name, len(mutants), len(mutants), tuple(done), (), 0.0, why)


@dataclass(slots=True)
class Plan:
    """The mutants of a subject: `wanted`, of a total number; those that have a fate, and those that are `left`.

    `loaded` is the subject's file. `notes` are known once a mutant is judged. `unkept`: why one
    could not be kept.
    """

    subject: Subject
    loaded: Loaded
    total: int
    wanted: list[Mutant]
    done: list[Judged]
    left: list[Mutant]
    store: Store | None
    notes: tuple[str, ...] = ()
    unkept: str = ""

    @property
    def complete(self) -> bool:
        return len(self.done) == len(self.wanted)

    def add(self, one: Judged) -> None:
        """Adds a fate, and keeps it where fates are kept, if it can be."""
        self.done.append(one)
        if self.store is not None:
            try:
                self.store.keep(one.mutant, one.fate, one.seconds)
            except OSError as error:
                self.unkept = f"results cannot be kept: {error.filename}: {error.strerror}"

    def score(self, seconds: float, why: str) -> Score:
        """The score so far. `why` there are fewer fates than wanted, or ""."""
        done = tuple(sorted(self.done, key=lambda one: one.mutant.number))
        subject = self.subject
        return Score(
            subject.row, subject.kind, subject.name, self.total, len(self.wanted), done, self.notes, seconds, why,
            self.unkept,
        )  # fmt: skip


def planned(subject: Subject, limits: Limits, folder: Path | None = None) -> Plan:
    """What is to be judged of a subject, apart from fates that are in the folder.

    Raises: SourceError, SubjectError, OSError.
    """
    mutants, loaded = mutants_of(subject)
    wanted = spread(mutants, limits.mutants)
    store = None if folder is None else store_of(subject, loaded, folder)
    done, left = ([], wanted) if store is None else _taken(wanted, store)
    return Plan(subject, loaded, len(mutants), wanted, done, left, store)


def mutate(subject: Subject, limits: Limits, progress: Progress, folder: Path | None = None) -> Score:
    """Judges the subject's mutants, apart from those whose fates are in the folder, to which others are added.

    Ctrl-C ends it early, with the fates so far. A fate that cannot be kept counts, and the score says so.

    Raises:
        SubjectError: an implementation cannot be loaded, or fails without a fault.
        OSError: fates in the folder cannot be read.
    """
    started = time.monotonic()
    deadline = None if limits.budget_s is None else started + limits.budget_s
    plan = planned(subject, limits, folder)
    why = ""
    try:
        progress(subject.name, len(plan.done), len(plan.wanted))
        if plan.left:
            make_judge, plan.notes = judge_of(subject, plan.loaded)
            for one in judged(plan.left, make_judge, jobs=limits.jobs, limit_s=limits.limit_s, deadline=deadline):
                plan.add(one)
                progress(subject.name, len(plan.done), len(plan.wanted))
        if not plan.complete:
            why = f"out of time after {limits.budget_s:g} s"
    except KeyboardInterrupt:
        why = "interrupted"
    return plan.score(time.monotonic() - started, why)


def _taken(mutants: Sequence[Mutant], store: Store, *, undecided: bool = False) -> tuple[list[Judged], list[Mutant]]:
    """The fates that are kept, and the mutants without one; undecided ones are tried again, unless asked for."""
    there = store.read()
    done: list[Judged] = []
    left: list[Mutant] = []
    for mutant in mutants:
        found = there.get(store.digest(mutant))
        if found is None or (found.fate.outcome == "undecided" and not undecided):
            left.append(mutant)
        else:
            done.append(Judged(mutant, found.fate, found.seconds))
    return done, left


def judge_of(subject: Subject, loaded: Loaded) -> tuple[MakeJudge, tuple[str, ...]]:
    """Gets ready to judge the subject's mutants; and the statements that are not used for it. Raises: SubjectError."""
    specification = loaded.specification
    assert specification is not None
    if subject.kind == "implementation":
        return _implementation_judge(subject, specification.protocols[0])
    declared = subject.declared(specification)
    if isinstance(declared, ir.Protocol):
        return _protocol_judge(specification, declared)
    return _machine_judge(specification, declared)


def implementation_settings(protocol: ir.Protocol, links: Edges = ()) -> Settings:
    """The settings in which the mutants of an implementation run, on these links of an overlay, if there are any.

    Raises: SubjectError, where the protocol has no overlay.
    """
    if not links:
        return settings_for(protocol)
    if not protocol.network.overlay:
        raise SubjectError(f"links are for overlays; the network of {protocol.name} is none")
    return replace(settings_for(protocol, 1 + max(map(max, links))), links=links)


def _implementation_judge(subject: Subject, protocol: ir.Protocol) -> tuple[MakeJudge, tuple[str, ...]]:
    settings = implementation_settings(protocol, subject.links)
    load_subject(subject.name, settings.processes).require(settings)
    known = implementation_baseline(subject.name, protocol, settings)

    @contextmanager
    def judge() -> Iterator[Judge]:
        limit_memory()
        yield ImplementationJudge(known).fate

    return judge, known.notes


def _protocol_judge(specification: ir.Specification, protocol: ir.Protocol) -> tuple[MakeJudge, tuple[str, ...]]:
    known = baseline(specification, protocol)

    def fate(mutant: Mutant) -> Fate:
        changed = meaning(mutant)
        if changed is None:
            return Fate("refused", "the front end refuses it, or it means the same")
        return judge_protocol(known, next(one for one in changed.protocols if one.name == protocol.name))

    @contextmanager
    def judge() -> Iterator[Judge]:
        yield fate

    return judge, tuple(f"scope {name} is not used: {why}" for name, why in known.skipped.items())


def _machine_judge(specification: ir.Specification, machine: ir.Machine) -> tuple[MakeJudge, tuple[str, ...]]:
    with solver_pool(replace(FAST, workers=2)) as pool:
        known = machine_baseline(pool, specification, machine)

    @contextmanager
    def judge() -> Iterator[Judge]:
        with solver_pool(FAST) as pool:

            def fate(mutant: Mutant) -> Fate:
                changed = meaning(mutant)
                if changed is None:
                    return Fate("refused", "the front end refuses it, or it means the same")
                return judge_machine(pool, known, next(one for one in changed.machines if one.name == machine.name))

            yield fate

    lost = ", ".join(sorted(known.lost))
    return judge, (f"not established of {machine.name}, and not asked about: {lost}",) if lost else ()
