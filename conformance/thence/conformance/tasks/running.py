"""All tasks run, as far as nobody interrupts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from thence.conformance.tasks.pool import TaskPool

T = TypeVar("T")
R = TypeVar("R")

TOLD_EVERY_S = 0.5


def run_tasks(
    pool: TaskPool,
    work: Callable[[T], R],
    tasks: Sequence[T],
    done: Callable[[T, Future[R]], None],
    told: Callable[[Sequence[T]], None] = lambda running: None,
) -> bool:
    """Runs the tasks in this order; whether all were done: not, where Ctrl-C ended it.

    Args:
        done: is given each task with its finished future, in the order in which they finish.
        told: is told now and then which tasks run.

    Raises: whatever `done` raises; the tasks that are left are given up.
    """
    whole = False
    try:
        futures = {pool.submit(work, task): task for task in tasks}
        pending = set(futures)
        while pending:
            told([futures[future] for future in futures if future in pending and future.running()])
            finished, pending = wait(pending, timeout=TOLD_EVERY_S, return_when=FIRST_COMPLETED)
            for future in finished:
                done(futures[future], future)
        whole = True
    except KeyboardInterrupt:
        return False
    finally:
        if not whole:
            pool.abandon()
    return True
