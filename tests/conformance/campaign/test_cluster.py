"""Campaigns on a Spark cluster of its own: a master and two workers on the loopback, which die on the way."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pyspark
import pytest

from thence.conformance.campaign import CampaignParameters, Tally, cluster, report, status
from thence.conformance.campaign.shipping import as_on_a_worker
from thence.conformance.java import ensure_java

PATIENCE_S = 180.0
EXAMPLES = Path(__file__).parents[3] / "conformance" / "examples" / "python"

MINE = '''"""An implementation that only its author has."""

from thence.impl.rst import RST


class Mine(RST):
    """As shipped."""
'''


@pytest.mark.long
@pytest.mark.spark
def test_what_is_sent_runs_on_workers_that_die_and_nothing_is_lost_repeated_or_left_running(
    tmp_path: Path, tally_of: Callable[[CampaignParameters], Tally], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module by --py-files, in process and isolated, and a program by --archives; a worker is killed, and an
    executor of the other one.
    """
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    name = f"adapter-{os.getpid()}"
    place = tmp_path / "at home"
    place.mkdir()
    (place / "mine.py").write_text(MINE)
    pack_adapter(place / "program.tar.gz", name)
    systems: list[dict[str, Any]] = [
        {"system": "mine:Mine", "protocol": "rst"},
        {"system": "isolated:mine:Mine", "protocol": "rst"},
        {"system": f"exec:./program/{name}", "protocol": None},
        {"system": f"exec:./program/{name} --faulty", "protocol": None},
    ]
    (place / "systems.json").write_text(json.dumps(systems))
    command: list[str | Path] = [
        Path(sys.executable).parent / "thence", "campaign", "start", tmp_path / "campaign", "--systems", "systems.json",
        "--trust-file",
        "--py-files", "mine.py", "--archives", "program.tar.gz#program", "--cases", "900", "--batch", "100",
        "--partitions", "4", "--scheduler", "uniform", "--reply-limit", "60", "--start-limit", "60", "--json",
    ]  # fmt: skip
    with two_workers(tmp_path) as (url, doomed, other), in_folder(place, [*command, "--master", url]) as campaign:
        wait_for(lambda: batches(tmp_path / "campaign") >= 2 and len(running(name)) >= 2)
        os.killpg(doomed.pid, signal.SIGKILL)
        done = batches(tmp_path / "campaign")
        wait_for(lambda: batches(tmp_path / "campaign") >= done + 2)
        executors = executors_of(other.pid)
        for pid in executors:
            os.kill(pid, signal.SIGKILL)
        printed, _ = campaign.communicate(timeout=PATIENCE_S)
    assert executors, "an executor of the other worker was there to be killed"
    assert campaign.returncode == 1
    [said] = json.loads(printed)["results"]
    assert (said["verdict"], said["cases"], said["events"] > 0) == ("refuted", 900, True)
    wait_for(lambda: not running(name))
    parameters = status(tmp_path / "campaign").parameters
    final = report(tmp_path / "campaign").status
    assert final.complete
    with as_on_a_worker(parameters.py_files, parameters.archives):
        assert final.tally == tally_of(parameters)
    failures = {system: count.failures > 0 for system, count in final.tally.systems.items()}
    assert failures == {each["system"]: "--faulty" in each["system"] for each in systems}
    assert final.tally.errors == 0


@pytest.mark.long(share=0)
@pytest.mark.spark
def test_the_commands_of_the_page_run_on_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/how-to/run-on-a-cluster.md, with the address of this test's master."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("COLUMNS", "140")
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "run-on-a-cluster.md").read_text(encoding="utf-8")
    [written] = re.findall(r"<!-- file: mine\.py -->\n```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mine.py").write_text(written)
    shown = re.findall(r"^\$ (thence .*)\n(.*)$", page, re.MULTILINE)
    assert [command.split()[:3] for command, _ in shown] == [
        *(["thence", "campaign", verb] for verb in ("start", "status", "resume")),
        ["thence", "explore", "cykas"],
    ]
    with two_workers(tmp_path) as (url, _, _):
        for command, expected in shown:
            words = command.replace("spark://127.0.0.1:7077", url).split()[1:]
            done = subprocess.run(
                [Path(sys.executable).parent / "thence", *words],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
            )
            assert done.stdout.startswith(expected.removesuffix("...")), command


