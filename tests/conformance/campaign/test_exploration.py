"""Exploration by workers of Spark: an embedded one, and a cluster of its own that loses a driver and an executor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from tests.conformance.campaign.test_cluster import PATIENCE_S, executors_of, two_workers, wait_for

from thence.conformance.campaign import cluster
from thence.conformance.campaign.alike import UnlikeWorkerError, program_here
from thence.conformance.campaign.crew import sees_files, spark_crew
from thence.conformance.campaign.parameters import CampaignError
from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.explore.crew import CrewLost
from thence.proofs.explore.exploration import Exploration, Method, Resources
from thence.proofs.native.kept_search import MANIFEST
from thence.proofs.native.spread import search as spread
from thence.proofs.scopes.scopes import properties_of

TWO = ir.Workload(3, (2, 2, 2), ((1, 2), (0, 2), (0, 1)))


def protocol_of(name: str, mutant: str | None = None) -> ir.Protocol:
    specification = load(name).specification
    assert specification is not None
    if mutant is None:
        return specification.protocols[0]
    mutated = next(each.mutated for each in specification.mutants if each.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    return mutated


def figures(found: Exploration) -> tuple[int, int, int, bool, dict[str, int]]:
    lengths = {name: len(violation.steps) for name, violation in found.violations.items()}
    return found.states, found.transitions, found.depth, found.complete, lengths


def _fails(_: int) -> int:
    raise OSError("no space left")


@pytest.mark.long
@pytest.mark.spark
def test_an_embedded_spark_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what holds and of what is violated; a task that fails says why, and another program does none."""
    monkeypatch.setattr(spread, "WORTH_SENDING", 4_000)
    with spark_crew("local[2]") as crew:
        for protocol in (protocol_of("cykas"), protocol_of("cykas", "tells_too_early")):
            judged = properties_of(protocol)
            exact = explore(protocol, TWO, judged, method=Method("native", Resources(threads=1)))
            before = crew.tasks
            found = explore(protocol, TWO, judged, method=Method("native", Resources(4 << 20, crew=crew), (), "disk"))
            assert figures(found) == figures(exact)
            assert crew.tasks > before
        with pytest.raises(CrewLost, match="OSError: no space left"):
            crew.map(_fails, [1, 2])
        with pytest.raises(UnlikeWorkerError, match=r"a worker has another Thence \(\w+\) than this machine"):
            monkeypatch.setattr(cluster, "program_here", lambda: {**program_here(), "Thence": "other"})
            crew.map(len, ["four"])
        java: Any = SparkContext._gateway
        java.proc.kill()
        for ask in (lambda: crew.width, lambda: crew.map(abs, [1])):
            with pytest.raises(CrewLost, match="its Java process ended"):
                ask()
    crew.log.unlink()
    assert SparkContext._active_spark_context is None, "another Spark can start in this process"


def test_what_names_no_spark_is_refused() -> None:
    with pytest.raises(CampaignError, match="--master nonsense"):
        sees_files("nonsense")
    assert sees_files("local[*]") and sees_files("local") and not sees_files("spark://here:7077")


@pytest.mark.long(share=0)
@pytest.mark.spark
def test_a_cluster_whose_driver_and_executor_are_killed(tmp_path: Path) -> None:
    """The command is killed with SIGKILL and given again; then an executor is killed. The counts are exact."""
    folder = tmp_path / "states"
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with two_workers(tmp_path) as (url, one, _):
        words = [
            Path(sys.executable).with_name("thence"), "explore", "cykas", "--sends", "3,3,2", "--reductions", "none",
            "--property", "causal", "--memory", "16M", "--folder", str(folder), "--master", url, "--json",
        ]  # fmt: skip

        def levels() -> int:
            found = [*folder.glob(f"*/{MANIFEST}")]
            return len(json.loads(found[0].read_text())["ends"]) if found else 0

        killed = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: levels() > 10 or killed.poll() is not None)
        assert killed.poll() is None, killed.communicate()
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        kept = levels()
        assert kept > 10
        resumed = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + PATIENCE_S
        while resumed.poll() is None and not executors_of(one.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        for executor in executors_of(one.pid):
            os.kill(executor, signal.SIGKILL)
        try:
            output, errors = resumed.communicate(timeout=5 * PATIENCE_S)
        finally:
            resumed.kill()
    assert resumed.returncode == 0, errors
    (result,) = json.loads(output)["results"]
    assert exact_counts() == {name: result[name] for name in ("states", "transitions", "depth")}
    assert not folder.exists() or not any(folder.iterdir())


@pytest.mark.long(share=0)
@pytest.mark.spark
def test_five_million_states_on_a_cluster(tmp_path: Path) -> None:
    """Cykas with 3 sends each to any other, by the workers of a standalone master: the counts of one machine."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with two_workers(tmp_path) as (url, _, _):
        words = [
            Path(sys.executable).with_name("thence"), "explore", "cykas", "--sends", "3", "--reductions", "none",
            "--property", "causal", "--folder", str(tmp_path / "states"), "--master", url, "--json",
        ]  # fmt: skip
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert (result["states"], result["transitions"], result["depth"]) == (5_022_640, 26_348_250, 27)
    assert result["verdict"] == "holds"


def exact_counts() -> dict[str, Any]:
    workload = ir.Workload(3, (3, 3, 2), ((1, 2), (0, 2), (0, 1)))
    found = explore(protocol_of("cykas"), workload, ["causal"], method=Method("native"))
    return {"states": found.states, "transitions": found.transitions, "depth": found.depth}
