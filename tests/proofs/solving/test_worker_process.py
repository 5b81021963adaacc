"""A process that is asked: late when its time or that of the asker is over; what it takes is known meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import combinations, count
from pathlib import Path

import pytest

from thence.proofs.solving import worker_process
from thence.proofs.solving.worker_process import WorkerLate, WorkerProcess, clock_of

ASKING = """
import sys
from thence.proofs.solving import worker_process
from thence.proofs.solving.worker_process import WorkerProcess

names = [[f"p{pigeon}_{hole}" for hole in range(13)] for pigeon in range(14)]
texts = [f"(or {' '.join(row)})" for row in names]
texts += [
    f"(not (and {one[hole]} {other[hole]}))"
    for hole in range(13) for at, one in enumerate(names) for other in names[:at]
]
worker = WorkerProcess("thence.proofs.infer.finite.worker")
constants = {name: "Bool" for row in names for name in row}
worker.ask({"solver": 1, "constants": constants, "assertions": []}, 60.0)
print(worker.pid, flush=True)
asked = {"solver": 1, "constants": {}, "assertions": texts, "assume": [], "values": [], "timeout_ms": 600_000}
worker.ask(asked, 600.0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends it")
def test_a_process_at_work_ends_with_one_that_is_killed() -> None:
    with subprocess.Popen((sys.executable, "-c", ASKING), stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        solver = Path("/proc") / asking.stdout.readline().strip()
        assert "finite.worker" in (solver / "cmdline").read_text()
        time.sleep(1)  # it is at the question
        asking.kill()
    end = time.monotonic() + 20
    while is_there(solver):
        assert time.monotonic() < end, "it is left"
        time.sleep(0.05)


def is_there(process: Path) -> bool:
    """Whether it is there, and is not only waited for."""
    try:
        return "\nState:\tZ" not in (process / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_question_is_late_once_the_time_of_the_asker_is_over() -> None:
    """Whether fourteen pigeons fit into thirteen holes takes much longer. The third look says that it is over."""
    looks = count(1)
    worker = WorkerProcess("thence.proofs.infer.finite.worker")
    sits = [[f"p{pigeon}_{hole}" for hole in range(13)] for pigeon in range(14)]
    somewhere = [f"(or {' '.join(row)})" for row in sits]
    alone = [f"(not (and {one} {other}))" for hole in zip(*sits, strict=True) for one, other in combinations(hole, 2)]
    constants = {name: "Bool" for row in sits for name in row}
    asked = {"solver": 1, "constants": constants, "assertions": [*somewhere, *alone], "assume": [], "values": []}
    try:
        with pytest.raises(WorkerLate):
            worker.ask({**asked, "timeout_ms": 600_000}, 600.0, lambda: next(looks) >= 3)
    finally:
        worker.close()
    assert next(looks) == 4 and worker.processor_s > 0


def test_a_process_that_gets_no_processor_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped until the third look, long after its limit would be over by the clock."""
    monkeypatch.setattr(worker_process, "STUCK", 100_000)
    looks, worker = count(1), WorkerProcess("thence.proofs.infer.finite.worker")

    def goes_on() -> bool:
        if next(looks) == 3:
            os.kill(worker.pid, signal.SIGCONT)
        return False

    asked = {"solver": 1, "constants": {}, "assertions": []}
    try:
        worker.ask(asked, 60.0)
        os.kill(worker.pid, signal.SIGSTOP)
        assert worker.ask(asked, 0.1, goes_on)["status"] == "done"
    finally:
        worker.close()


def test_a_process_that_hangs_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "STUCK", 5)
    worker = WorkerProcess("thence.proofs.infer.finite.worker")
    asked = {"solver": 1, "constants": {}, "assertions": []}
    try:
        worker.ask(asked, 60.0)
        os.kill(worker.pid, signal.SIGSTOP)
        with pytest.raises(WorkerLate):
            worker.ask(asked, 0.1)
    finally:
        worker.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not show the clocks of processes")
def test_what_a_process_takes_is_known_before_it_answers_and_after_its_end() -> None:
    worker = WorkerProcess("thence.proofs.infer.finite.worker")
    while not worker.processor_s:  # it starts
        pass
    before = worker.processor_s
    worker.kill()
    assert worker.processor_s >= before
    worker.close()
    after = worker.processor_s
    assert after >= before and clock_of(worker.pid) is None and worker.processor_s == after
