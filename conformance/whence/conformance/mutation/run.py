"""`mutate`: every mutant of what a file has, or of an implementation, judged; the score."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from whence.conformance.mutation.fate import Fate, Outcome
from whence.conformance.mutation.implementation_judge import (
    ImplementationBaseline,
    ImplementationJudge,
    implementation_mutants,
)
from whence.conformance.mutation.machine_judge import FAST, judge_machine, machine_baseline
from whence.conformance.mutation.mutants import Mutant, SubjectKind, meaning, specification_mutants
from whence.conformance.mutation.protocol_judge import baseline, judge_protocol
from whence.conformance.mutation.workers import Judge, Judged, MakeJudge, judged, limit_memory
from whence.dsl import ir
from whence.dsl.load import Loaded
from whence.proofs.prove import solver_pool

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the subject, how many mutants of it are judged, and how many there are."""

OUTCOMES: tuple[Outcome, ...] = ("killed", "survived", "undecided", "equal", "refused")


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
        kind, subject: what was mutated.
        total: how many mutants there are.
        judged: those that have a fate, by number.
        notes: what was not used to judge them, and why.
        seconds: wall time, of which each mutant has its own.
        why_incomplete: why there are fewer fates than mutants, or "".
    """

    kind: SubjectKind
    subject: str
    total: int
    judged: tuple[Judged, ...]
    notes: tuple[str, ...]
    seconds: float
    why_incomplete: str = ""

    def count(self, outcome: Outcome) -> int:
        """How many have that fate."""
        return sum(one.fate.outcome == outcome for one in self.judged)

    @property
    def score(self) -> float | None:
        """The part that was killed of the mutants that are not equal in scope and not refused; None of none.

        An undecided mutant counts as one that was not killed.
        """
        left = self.count("killed") + self.count("survived") + self.count("undecided")
        return self.count("killed") / left if left else None

    @property
    def alive(self) -> tuple[Judged, ...]:
        """Those that survived or are undecided."""
        return tuple(one for one in self.judged if one.fate.outcome in ("survived", "undecided"))


def chosen(mutants: Sequence[Mutant], most: int | None) -> list[Mutant]:
    """At most so many of the mutants, spread evenly over the text."""
    if most is None or most >= len(mutants):
        return list(mutants)
    return [mutants[position * len(mutants) // most] for position in range(most)]


def mutate_specification(
    loaded: Loaded, subject: ir.Protocol | ir.Machine, limits: Limits, progress: Progress
) -> Score:
    """Judges the mutants of a protocol or machine. Ctrl-C ends it early, with the fates so far."""
    assert loaded.specification is not None
    mutants = chosen(specification_mutants(loaded, subject), limits.mutants)
    specification = loaded.specification
    notes: list[str] = []

    def make() -> tuple[MakeJudge, list[str]]:
        if isinstance(subject, ir.Protocol):
            return _protocol_judge(specification, subject)
        return _machine_judge(specification, subject)

    kind: SubjectKind = "protocol" if isinstance(subject, ir.Protocol) else "machine"
    return _scored(kind, subject.name, mutants, make, notes, limits, progress)


def mutate_implementation(known: ImplementationBaseline, limits: Limits, progress: Progress) -> Score:
    """Judges the mutants of an implementation. Ctrl-C ends it early, with the fates so far."""
    mutants = chosen(implementation_mutants(known), limits.mutants)

    @contextmanager
    def judge() -> Iterator[Judge]:
        limit_memory()
        yield ImplementationJudge(known).fate

    return _scored("implementation", f"{known.module}:{known.name}", mutants, lambda: (judge, []), [], limits, progress)


def _scored(
    kind: SubjectKind,
    subject: str,
    mutants: Sequence[Mutant],
    make: Callable[[], tuple[MakeJudge, list[str]]],
    notes: list[str],
    limits: Limits,
    progress: Progress,
) -> Score:
    started = time.monotonic()
    deadline = None if limits.budget_s is None else started + limits.budget_s
    done: list[Judged] = []
    why = ""
    try:
        progress(subject, 0, len(mutants))
        make_judge, more = make()
        notes = [*notes, *more]
        for one in judged(mutants, make_judge, jobs=limits.jobs, limit_s=limits.limit_s, deadline=deadline):
            done.append(one)
            progress(subject, len(done), len(mutants))
        if len(done) < len(mutants):
            why = f"out of time after {limits.budget_s:g} s"
    except KeyboardInterrupt:
        why = "interrupted"
    done.sort(key=lambda one: one.mutant.number)
    return Score(kind, subject, len(mutants), tuple(done), tuple(notes), time.monotonic() - started, why)


def _protocol_judge(specification: ir.Specification, protocol: ir.Protocol) -> tuple[MakeJudge, list[str]]:
    known = baseline(specification, protocol)

    def fate(mutant: Mutant) -> Fate:
        changed = meaning(mutant)
        if changed is None:
            return Fate("refused", "the front end refuses it, or it means the same")
        return judge_protocol(known, next(one for one in changed.protocols if one.name == protocol.name))

    @contextmanager
    def judge() -> Iterator[Judge]:
        yield fate

    return judge, [f"scope {name} is not used: {why}" for name, why in known.skipped.items()]


def _machine_judge(specification: ir.Specification, machine: ir.Machine) -> tuple[MakeJudge, list[str]]:
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
    return judge, [f"not proved of {machine.name}, and not asked about: {lost}"] if lost else []
