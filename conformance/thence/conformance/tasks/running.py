"""All tasks run, as far as nobody interrupts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Final, TypeVar

from thence.conformance.tasks.pool import PoolLost, TaskPool

T = TypeVar("T")
R = TypeVar("R")

TOLD_EVERY_S = 0.5

INTERRUPTED: Final = "interrupted"
"""Why not all tasks were done, where Ctrl-C came."""


def run_tasks(
    pool: TaskPool,
    work: Callable[[T], R],
    tasks: Sequence[T],
    done: Callable[[T, Future[R]], None],
    told: Callable[[Sequence[T]], None] = lambda running: None,
) -> str:
    """Runs the tasks in this order; why not all were done: Ctrl-C came, or the pool was lost. Empty: all were.

    Where a process dies, the tasks that may have been on it are done again, one after the other. A task that a process
    dies of while nothing else is being done has no result but this; all others have theirs.

    Args:
        done: is given each task with its finished future, in the order in which they finish.
        told: is told now and then which tasks run.

    Raises: whatever `done` raises; the tasks that are left are given up.
    """
    whole = False
    waiting, suspects = list(tasks), list[T]()
    try:
        while waiting or suspects:
            alone = bool(suspects)
            batch, suspects, waiting = (suspects[:1], suspects[1:], waiting) if alone else (waiting, [], [])
            lost = _run_batch(pool, work, batch, done, told, alone=alone)
            if lost is not None:
                most = pool.repair()
                suspects, waiting = (suspects, waiting) if alone else (lost[:most], lost[most:])
        whole = True
    except KeyboardInterrupt:
        return INTERRUPTED
    except PoolLost as lost:
        return str(lost)
    finally:
        if not whole:
            pool.abandon()
    return ""


def _run_batch(
    pool: TaskPool,
    work: Callable[[T], R],
    tasks: Sequence[T],
    done: Callable[[T, Future[R]], None],
    told: Callable[[Sequence[T]], None],
    *,
    alone: bool,
) -> list[T] | None:
    """Runs the tasks, up to the death of a process: then those that are not done, in their order; else None.

    `alone`: it is one task, and a death is what comes of it. Raises: PoolLost.
    """
    futures: dict[Future[R], T] = {}
    for task in tasks:
        try:
            futures[pool.submit(work, task)] = task
        except BrokenExecutor as error:  # a process may die before all are submitted
            futures[_failed(error)] = task
    broken, over = False, list[T]()
    pending = set(futures)
    while pending:
        # A pool calls a future running, too, whose task only waits at hand for the next process that is free.
        told([task for future, task in futures.items() if future in pending and future.running()][: pool.at_once])
        finished, pending = wait(pending, timeout=TOLD_EVERY_S, return_when=FIRST_COMPLETED)
        for future in sorted(finished, key=lambda future: isinstance(future.exception(), PoolLost)):
            failure = future.exception()
            if isinstance(failure, PoolLost):
                raise failure
            died = isinstance(failure, BrokenExecutor)
            broken |= died
            if alone or not died:
                over.append(futures[future])
                done(futures[future], future)
    return [task for task in tasks if task not in over] if broken else None


def _failed(error: Exception) -> Future[R]:
    future: Future[R] = Future()
    future.set_exception(error)
    return future
