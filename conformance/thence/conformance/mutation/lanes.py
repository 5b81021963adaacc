"""Several subjects beside each other, each in a process of its own that judges one mutant after the other.

To get ready to judge (to explore a protocol, to prove a machine) takes one process a while; so the processors are kept
busy by different subjects. Interrupting the caller ends all of them, each with the fates so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from thence.conformance.mutation.run import Limits, Progress, Score, mutants_of, mutate
from thence.conformance.mutation.subjects import Subject
from thence.conformance.tasks.lanes import LaneLost, run_lanes
from thence.conformance.tasks.running import INTERRUPTED

_Told: TypeAlias = tuple[str, int, int]
"""What `Progress` is given."""


def mutate_all(
    subjects: Sequence[Subject], limits: Limits, progress: Progress, folder: Path | None = None
) -> tuple[list[Score], str]:
    """The scores, in the subjects' order, and why some are not there: the caller is interrupted, or a process was
    killed. Empty: all are.

    Raises: as `mutate`.
    """
    lanes = max(1, min(limits.jobs, len(subjects)))
    each = replace(limits, jobs=max(1, limits.jobs // lanes))
    if len(subjects) == 1:
        score = mutate(subjects[0], each, progress, folder)
        return [score], INTERRUPTED if score.why_incomplete == INTERRUPTED else ""
    largest_first = sorted(range(len(subjects)), key=lambda number: -len(mutants_of(subjects[number])[0]))
    done: dict[int, Score] = {}
    lost: list[int] = []

    def work(number: int, tell: Callable[[_Told], None]) -> Score:
        return mutate(subjects[number], each, lambda *told: tell(told), folder)

    def take(number: int, outcome: Score | Exception) -> None:
        if isinstance(outcome, LaneLost):
            lost.append(number)
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            done[number] = outcome

    interrupted = run_lanes(largest_first, work, lanes, lambda _, told: progress(*told), take)
    interrupted |= any(score.why_incomplete == INTERRUPTED for score in done.values())
    why = INTERRUPTED if interrupted else ""
    if lost and not interrupted:
        names = ", ".join(subjects[number].name for number in sorted(lost))
        why = f"{names}: the process ended by itself: out of memory, or killed"
    return [done[number] for number in sorted(done)], why
