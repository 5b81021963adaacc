"""Campaigns on a real Spark: cut up in any way, killed and resumed, they come to the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from thence.conformance.campaign import (
    CampaignError,
    CampaignParameters,
    Status,
    Tally,
    failing_cases,
    report,
    resume,
    start,
    status,
)
from thence.conformance.campaign.batches import ignore_progress
from thence.conformance.campaign.store import SPARK_LOG, finished_batches, locked, read_rows

pytestmark = pytest.mark.spark

WALK = CampaignParameters(
    "campaign_demo:walk", {"steps": 30, "limit": 9}, first_seed=1_000, cases=900, batch=400, master="local[2]"
)
PATIENCE_S = 60.0

DRIVER = """\
import json, sys
from pathlib import Path
from thence.conformance.campaign import CampaignParameters, start
status = start(Path(sys.argv[1]), CampaignParameters.from_json(json.loads(sys.argv[2])))
print(json.dumps({"interrupted": status.interrupted, "complete": status.complete, "cases": status.tally.cases}))
"""


@pytest.mark.long
@pytest.mark.parametrize("partitions", [2, 7])
def test_the_outcome_does_not_depend_on_the_partitions(
    partitions: int, tmp_path: Path, tally_of: Callable[[CampaignParameters], Tally], capfd: pytest.CaptureFixture[str]
) -> None:
    parameters = replace(WALK, partitions=partitions)
    seen: list[Status] = []
    final = start(tmp_path / "campaign", parameters, seen.append)
    assert final.complete
    assert final.tally == tally_of(parameters)
    assert final.tally.failures > 0
    assert [now.tally.cases for now in seen] == [0, 400, 800, 900]
    assert status(tmp_path / "campaign") == report(tmp_path / "campaign").status == final
    assert seeds_on_disk(tmp_path / "campaign") == list(range(1_000, 1_900))
    assert len(list(failing_cases(tmp_path / "campaign"))) == final.tally.failures
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert "incubator" in (tmp_path / "campaign" / SPARK_LOG).read_text()


@pytest.mark.long
def test_killed_and_resumed_it_comes_to_the_same(
    tmp_path: Path, tally_of: Callable[[CampaignParameters], Tally]
) -> None:
    directory = tmp_path / "campaign"
    parameters = replace(WALK, params={**WALK.params, "pause_s": 0.005}, cases=1_500, batch=100, partitions=4)
    with running(directory, parameters) as process:
        wait_for(lambda: len(list(directory.glob("batches/seeds-*"))) >= 2)
        children = descendants(process.pid)
        assert any("java" in name for name in children.values())
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
    wait_for(lambda: not alive(children))
    partial = status(directory)
    assert 200 <= partial.tally.cases < 1_500
    assert not partial.complete

    final = resume(directory, ignore_progress, partitions=3)
    assert final.complete
    assert final.tally == tally_of(replace(parameters, params=WALK.params))
    assert seeds_on_disk(directory) == list(range(1_000, 2_500))
    assert report(directory).status.tally == final.tally
    assert not list(directory.rglob(".draft-*"))
    assert resume(directory) == status(directory)


@pytest.mark.long
def test_interrupted_from_the_terminal_it_keeps_its_batches_and_leaves_no_process(tmp_path: Path) -> None:
    directory = tmp_path / "campaign"
    parameters = replace(WALK, params={**WALK.params, "pause_s": 0.005}, cases=5_000, batch=100, partitions=4)
    with running(directory, parameters) as process:
        wait_for(lambda: len(list(directory.glob("batches/seeds-*"))) >= 1)
        children = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert err == ""
    said = json.loads(out)
    assert said["interrupted"]
    assert not said["complete"]
    assert status(directory).tally.cases == said["cases"] >= 100
    wait_for(lambda: not alive(children))


@pytest.mark.long
def test_a_worker_that_dies_is_reported_and_the_batches_before_it_are_kept(tmp_path: Path) -> None:
    parameters = replace(WALK, runner="campaign_demo:troubled", params={"how": "die", "at": 1_450})
    interrupt = signal.getsignal(signal.SIGINT)
    with pytest.raises(CampaignError, match=r"Spark lost the seeds 1,400 to 1,799: .*\n.*spark\.log has the details"):
        start(tmp_path / "campaign", parameters)
    assert status(tmp_path / "campaign").tally.cases == 400
    assert signal.getsignal(signal.SIGINT) is interrupt


def test_a_master_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"Spark does not start at nonsense: .*Master must"):
        start(tmp_path / "campaign", replace(WALK, master="nonsense"))
    assert status(tmp_path / "campaign").tally.cases == 0


def test_what_cannot_begin_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CampaignError, match="does not import"):
        start(tmp_path / "campaign", replace(WALK, runner="no_such_module:walk"))
    (tmp_path / "file").write_text("")
    with pytest.raises(CampaignError, match="is a file"):
        start(tmp_path / "file", WALK)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(CampaignError, match="not empty and not a campaign"):
        start(tmp_path / "other", WALK)
    with pytest.raises(CampaignError, match="is not a campaign"):
        resume(tmp_path / "nowhere")
    monkeypatch.setattr("thence.conformance.java.find_java", lambda: None)
    monkeypatch.setattr("thence.conformance.java._packaged", lambda: None)
    with pytest.raises(CampaignError, match=r"needs Java 17 or newer"):
        start(tmp_path / "campaign", WALK)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "letter.txt", "other"]


def test_a_directory_that_another_process_works_on(tmp_path: Path) -> None:
    with locked(tmp_path / "campaign"), pytest.raises(CampaignError, match="another process works on the campaign"):
        start(tmp_path / "campaign", WALK)


def seeds_on_disk(directory: Path) -> list[int]:
    batches = finished_batches(directory, status(directory).parameters)
    return pa.concat_tables([read_rows(batch) for batch in batches]).column("seed").to_pylist()  # type: ignore[no-any-return]


@contextmanager
def running(directory: Path, parameters: CampaignParameters) -> Iterator[subprocess.Popen[str]]:
    """A campaign in a process and a process group of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(directory), json.dumps(parameters.to_json())],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.05)


def descendants(pid: int) -> dict[tuple[int, str], str]:
    """(process id, start time) and name of all processes below `pid`."""
    found: dict[tuple[int, str], str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for entry in Path("/proc").glob("[0-9]*/stat"):
            parts = stat_of(entry)
            if parts is not None and int(parts[1]) == parent:
                found[int(entry.parent.name), parts[19]] = name_of(entry)
                waiting.append(int(entry.parent.name))
    return found


def alive(processes: dict[tuple[int, str], str]) -> list[int]:
    """Those of the processes that still run: same id, same start time, and no zombie."""
    still = []
    for pid, started in processes:
        parts = stat_of(Path(f"/proc/{pid}/stat"))
        if parts is not None and parts[19] == started and parts[0] not in "ZX":
            still.append(pid)
    return still


def stat_of(entry: Path) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on, or None when the process is gone."""
    try:
        return entry.read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def name_of(entry: Path) -> str:
    try:
        return (entry.parent / "cmdline").read_text().partition("\0")[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
