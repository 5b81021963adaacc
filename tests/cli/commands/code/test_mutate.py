"""`thence mutate`, `matrix` and `cover` as they are used."""

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
from at_work import until_at_work

Thence = Callable[..., Any]

THENCE = str(Path(sys.executable).parent / "thence")


@pytest.mark.long
def test_a_score_with_its_mutants(thence: Thence, tmp_path: Path) -> None:
    ran = thence("mutate", "mf", "mf", "--limit", "6", "--json")
    [result] = ran.object["results"]
    assert ran.code == 0 and result["verdict"] == "tested" and result["level"] == "L0"
    assert result["mutants"]["total"] == 6
    assert sum(count for name, count in result["mutants"].items() if name != "total") == 6
    assert result["score"] == 1.0 and result["alive"] == []
    assert all(mutant["reason"] for mutant in result["killed"])


def test_what_stays_alive_is_saved_and_the_score_can_be_asked_for(thence: Thence, tmp_path: Path) -> None:
    """A protocol that states nothing: nothing notices that it never delivers."""
    file = tmp_path / "weak.thence"
    file.write_text(
        "protocol weak:\n  network reliable, reordering\n\n  message MSG(m: message) carries m\n\n"
        "  on causal_send(m):\n    send MSG(m) to m.dst\n\n  on receive MSG(m) from i:\n    deliver m\n\n"
        "  property no_creation\n"
    )
    ran = thence("mutate", file, "--save", "alive", "--at-least", "0.95", "--json")
    [result] = ran.object["results"]
    assert ran.code == 1 and not result["expected"] and result["score"] < 0.95
    saved = sorted(path.name for path in (tmp_path / "alive").iterdir())
    assert len(saved) == len(result["alive"]) > 0
    for name in saved:
        assert thence("check", f"alive/{name}").code == 0


@pytest.mark.long
def test_fates_are_kept_between_runs(thence: Thence, tmp_path: Path) -> None:
    """The second run takes them from the folder; a run of more goes on from there."""
    first = thence("mutate", "mf", "mf", "--limit", "4", "--results", "kept", "--json")
    [file] = (tmp_path / "kept").iterdir()
    lines = file.read_text(encoding="utf-8").splitlines()
    assert first.code == 0 and len(lines) == 4
    again = thence("mutate", "mf", "mf", "--limit", "4", "--results", "kept", "--json")
    assert again.object["results"][0]["killed"] == first.object["results"][0]["killed"]
    assert file.read_text(encoding="utf-8").splitlines() == lines
    file.write_text(lines[0].replace("killed", "survived", 1) + "\n" + lines[1][:20], encoding="utf-8")
    changed = thence("mutate", "mf", "mf", "--limit", "4", "--results", "kept", "--json").object["results"][0]
    assert changed["mutants"]["survived"] == 1, "what is there is taken"
    assert changed["mutants"]["killed"] == first.object["results"][0]["mutants"]["killed"] - 1
    [alive] = changed["alive"]
    assert alive["explanation"] == "" and changed["file"] == "mf"


@pytest.mark.long
def test_a_budget_leaves_it_unknown(thence: Thence) -> None:
    ran = thence("mutate", "hybrid_basic", "hybrid_basic", "--budget", "0.1", "--json")
    [result] = ran.object["results"]
    assert ran.code == 3 and result["verdict"] == "unknown" and "out of time" in result["unknown"]