def test_that_tasks_wait_for_an_executor_is_said_once_and_so_is_their_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Not before `WITHOUT_LOOKS` looks in a row; and nothing more once Spark is lost."""

    def look(_context: object, _master: str) -> bool:
        match next(looks):
            case bool() as without:
                return without
            case error:
                raise error

    monkeypatch.setattr(cluster, "LOOKED_EVERY_S", 0.001)
    monkeypatch.setattr(cluster, "_is_without_executors", look)
    few = [True] * (cluster.WITHOUT_LOOKS - 1)
    none, again = "no executor at spark://there:7077", "has executors again"
    for seen, expected in (
        ([*few, False, *few, False], []),
        ([*few, True, True, True], [none]),
        ([*few, True, True, False, False, *few, True], [none, again, none]),
    ):
        looks: Iterator[bool | OSError] = iter([*seen, OSError("lost")])
        caplog.clear()
        cluster._watch(SimpleNamespace(getConf=dict), "spark://there:7077", Event())  # type: ignore[arg-type]
        assert len(caplog.messages) == len(expected)
        assert all(part in message for part, message in zip(expected, caplog.messages, strict=True))


def pack_adapter(target: Path, name: str) -> None:
    """The example in Python as a program of its own in an archive, which the workers have no other copy of."""
    folder = target.parent / "program"
    folder.mkdir()
    text = (EXAMPLES / "adapter.py").read_text(encoding="utf-8")
    (folder / name).write_text("#!/usr/bin/env python3\n" + text, encoding="utf-8")
    (folder / name).chmod(0o755)
    shutil.copy(EXAMPLES / "rst.py", folder)
    with tarfile.open(target, "w:gz") as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, path.name)
    shutil.rmtree(folder)


def in_folder(folder: Path, command: Sequence[str | Path]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def batches(directory: Path) -> int:
    return len(list(directory.glob("batches/seeds-*")))


def running(name: str) -> set[int]:
    """The processes whose command has the name in it."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if name.encode() in command:
            found.add(int(place.name))
    return found


def executors_of(worker: int) -> list[int]:
    """The processes of the executors that a worker has started; they are in its process group."""
    found = []
    for pid in running("CoarseGrainedExecutorBackend"):
        try:
            group = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[2])
        except OSError:
            continue
        if group == worker:
            found.append(pid)
    return found


@contextmanager
def two_workers(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
    """The URL of a master, and its workers."""
    with daemon(folder, "master.Master", "--host", "127.0.0.1", "--port", "0") as (_, log):
        url = logged(log, r"(spark://127\.0\.0\.1:\d+)")
        worker = ("worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g")
        with daemon(folder, *worker, url) as (one, first), daemon(folder, *worker, url) as (other, second):
            for each in (first, second):
                logged(each, "(Successfully registered)")
            yield url, one, other


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
    }
    command: list[str | Path] = [
        home / "bin" / "spark-class",
        f"org.apache.spark.deploy.{name}",
        "--webui-port",
        "0",
        *arguments,
    ]
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


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.05)


