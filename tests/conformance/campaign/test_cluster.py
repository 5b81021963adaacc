"""A campaign on a Spark cluster of its own: a master and two workers on the loopback, one of which dies on the way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from whence.conformance.campaign import CampaignParameters, Status, Tally, report, start
from whence.conformance.java import ensure_java

PATIENCE_S = 60.0


@pytest.mark.xdist_group("spark")
def test_a_worker_and_an_executor_die_and_the_outcome_is_the_same(
    tmp_path: Path, tally_of: Callable[[CampaignParameters], Tally], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner is in a file that only the driver has, and sends."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sent = tmp_path / "sent_runner.py"
    sent.write_text("from campaign_demo import walk as sent_walk\n")
    killed: list[int] = []
    with daemon(tmp_path, "master.Master", "--host", "127.0.0.1", "--port", "0") as (master, log):
        url = logged(log, r"(spark://127\.0\.0\.1:\d+)")
        worker = ("worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g")
        with daemon(tmp_path, *worker, url) as (doomed, first), daemon(tmp_path, *worker, url) as (other, second):
            for each in (first, second):
                logged(each, "(Successfully registered)")

            def strike(now: Status) -> None:
                if now.batches_done == 2:
                    os.killpg(doomed.pid, signal.SIGKILL)
                if now.batches_done == 4:
                    killed.extend(executors_of(other.pid))
                    for pid in killed:
                        os.kill(pid, signal.SIGKILL)

            parameters = CampaignParameters(
                "sent_runner:sent_walk", {"steps": 30, "limit": 9}, cases=1_200, batch=200, partitions=4, master=url,
                py_files=(str(sent),),
            )  # fmt: skip
            final = start(tmp_path / "campaign", parameters, strike)
        assert master.poll() is None
    assert doomed.returncode == -signal.SIGKILL
    assert killed, "an executor of the other worker was there to be killed"
    assert final.complete
    assert final.tally == tally_of(parameters) == report(tmp_path / "campaign").status.tally


def executors_of(worker: int) -> list[int]:
    """The processes of the executors that a worker has started; they are in its process group."""
    found = []
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            command = (place / "cmdline").read_bytes()
            group = int((place / "stat").read_text().rpartition(")")[2].split()[2])
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command and group == worker:
            found.append(int(place.name))
    return found


@contextmanager
def daemon(folder: Path, name: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A Spark daemon in a process group of its own, and its log."""
    home = Path(pyspark.__file__).parent
    log = folder / f"{name}-{time.monotonic_ns()}.log"
    environment = {
        **os.environ,
        "JAVA_HOME": str(ensure_java()),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
        "PYTHONPATH": str(Path(__file__).parent),
    }
    command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", "--webui-port", "0", *arguments]
    with (
        log.open("wb") as sink,
        subprocess.Popen(command, stdout=sink, stderr=sink, env=environment, start_new_session=True) as process,
    ):
        try:
            yield process, log
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)


def logged(log: Path, pattern: str) -> str:
    """The group of `pattern` in the log, as soon as it is there."""
    deadline = time.monotonic() + PATIENCE_S
    while (match := re.search(pattern, log.read_text(errors="replace"))) is None:
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.1)
    return match[1]