@pytest.mark.long
def test_bad_input(thence: Thence, tmp_path: Path) -> None:
    assert thence("mutate", "mf", "nf").rejects("nf", "mf")
    assert thence("mutate", "execution").rejects("execution", "neither")
    assert thence("mutate", "mf", "impl", "--impl", "thence.impl.mf:XX").rejects("XX")
    assert thence("mutate", "mf", "impl", "--impl", "thence.impl.rst:RST").rejects("fails without a fault")
    assert thence("mutate", "--impl", "thence.impl.mf:MF").rejects("one file")
    assert thence("mutate", "--links", "0 to 1").rejects("one file")
    assert thence("mutate", "dijkstra_scholten", "--links", "0 to 1").rejects("name impl")
    assert thence("mutate", "mf", "impl", "--links", "0 to 1").rejects("the network of mf is none")
    assert thence("mutate", "dijkstra_scholten", "impl", "--links", "0 to 0").rejects("linked to itself")
    (tmp_path / "file").touch()
    assert thence("mutate", "mf", "--results", "file/x").rejects("file/x")
    assert thence("mutate", "mf", "--save", "file/x").rejects("file/x")
    assert thence("matrix", "mf", "--impl", "nothing:X").rejects("no module nothing")
    assert thence("matrix").rejects("--impl")
    assert thence("cover", "mf", "--impl", "protocol:mf#nothing").rejects("no mutant nothing")


@pytest.mark.long
def test_interrupted_it_says_what_it_has(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [THENCE, "mutate", "hybrid_basic", "hybrid_basic", "--json"], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until_at_work(process, 8)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    found = json.loads(out)
    assert process.returncode == found["exit"] == 3 and err == "" and found["complete"] is False
    [result] = found["results"]
    assert result["verdict"] == "unknown" and "interrupted" in result["unknown"]
    deadline = time.monotonic() + 20
    while processes_in(tmp_path):
        assert time.monotonic() < deadline, "a judge outlives the command"
        time.sleep(0.1)


def test_a_signal_to_all_its_processes_interrupts_it(tmp_path: Path) -> None:
    """As service managers end a command: the processes of its subjects get the signal, too."""
    process = subprocess.Popen(
        [THENCE, "mutate", "hybrid_basic", "hybrid_basic", "impl", "--json"], cwd=tmp_path, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(processes_in(tmp_path)) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGTERM)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    found = json.loads(out)
    assert process.returncode == found["exit"] == 3 and err == ""
    assert found.get("complete") is False and "error" not in found


def processes_in(folder: Path) -> list[int]:
    """Processes that run in the folder: the command's, and those that it started."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                where = (place / "cwd").readlink()
            except OSError:
                continue
            if where == folder:
                found.append(int(place.name))
    return found


def test_the_matrix_of_a_faulty_system(thence: Thence) -> None:
    tests = Path(__file__).parents[3]
    ran = thence("matrix", "rst", "--impl", "faults.rst:MergeDiscarded", "--cases", "40", "--json", cwd=tests)
    results = ran.object["results"]
    assert ran.code == 1
    by_name = {result["name"]: result for result in results}
    cell = by_name["reordering, unicast"]
    assert cell["verdict"] == "refuted" and cell["claimed"] and not cell["expected"]
    assert cell["counterexample"]["operations"] and cell["findings"][0].startswith("causal")
    assert by_name["loss, unicast"]["expected"], "nothing is claimed of it"
    assert thence("matrix", "rst", "--cases", "12").code == 0


def test_no_mutants_are_no_verdict(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "idle.thence").write_text(
        "protocol idle:\n  network reliable, reordering\n  message MSG(m: message) carries m\n"
        "  on causal_send(m): pass\n  on receive MSG(m) from j: pass\n"
    )
    ran = thence("mutate", "idle.thence", "--json")
    (result,) = ran.object["results"]
    assert (ran.code, result["verdict"], result["score"]) == (3, "unknown", None)


def test_a_shipped_implementation_is_not_of_a_file_of_its_name(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "fifo.thence").write_text(
        "protocol fifo:\n  network reliable, reordering\n  message MSG(m: message) carries m\n"
        "  on causal_send(m): pass\n  on receive MSG(m) from j: pass\n"
    )
    refused = thence("mutate", "fifo.thence", "impl")
    assert (refused.code, refused.out) == (
        2,
        "",
    ) and "there is no protocol, machine or implementation impl" in refused.err
