"""A Python module that runs as a process of its own: one JSON request a line, one JSON answer a line.

A process that is late or dead is lost: its answers are never waited for again.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

_MEMORY = {
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
    "MALLOC_TOP_PAD_": str(16 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
"""Settings of glibc: a process keeps up to 64 MB that it has freed, in large pages where the system has them. A solver
frees everything after each question, and to get it back from the system costs up to 5 ms. Z3 writes two tables of 8 MB
before each question."""


WATCHED_S = 0.25
"""So often whoever waits for an answer looks whether there is time left."""

STUCK = 20
"""So many times as long as its limit, by the clock, a process may take to answer. A busy machine gives it a small share
of its processors; what takes longer hangs."""


class WorkerDied(Exception):
    """The process ended before it answered. The message has its exit code."""


class WorkerLate(Exception):
    """The process did not answer in time."""


class WorkerProcess:
    """One process, which ends with the thread that starts it (on Linux), so that none is left where Thence is killed.

    Not shared between threads, apart from `kill`, and `processor_s`, which any thread may read.
    """

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            # `-P`: no module of the folder that the user is in
            [sys.executable, "-P", "-m", "thence.spec.parent_process", str(os.getpid()), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**_MEMORY, **os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self._buffer = b""
        self._number = 0
        self._taken_s = 0.0

    @property
    def processor_s(self) -> float:
        """The processor time that it has taken: by its own clock, where the system shows that to others.

        Elsewhere it is as the process last said. Of a question that it did not answer it is the time by the clock then.
        """
        if self._process.returncode is None:  # afterwards its number may be that of another process
            self._taken_s = max(self._taken_s, clock_of(self._process.pid) or 0.0)
        return self._taken_s

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """The exit code; None: the process still runs."""
        return self._process.poll()

    def ask(
        self, request: Mapping[str, Any], limit_s: float, is_over: Callable[[], bool] | None = None
    ) -> dict[str, Any]:
        """The answer to the request. A long request gets a second more for each megabyte.

        The limit is on the processor time of the process. It is late, too, after `STUCK` times as long by the clock,
        the only limit where the system does not show the processor time, and once `is_over` says so, which is asked
        several times a second.

        Raises: WorkerDied, WorkerLate.
        """
        started, before = time.monotonic(), self.processor_s
        self._number += 1
        line = json.dumps({"id": self._number, **request}) + "\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._died() from error
        limit_s += len(line) / 1_000_000

        def is_late() -> bool:
            return self.processor_s - before >= limit_s or time.monotonic() - started >= limit_s * STUCK

        try:
            answer = self._answer(lambda: is_late() or (is_over is not None and is_over()))
        except WorkerLate:
            if clock_of(self._process.pid) is None:
                self._taken_s += time.monotonic() - started
            raise
        assert answer["id"] == self._number
        self._taken_s = max(self._taken_s, answer.pop("processor_s", 0.0))
        return answer

    def _answer(self, is_late: Callable[[], bool]) -> dict[str, Any]:
        """The next line of the process, unless it is late."""
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(WATCHED_S):
                    if is_late():
                        raise WorkerLate
                    continue
                chunk = os.read(self._process.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise self._died()
                self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def _died(self) -> WorkerDied:
        return WorkerDied(f"the solver process died (exit code {self._process.poll()})")

    def kill(self) -> None:
        """Kills the process. Its streams stay open: another thread may be waiting at them."""
        _ = self.processor_s  # while there is somebody to ask
        self._process.kill()

    def close(self) -> None:
        """Kills the process and closes its streams."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue


def clock_of(pid: int) -> float | None:
    """The processor time of another process, in seconds; None where the system does not show it, or it is gone."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the number of this clock, as glibc's `clock_getcpuclockid` makes it
    except OSError:
        return None
