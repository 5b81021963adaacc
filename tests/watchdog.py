"""Ends what a test run leaves behind, however the run ends. On Linux.

`conftest` starts this program with a mark. Every process that a test starts inherits the mark in its environment.
When the run is over, finished or killed, the pipe to its standard input closes. Every process with the mark is then
killed.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

VARIABLE = "THENCE_TEST_RUN"
"""The environment variable with the mark."""

ROUNDS = 20
"""A process may start another one while it is being looked for: the search is repeated until it finds nothing."""


def left_behind(mark: str) -> list[int]:
    """The processes with this mark, zombies left out."""
    wanted = f"{VARIABLE}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def main() -> None:
    """Waits for the end of the run, then kills."""
    mark = sys.argv[1]
    sys.stdin.buffer.read()
    for _ in range(ROUNDS):
        found = left_behind(mark)
        if not found:
            return
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.05)


if __name__ == "__main__":
    main()