@pytest.mark.long(share=0)
@pytest.mark.spark
def test_tasks_of_verify_outlive_executors_and_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors are killed: their tasks are done again. Ctrl-C: what is done is kept, and the next run goes on."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    verify = [Path(sys.executable).parent / "thence", "verify", "bj87", "hybrid_basic_printed", "rst_mf", "--json"]
    verify += ["--campaign-cases", "0", "--cases", "50"]
    kept = tmp_path / "kept"

    def done() -> int:
        return len(list(kept.glob("task-*.json")))

    with two_workers(tmp_path) as (url, one, other):
        command = [*verify, "--results", kept, "--master", url]
        with in_folder(tmp_path, command) as interrupted:
            wait_for(lambda: done() >= 2)
            interrupted.send_signal(signal.SIGINT)
            printed, _ = interrupted.communicate(timeout=PATIENCE_S)
        assert (interrupted.returncode, json.loads(printed)["complete"]) == (3, False)
        before = done()
        assert before >= 2
        with in_folder(tmp_path, command) as resumed:
            wait_for(lambda: done() > before)
            executors = [pid for worker in (one, other) for pid in executors_of(worker.pid)]
            for pid in executors:
                os.kill(pid, signal.SIGKILL)
            printed, _ = resumed.communicate(timeout=2 * PATIENCE_S)
    assert executors
    assert resumed.returncode == 0
    here = subprocess.run(verify, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert without_seconds(json.loads(printed)["results"]) == without_seconds(json.loads(here.stdout)["results"])


def without_seconds(found: Any) -> Any:
    """JSON without what every run measures anew."""
    if isinstance(found, dict):
        return {name: without_seconds(value) for name, value in found.items() if name != "seconds"}
    return [without_seconds(each) for each in found] if isinstance(found, list) else found


@pytest.mark.long(share=0)
@pytest.mark.spark
def test_workers_with_another_program_do_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their interpreter has one more module of Thence. Nothing that they say is taken, or kept."""
    (tmp_path / "more" / "thence").mkdir(parents=True)
    (tmp_path / "more" / "thence" / "more.py").write_text("")
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path / "more"}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(other))
    start = ["campaign", "start", "night", "--protocol", "rst", "--cases", "4"]
    with two_workers(tmp_path) as (url, _, _):
        for words in (start, ["verify", "fifo", "--campaign-cases", "0", "--results", "kept"]):
            command = [Path(sys.executable).parent / "thence", *words, "--master", url]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stdout) == (2, ""), done.stdout
            assert "a worker has another Thence" in done.stderr and "Traceback" not in done.stderr
    assert not batches(tmp_path / "night") and not any((tmp_path / "kept").iterdir())


@pytest.mark.long(share=0)
@pytest.mark.spark
@pytest.mark.parametrize("named", [["--protocol", "rst", "--impl", "mine:Mine"], ["--protocol", "mine.thence"]])
def test_workers_with_another_file_of_the_same_name_do_no_case(
    named: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their class, or their protocol, is another one: its outcomes say nothing about this one."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, more in ((here, ""), (there, "# another\n")):
        folder.mkdir()
        (folder / "mine.py").write_text(MINE + more)
        (folder / "mine.thence").write_text(more + "protocol p:\n  message M(m: message) carries m\n"
            "  on causal_send(m): send M(m) to m.dst\n  on receive M(m) from j: deliver m\n")  # fmt: skip
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ncd "{there}"\nPYTHONPATH="{there}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(python))
    if "--impl" not in named:
        named = [*named, "--impl", "protocol:mine.thence"]
    with two_workers(tmp_path) as (url, _, _):
        words = ["campaign", "start", "night", *named, "--cases", "4", "--master", url]
        command = [Path(sys.executable).parent / "thence", *words]
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stdout
    assert "a worker has another " in done.stderr and " than this machine: send the code" in done.stderr
    assert not batches(here / "night")


@pytest.mark.long(share=0)
@pytest.mark.spark
def test_that_no_worker_is_left_is_said_and_the_work_goes_on_with_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    command: list[str | Path] = [
        Path(sys.executable).parent / "thence", "campaign", "start", "night", "--protocol", "rst", "--cases", "1500",
        "--batch", "100", "--json",
    ]  # fmt: skip
    said = tmp_path / "said"
    with two_workers(tmp_path) as (url, *workers), said.open("wb") as sink:
        campaign = subprocess.Popen([*command, "--master", url], cwd=tmp_path, stdout=subprocess.PIPE, stderr=sink)
        wait_for(lambda: batches(tmp_path / "night") >= 1)
        for worker in workers:
            os.killpg(worker.pid, signal.SIGKILL)
        logged(said, f"(Spark has no executor at {url}: )")
        with daemon(tmp_path, "worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", url) as (
            _,
            log,
        ):
            logged(log, "(Successfully registered)")
            printed, _ = campaign.communicate(timeout=PATIENCE_S)
    assert campaign.returncode == 0, said.read_text()
    assert json.loads(printed)["results"][0]["cases"] == 1500
    assert said.read_text().count("Spark has no executor") == 1


@pytest.mark.long(share=0)
@pytest.mark.spark
def test_ctrl_c_does_not_wait_for_a_master_that_does_not_answer(tmp_path: Path) -> None:
    """Spark itself waits for a minute."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"spark://127.0.0.1:{silent.getsockname()[1]}"
        start = ["campaign", "start", "night", "--protocol", "rst", "--cases", "4", "--master", url]
        with in_folder(tmp_path, [Path(sys.executable).parent / "thence", *start]) as campaign:
            silent.settimeout(PATIENCE_S)
            connection, _ = silent.accept()
            campaign.send_signal(signal.SIGINT)
            campaign.communicate(timeout=45)
        connection.close()
    assert campaign.returncode == 3
    assert not running(str(tmp_path))


@pytest.mark.long(share=0)
@pytest.mark.spark
@pytest.mark.parametrize(
    "command",
    [
        "campaign start night --protocol rst --cases 4",
        "explore cykas --sends 3,2,2 --reductions none --property causal --folder states",
    ],
)
def test_where_no_master_answers_spark_does_not_start(tmp_path: Path, command: str) -> None:
    """Spark itself would go on without one."""
    words = [Path(sys.executable).parent / "thence", *command.split(), "--master", "spark://127.0.0.1:1"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Spark does not start at spark://127.0.0.1:1: no master answers there" in done.stderr
    assert not any(tmp_path.glob("states/*"))
    assert "Traceback" not in done.stderr
