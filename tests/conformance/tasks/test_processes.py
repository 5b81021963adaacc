"""Processes of this machine: none of them outlives the one that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

POOL = """
import os, time
from thence.conformance.tasks.processes import open_processes

def number(_task):
    return os.getpid()

with open_processes(2) as pool:
    print(*{pool.submit(number, task).result() for task in range(50)}, flush=True)
    time.sleep(100)
"""

JUDGES = """
import os, time
from contextlib import contextmanager
from thence.conformance.mutation.workers import judged

@contextmanager
def judge():
    def endless(mutant):
        os.write(1, f"{os.getpid()}\\n".encode())
        time.sleep(100)
    yield endless

list(judged(["one"], judge, jobs=1, limit_s=100))
"""

LANES = """
import os, time
from pathlib import Path
from thence.conformance.mutation import lanes

def endless(*_given):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(100)

lanes.mutate = endless
lanes.mutants_of = lambda subject: ([], None)
lanes.mutate_all(["one", "other"], lanes.Limits(jobs=2), lambda *_told: None)
"""

CHECKERS = """
import os, time
from thence.proofs.closed import confirm

class Reading:
    def checker(self):
        return None

if __name__ == "__main__":
    with confirm._processes(Reading(), 1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(100)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends them")
@pytest.mark.parametrize("script", [POOL, JUDGES, LANES, CHECKERS], ids=["pool", "judges", "lanes", "checkers"])
def test_none_outlives_one_that_is_killed(tmp_path: Path, script: str) -> None:
    (tmp_path / "starting.py").write_text(script)
    with subprocess.Popen((sys.executable, tmp_path / "starting.py"), stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        started = [int(number) for number in starter.stdout.readline().split()]
        began = bool(started) and all(map(is_there, started)) and starter.pid not in started
        starter.kill()
    assert began, started
    end = time.monotonic() + 20
    while any(map(is_there, started)) and time.monotonic() < end:
        time.sleep(0.05)
    left = [number for number in started if is_there(number)]
    for number in left:
        os.kill(number, signal.SIGKILL)
    assert not left


def is_there(number: int) -> bool:
    """Whether the process runs; one that ended and that nobody has asked about does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
