"""Mutants judged anywhere: each is a task of its own, done by the text of its file alone.

A process gets ready to judge a subject once (it explores the protocol, or proves the machine), and then judges all
mutants of the subject that come to it. Each is judged in a process forked for it, which is killed where the mutant
loops.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.mutants import Mutant
from thence.conformance.mutation.run import Limits, Plan, Progress, Score, judge_of, mutants_in, planned
from thence.conformance.mutation.subjects import Subject
from thence.conformance.mutation.workers import Judged, MakeJudge, judged
from thence.conformance.tasks.pool import TaskPool
from thence.conformance.tasks.running import run_tasks
from thence.dsl.load import load_once
from thence.spec.user_error import UserError


class AnotherText(UserError):
    """A worker has another text of an implementation; the message says of which."""


@dataclass(frozen=True, slots=True)
class MutantTask:
    """A mutant to judge: by its number, since its subject has the same mutants everywhere, and a hash of its text.

    `plan` is the position of its subject. `path` and `content` are those of its file.
    """

    plan: int
    subject: Subject
    path: str
    content: bytes = field(repr=False)
    number: int
    text: str
    limit_s: float


def judge_mutant(task: MutantTask) -> tuple[Fate, float, tuple[str, ...]]:
    """The fate, the seconds that it took, and the notes of the subject.

    Raises: AnotherText, SubjectError.
    """
    mutants, make_judge, notes = _ready(task.subject, task.path, task.content)
    mutant = next((one for one in mutants if one.number == task.number), None)
    if mutant is None or _hash(mutant) != task.text:
        raise AnotherText(f"a worker has another text of {task.subject.name}: install the same one on all of them")
    (one,) = judged([mutant], make_judge, jobs=1, limit_s=task.limit_s)
    return one.fate, one.seconds, notes


@lru_cache(maxsize=2)
def _ready(subject: Subject, path: str, content: bytes) -> tuple[list[Mutant], MakeJudge, tuple[str, ...]]:
    loaded = load_once(Path(path), content, len(content))
    return mutants_in(subject, loaded), *judge_of(subject, loaded)


def _hash(mutant: Mutant) -> str:
    return sha256(mutant.text.encode("utf-8", "surrogatepass")).hexdigest()


def mutate_on(
    pool: TaskPool, subjects: Sequence[Subject], limits: Limits, progress: Progress, folder: Path | None = None
) -> tuple[list[Score], str]:
    """As `lanes.mutate_all`, by the pool. Of the limits, `jobs` and `budget_s` do not apply.

    A mutant whose task failed has no fate, since nobody judged it.

    Raises: as `mutate`; AnotherText.
    """
    started = time.monotonic()
    plans = [planned(subject, limits, folder) for subject in subjects]
    for plan in plans:
        progress(plan.subject.name, len(plan.done), len(plan.wanted))

    failed: dict[int, str] = {}

    def taken(task: MutantTask, future: Future[tuple[Fate, float, tuple[str, ...]]]) -> None:
        plan = plans[task.plan]
        mutant = next(one for one in plan.left if one.number == task.number)
        error = future.exception()
        if isinstance(error, UserError):
            raise error
        if error is not None:
            failed.setdefault(task.plan, f"a judge died: {error}")
        else:
            fate, seconds, plan.notes = future.result()
            plan.add(Judged(mutant, fate, seconds))
        progress(plan.subject.name, len(plan.done), len(plan.wanted))

    why = run_tasks(pool, judge_mutant, _tasks(plans, limits), taken)
    seconds = time.monotonic() - started
    reasons = ["" if plan.complete else failed.get(number, why) for number, plan in enumerate(plans)]
    return [plan.score(seconds, reason) for plan, reason in zip(plans, reasons, strict=True)], why


def _tasks(plans: Sequence[Plan], limits: Limits) -> list[MutantTask]:
    """Subject by subject, so that a worker gets ready for few; those with most to judge first."""
    return [
        MutantTask(
            number,
            plan.subject,
            str(plan.loaded.path),
            plan.loaded.source.text.encode(),
            mutant.number,
            _hash(mutant),
            limits.limit_s,
        )
        for number, plan in sorted(enumerate(plans), key=lambda each: -len(each[1].left))
        for mutant in plan.left
    ]
