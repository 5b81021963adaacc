"""`thence bmc` as it is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]


def test_a_machine_of_any_size(thence: Thence) -> None:
    found = thence("bmc", "mf", "buffers", "--depth", "4", "--property", "causal", "--json")
    (result,) = found.object["results"]
    assert found.code == 0
    assert (result["kind"], result["verdict"], result["level"]) == ("machine", "holds", "L1")
    assert result["bound"] == {"steps": 4} and result["depth"] == 4 and result["obligations"] == 5


def test_a_mutant_of_a_machine(thence: Thence) -> None:
    found = thence("bmc", "mf", "does_not_wait", "--depth", "6", "--json")
    results = {result["name"]: result for result in found.object["results"]}
    assert found.code == 0 and set(results) == {"one_at_a_time", "fifo", "causal"}
    assert results["fifo"]["verdict"] == "refuted" and results["fifo"]["depth"] == 6
    shallow = thence("bmc", "mf", "does_not_wait", "--depth", "2", "--property", "fifo", "--json")
    assert shallow.code == 3 and shallow.object["results"][0]["verdict"] == "unknown"
    deeper = thence("bmc", "mf", "does_not_wait", "--depth", "4", "--property", "fifo", "--json")
    assert deeper.code == 3 and "may take more" in deeper.object["results"][0]["unknown"]


def test_a_violation_that_is_stated_and_too_deep(thence: Thence) -> None:
    words = ("bmc", "mf", "posts_at_once", "--scope", "two", "--property", "fifo")
    deep, shallow = thence(*words, "--depth", "3"), thence(*words, "--depth", "2", "--json")
    assert deep.code == 0 and "refuted" in deep.out
    assert shallow.code == 3 and shallow.object["results"][0]["verdict"] == "unknown"
    assert "1 unknown" in thence(*words, "--depth", "2").out


def test_a_protocol_in_a_scope(thence: Thence, tmp_path: Path) -> None:
    words = ("mf", "posts_at_once", "--scope", "two", "--depth", "4", "--property", "fifo", "--property", "csps")
    found = thence("bmc", *words, "--json")
    results = {result["property"]: result for result in found.object["results"]}
    assert results["fifo"]["verdict"] == "refuted" and results["fifo"]["depth"] == 3 and results["fifo"]["expected"]
    assert results["csps"]["depth"] == 4 and results["fifo"]["bound"]["steps"] == 4
    (tmp_path / "found.json").write_text(found.out)
    again = thence("run", "mf", "--mutant", "posts_at_once", "--scope", "two", "--replay", "found.json", "--json")
    assert "fifo" in again.object["results"][0]["violated"]
    shown = thence("bmc", *words)
    assert "refuted" in shown.out and "delivers m" in shown.out


def test_options_of_the_scope(thence: Thence) -> None:
    found = thence("bmc", "rst", "rst", "--processes", "2", "--sends", "1", "--depth", "8", "--json")
    results = found.object["results"]
    assert found.code == 0 and {result["verdict"] for result in results} == {"holds"}
    assert all(result["complete"] for result in results)
    assert results[0]["scope"]["sends"] == [1, 1]


def test_what_is_not_decided(thence: Thence) -> None:
    found = thence("bmc", "hybrid_basic", "hybrid_basic", "--scope", "one", "--depth", "1", "--property", "delivered")
    assert found.code == 3 and "timers" in found.out


@pytest.mark.parametrize(
    "words",
    [
        ("nothing",),
        ("mf", "nothing"),
        ("mf", "buffers", "--property", "nothing"),
        ("mf", "mf", "--property", "nothing"),
        ("mf", "mf", "--scope", "nothing"),
        ("mf", "mf", "--sends", "many"),
        ("execution",),
    ],
)
def test_bad_input(thence: Thence, words: tuple[str, ...]) -> None:
    assert thence("bmc", *words, "--depth", "2").rejects()


def test_bad_usage(thence: Thence) -> None:
    assert thence("bmc", "mf", "--depth", "0").code == 2
    assert thence("bmc", "mf", "--depth", "0", "--json").object["error"]


def test_what_it_passes_over(thence: Thence) -> None:
    found = thence("bmc", "two_phase_commit", "commitment", "--depth", "1")
    assert found.code == 0 and "commit_stays" in found.out and "'thence prove' judges these" in found.out
    named = thence("bmc", "two_phase_commit", "commitment", "--depth", "1", "--property", "agreement")
    assert named.code == 0 and "commit_stays" not in named.out
    mutant = thence("bmc", "two_phase_commit", "tells_before_it_logs", "--depth", "1")
    assert "'thence prove' judges these" not in mutant.out
