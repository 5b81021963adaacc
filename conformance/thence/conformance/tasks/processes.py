"""Tasks in processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from thence.spec.parent_process import end_with

T = TypeVar("T")
R = TypeVar("R")


class Processes:
    """Processes that are forked from this one, and so know whatever it has read by then.

    Ctrl-C is for this process alone: it waits while they are forked, until they ignore it. They end with this process,
    even where it is killed. Their temporary files are in `folder`, so that nothing stays of those that are ended.
    """

    def __init__(self, processes: int, folder: str) -> None:
        self.at_once = processes
        self._folder = folder
        self._pool = self._forked()

    def _forked(self) -> ProcessPoolExecutor:
        known = (os.getpid(), self._folder)
        pool = ProcessPoolExecutor(self.at_once, multiprocessing.get_context("fork"), _begin, known)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pool.submit(int)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return pool

    def submit(self, work: Callable[[T], R], task: T, /) -> Future[R]:
        return self._pool.submit(work, task)

    def repair(self) -> int:
        self._pool.shutdown()
        self._pool = self._forked()
        return 2 * self.at_once  # each may have done one task, whose result is lost, and have begun another

    def abandon(self) -> None:
        for process in list((self._pool._processes or {}).values()):
            process.terminate()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def end(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def _begin(parent: int, folder: str) -> None:
    end_with(parent)
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def open_processes(processes: int) -> Iterator[Processes]:
    """Processes for the block. This process handles Ctrl-C for them."""
    with tempfile.TemporaryDirectory(prefix="thence-", ignore_cleanup_errors=True) as folder:
        pool = Processes(processes, folder)
        try:
            yield pool
        finally:
            pool.end()
