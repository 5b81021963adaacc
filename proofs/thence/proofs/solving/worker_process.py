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
from collections.abc import Mapping
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


class WorkerDied(Exception):
    """The process ended before it answered. The message has its exit code."""


class WorkerLate(Exception):
    """The process did not answer in time."""


class WorkerProcess:
    """One process. Not shared between threads, apart from `kill`.

    `processor_s`: the processor time that it had taken when it last said so.
    """

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],  # no module of the folder that the user is in
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**_MEMORY, **os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self._buffer = b""
        self._number = 0
        self.processor_s = 0.0

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """The exit code; None: the process still runs."""
        return self._process.poll()

    def ask(self, request: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        """The answer to the request. A long request gets a second more for each megabyte.

        Raises: WorkerDied, WorkerLate.
        """
        started = time.monotonic()
        self._number += 1
        line = json.dumps({"id": self._number, **request}) + "\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._died() from error
        answer = self._answer(started + limit_s + len(line) / 1_000_000)
        assert answer["id"] == self._number
        self.processor_s = answer.pop("processor_s", self.processor_s)
        return answer

    def _answer(self, deadline: float) -> dict[str, Any]:
        """The next line of the process."""
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise WorkerLate
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
        self._process.kill()

    def close(self) -> None:
        """Kills the process and closes its streams."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue
