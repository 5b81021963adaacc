"""Processes that run side by side, each for one batch of work; an interrupt ends all of them at once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from thence.proofs.solving.worker_process import STUCK, WATCHED_S, clock_of

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


MOST_OUTPUT_BYTES = 1 << 29
"""Limit on the output that is read; a proof that is cut there is none."""


@dataclass(slots=True)
class Processes:
    """The processes that run now. After `kill` no process is started any more."""

    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: bool = False

    def output(self, command: Sequence[str], limit_s: float, given: bytes = b"") -> str:
        """The standard output of a program until it ends, or is killed when its time is over: by the clock, and by its
        own processor time, since a busy machine gives it little. What hangs is killed after `STUCK` times as long.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as told:
            told.write(given)
            told.seek(0)
            with self._lock:
                if self._over:
                    return ""
                process = subprocess.Popen(
                    command,
                    stdin=told,
                    stdout=output,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    env=_environment(),
                )
                self._running.add(process)
            try:
                _wait(process, limit_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            finally:
                with self._lock:
                    self._running.discard(process)
            output.seek(0)
            return output.read(MOST_OUTPUT_BYTES).decode("utf-8", "replace")

    def kill(self) -> None:
        """Ends all of them."""
        with self._lock:
            self._over = True
            for process in self._running:
                process.kill()


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> None:
    """Waits until it ends. Raises: TimeoutExpired, once its time is over."""
    hangs_at, wait_s = time.monotonic() + limit_s * STUCK, limit_s
    while True:
        try:
            process.wait(wait_s)
            return
        except subprocess.TimeoutExpired:
            worked_s = clock_of(process.pid)
            if worked_s is None or worked_s >= limit_s or time.monotonic() >= hangs_at:
                raise
            wait_s = WATCHED_S


def _environment() -> dict[str, str]:
    """The environment, with hash seeds fixed, so that the same work has the same outcome."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONHASHSEED": "0"}


def side_by_side(
    work: Callable[[Processes, Sequence[Item]], list[Outcome]], items: Sequence[Item], batch: int, workers: int
) -> tuple[Outcome, ...]:
    """The outcomes of all items in order; `work` is given batches of them, `workers` at a time."""
    processes = Processes()
    threads = ThreadPoolExecutor(workers)
    try:
        batches = [items[start : start + batch] for start in range(0, len(items), batch)]
        done = [threads.submit(work, processes, each) for each in batches]
        return tuple(outcome for each in done for outcome in each.result())
    finally:
        processes.kill()
        threads.shutdown(wait=True, cancel_futures=True)
