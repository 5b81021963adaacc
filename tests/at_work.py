"""Waiting for a command to be in the midst of its work, on machines of any speed and load."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

LIMIT_S = 300.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def until_at_work(process: subprocess.Popen[str], processor_s: float) -> None:
    """Returns when a process and its descendants have used so much processor time, in seconds.

    A command that is to be interrupted in its work has begun with it then, however busy the machine is.

    Raises:
        AssertionError: it ended by itself before, or 300 s went by.
    """
    until = time.monotonic() + LIMIT_S
    while _processor_s(process.pid) < processor_s:
        assert process.poll() is None, "it ended by itself"
        assert time.monotonic() < until, "it does not work"
        time.sleep(0.05)


def _processor_s(root: int) -> float:
    """The processor time of a process and its descendants: those that run, and those that were waited for."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        ticks[pid] = sum(map(int, fields[11:15]))
    family = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        if not more:
            return sum(ticks.get(pid, 0) for pid in family) / TICKS_PER_S
        family |= more
