"""Processor time of an exploration in memory, in files, and by workers of Spark: `python bench/spark_exploration.py`.

Each command runs once, in turn. The processes below it are looked at several times a second, since those of Spark are
not waited for; the last fifth of a second of each may be missing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
EXPLORE = ("explore", "cykas", "--sends", "3", "--reductions", "none", "--property", "causal")
WAYS = {
    "in memory, one thread": ("--threads", "1"),
    "--storage disk --memory 256M": ("--storage", "disk", "--memory", "256M"),
    "--master local[1] --memory 256M": ("--master", "local[1]", "--memory", "256M"),
    "--master local[2] --memory 256M": ("--master", "local[2]", "--memory", "256M"),
}


def below(root: int) -> dict[int, tuple[str, float]]:
    """Each process from `root` down: its command, and the seconds of processor time that it took."""
    parents, found = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (place / "stat").read_text().partition(" (")[2].rpartition(") ")
        except OSError:
            continue
        words = rest.split()
        parents[int(place.name)] = int(words[1])
        found[int(place.name)] = (name, (int(words[11]) + int(words[12])) / TICKS)
    chosen = {root}
    while more := {pid for pid, parent in parents.items() if parent in chosen} - chosen:
        chosen |= more
    return {pid: found[pid] for pid in chosen if pid in found}


def measured(way: tuple[str, ...]) -> tuple[str, dict[str, float]]:
    """The counts, and the processor time in seconds by command."""
    command = [Path(sys.executable).with_name("thence"), *EXPLORE, *way]
    seen: dict[int, tuple[str, float]] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        while process.poll() is None:
            seen |= below(process.pid)
            time.sleep(0.2)
        output = process.stdout.read() if process.stdout else ""
    times: dict[str, float] = {}
    for name, seconds in seen.values():
        times[name] = times.get(name, 0) + seconds
    counts = re.search(r"[\d,]+ states; [\d,]+ transitions", output)
    return counts[0] if counts else output, times


if __name__ == "__main__":
    for name, way in WAYS.items():
        counts, times = measured(way)
        parts = ", ".join(f"{command} {seconds:.1f}" for command, seconds in sorted(times.items()))
        print(f"{name}: {counts}; {sum(times.values()):.1f} s of processor time ({parts})", flush=True)
