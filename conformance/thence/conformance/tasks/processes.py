"""Tasks in processes of this machine."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Processes:
    """Processes that are forked at the first task, and so know whatever this one has read by then."""

    def __init__(self, processes: int) -> None:
        context = multiprocessing.get_context("fork")
        self._pool = ProcessPoolExecutor(processes, context, signal.signal, (signal.SIGINT, signal.SIG_IGN))

    def submit(self, work: Callable[[T], R], task: T, /) -> Future[R]:
        return self._pool.submit(work, task)

    def abandon(self) -> None:
        for process in list((self._pool._processes or {}).values()):
            process.terminate()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def end(self) -> None:
        self._pool.shutdown(cancel_futures=True)


@contextmanager
def open_processes(processes: int) -> Iterator[Processes]:
    """Processes for the block. This process handles Ctrl-C for them."""
    pool = Processes(processes)
    try:
        yield pool
    finally:
        pool.end()
