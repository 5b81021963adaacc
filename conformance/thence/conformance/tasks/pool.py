"""A pool: whoever does tasks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class PoolLost(Exception):
    """The pool does no task any more; the message says why."""


class TaskPool(Protocol):
    """Does tasks, several at a time, those first that were submitted first."""

    at_once: int
    """So many tasks are being done at a time, at the most."""

    def submit(self, work: Callable[[T], R], task: T, /) -> Future[R]:
        """The result of `work(task)`, once it is there. `work` is a function of a module; what it raises is raised.

        A task may be done again where its process, or its machine, was lost. Where the pool is lost, `PoolLost` is
        raised, of this task and of all that are left.
        """
        ...

    def repair(self) -> int:
        """Puts others in the place of processes that died, which gives up all tasks: their futures have a
        `BrokenExecutor`. As many tasks at most were being done, those that were submitted first."""
        ...

    def abandon(self) -> None:
        """Gives up the tasks that wait or run; their results are lost."""
        ...
