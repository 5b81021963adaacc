"""The demonstration: operating-system processes on loopback, their records, and that none of them is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thence.impl.transport.demo import DemoError, DemoSettings, run_demo
from thence.impl.transport.disturbance import Disturbance
from thence.spec.judgement import judge
from thence.spec.trace import read_trace

BAD = Disturbance(loss=0.15, duplication=0.15, delay_ms=4, seed=1)


def alive(pid: int) -> bool:
    """Whether there is such a process that has not ended; one that its parent has not buried yet has."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], limit_s: float = 20.0) -> bool:
    deadline = time.monotonic() + limit_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@pytest.mark.parametrize(
    ("impl", "carrier"),
    [
        ("thence.impl.hybrid_basic:HybridBasic", "udp"),
        ("thence.impl.rst:RST", "tcp"),
        ("thence.impl.cbcast:CBCAST", "udp"),
        ("thence.impl.hybrid_multicast:HybridMulticast", "udp"),
    ],
)
def test_processes_over_a_bad_network_record_a_causal_execution(impl: str, carrier: Any, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    settings = DemoSettings(impl, tmp_path, messages=12, carrier=carrier, disturbance=BAD, time_limit_s=50)
    outcome = run_demo(settings, lambda delivered, sent: told.append((delivered, sent)))
    assert outcome.complete
    assert not outcome.interrupted
    assert outcome.sent == outcome.delivered >= 36
    assert told[-1] == (outcome.delivered, outcome.sent)
    assert sum(counters["lost"] for counters in outcome.counters) > 0
    assert sum(counters["malformed"] + counters["refused"] for counters in outcome.counters) == 0
    recorded = read_trace(outcome.path)
    assert recorded == outcome.trace
    assert recorded.header["system"] == impl
    judgement = judge(recorded.execution)
    assert judgement.faultless
    assert judgement.deliveries == outcome.delivered
    assert not any(alive(pid) for pid in outcome.pids)


def test_an_implementation_that_is_not_causal_is_seen_not_to_be(tmp_path: Path) -> None:
    outcome = run_demo(DemoSettings("thence.impl.fifo:Fifo", tmp_path, messages=40, disturbance=BAD, time_limit_s=50))
    judgement = judge(outcome.trace.execution)
    assert outcome.complete
    assert judgement.fifo
    assert not judgement.causal


def test_what_was_recorded_when_the_time_is_over_is_kept(tmp_path: Path) -> None:
    """Far too many messages for the time."""
    settings = DemoSettings(
        "thence.impl.hybrid_basic:HybridBasic", tmp_path, messages=400, gap_ms=50, disturbance=BAD, time_limit_s=2
    )
    outcome = run_demo(settings)
    assert not outcome.complete
    assert outcome.delivered > 0
    assert outcome.sent < 3 * 400
    assert judge(outcome.trace.execution).causal
    assert read_trace(tmp_path / "trace.ndjson").header["complete"] is False
    assert not any(alive(pid) for pid in outcome.pids)


def test_a_worker_that_dies_is_said_to_and_the_others_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dying.py").write_text(
        "from thence.impl.hybrid_basic import HybridBasic\n"
        "class Dying(HybridBasic):\n"
        "    def receive(self, sender, packet):\n"
        "        raise RuntimeError('out of luck')\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DemoError, match="out of luck"):
        run_demo(DemoSettings("dying:Dying", tmp_path / "out", messages=5, time_limit_s=50))


PARENT = """
import sys
from pathlib import Path
from thence.impl.transport.demo import DemoSettings, run_demo
settings = DemoSettings("thence.impl.fifo:Fifo", Path(sys.argv[1]), messages=10_000, gap_ms=40, time_limit_s=100)
outcome = run_demo(settings, lambda delivered, sent: print(delivered, flush=True))
print("interrupted", outcome.interrupted, "complete", outcome.complete, "alive", outcome.pids, flush=True)
"""


def started(folder: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A demonstration that would take long, and the processes that it has started."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, folder], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    for _ in range(3):
        assert parent.stdout.readline().strip().isdigit()
    found = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if (text := _text(path)) and int(text.rpartition(")")[2].split()[1]) == parent.pid
    ]
    assert len(found) == 3
    return parent, found


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_no_process_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    parent, workers = started(tmp_path)
    parent.kill()
    parent.wait()
    assert parent.stdout is not None
    parent.stdout.close()
    assert wait_until(lambda: not any(map(alive, workers)))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_ctrl_c_ends_all_processes_and_keeps_the_trace(tmp_path: Path) -> None:
    parent, workers = started(tmp_path)
    os.kill(parent.pid, signal.SIGINT)
    out, _ = parent.communicate(timeout=30)
    assert parent.returncode == 0
    assert "interrupted True complete False" in out
    assert not any(map(alive, workers))
    trace = read_trace(tmp_path / "trace.ndjson")
    assert judge(trace.execution).sends > 0


@pytest.mark.parametrize("wrong", [{"processes": 1}, {"processes": 33}, {"messages": 0}, {"time_limit_s": 0}])
def test_settings_out_of_range(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        DemoSettings("thence.impl.fifo:Fifo", tmp_path, **wrong)


def test_a_worker_that_hears_nothing_ends() -> None:
    """Its parent is gone before it says anything, or after the settings."""
    settings = DemoSettings("thence.impl.fifo:Fifo", Path(), messages=1).of_worker(0) | {"record": None}
    command = [sys.executable, "-m", "thence.impl.transport.worker"]
    ran = subprocess.run(command, input=json.dumps(settings) + "\n", capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0
    assert list(json.loads(ran.stdout)) == ["address"]


@pytest.mark.parametrize("bytes_", [64, 5_000])
def test_where_records_cannot_be_written_none_is_left(tmp_path: Path, bytes_: int) -> None:
    """A part of a run looks like a recording, so none stays behind; what was there before a file was opened does."""
    (tmp_path / "p1.ndjson").mkdir()
    with pytest.raises(OSError, match=r"p1\.ndjson"):
        run_demo(DemoSettings("thence.impl.rst:RST", tmp_path, messages=50))
    assert [path.name for path in tmp_path.iterdir()] == ["p1.ndjson"]
    (tmp_path / "p1.ndjson").rmdir()
    program = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({bytes_}, {bytes_}))\n"
        "from pathlib import Path\n"
        "from thence.impl.transport.demo import DemoSettings, run_demo\n"
        "run_demo(DemoSettings('thence.impl.rst:RST', Path(sys.argv[1]), messages=200))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert "OSError" in done.stderr.splitlines()[-1] and ".ndjson" in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
