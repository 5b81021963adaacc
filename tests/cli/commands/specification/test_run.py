"""`thence run --scenario`: played, drawn, as JSON; what cannot be played is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Thence = Callable[..., Any]


def test_a_scenario_is_played_and_drawn(thence: Thence, tmp_path: Path) -> None:
    ran = thence("run", "cykas", "--scenario", "cykas_figure_2", "--svg", "figure.svg")
    assert ran.code == 0
    assert "p0" not in ran.out and "UNACK: {} -> {Carol}" in ran.out, "the scenario's names, everywhere"
    assert "Bob receives YCT() from Alice" in ran.out
    assert "as expected" in ran.out
    picture = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert ">m3<" in picture


def test_json_of_a_scenario(thence: Thence) -> None:
    found = thence("run", "cykas", "--scenario", "cykas_figure_3", "--json").object
    assert [(one["name"], one["kind"], one["verdict"], one["expected"]) for one in found["results"]] == [
        ("cykas_figure_3", "scenario", "holds", True),
        ("cykas_figure_3: causal", "scenario", "refuted", True),
        ("cykas_figure_3: csps", "scenario", "refuted", True),
    ]
    assert found["results"][0]["subject"] == "cykas/answers_the_eager_sender"
    assert found["results"][0]["cast"] == ["Alice", "Bob", "Carol"]
    assert found["results"][0]["assertions"] == 4


def test_the_scenarios_of_a_file_are_listed(thence: Thence) -> None:
    assert "mf_figure_6 of mf: " in thence("run", "mf", "--list").out
    listed = thence("run", "mf", "--list", "--json").object
    assert {"mf_figure_7", "mf_figure_8"} <= {one["name"] for one in listed["scenarios"]}
    assert thence("run", "execution", "--list").out.strip() == "execution has no scenarios"


def test_what_is_not_there_is_said(thence: Thence) -> None:
    assert thence("run", "mf", "--scenario", "mf_figure_9").rejects("no scenario", "mf_figure_")
    assert thence("run", "mf", "--scenario", "mf_figure_6", "--processes", "2").rejects("stands alone")
    assert thence("run", "mf", "--list", "--svg", "figure.svg").rejects("--list", "stands alone")
    assert thence("run", "mf", "--scenario", "mf_figure_6", "--svg", "no/such/folder.svg").rejects("no/such")


def test_a_false_assertion_is_exit_1_with_its_line(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "bad.thence").write_text(
        "protocol p:\n  network reliable\n  message M(m: message) carries m\n"
        "  on causal_send(m): send M(m) to m.dst\n  on receive M(m) from j: deliver m\n\n"
        "scenario s of p:\n  processes a, b\n  a sends m to b\n  assert delivered(m)\n",
        encoding="utf-8",
    )
    ran = thence("run", "bad.thence", "--scenario", "s")
    assert ran.code == 1
    assert "Line 10: `delivered(m)` is false here." in ran.out
    assert thence("run", "bad.thence", "--scenario", "s", "--json").object["results"][0]["line"] == 10


LIVELY = """
protocol lively:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    n: nat
  on causal_send(m):
    n := n + 1
    send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property at_most_once
  invariant few: forall p: process. n@p < {most}
  eventually delivered under fair receive

scope s of lively:
  processes 2
  sends 2, 2
"""


def test_a_run_that_is_cut_is_not_stuck(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "lively.thence").write_text(LIVELY.format(most=9), encoding="utf-8")
    ran = thence("run", "lively.thence", "--steps", "2", "--svg", "cut.svg")
    assert ran.code == 0
    assert "Cut after 2 steps (--steps)" in ran.out
    picture = (tmp_path / "cut.svg").read_text(encoding="utf-8")
    assert "stuck" not in picture and ">lively: run, seed 0</text>" in picture
    result = thence("run", "lively.thence", "--steps", "2", "--json").object["results"][0]
    assert (result["ended"], result["violated"], result["judged"]) == (
        "cut", [], ["at_most_once", "delivered", "few", "fault"],
    )  # fmt: skip


def test_a_run_at_rest_says_so(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "lively.thence").write_text(LIVELY.format(most=9), encoding="utf-8")
    assert "Nothing can happen any more" in thence("run", "lively.thence").out


def test_a_run_judges_what_the_file_states(thence: Thence, tmp_path: Path) -> None:
    """Messages overtake each other here, which the file does not forbid; what is asked for is judged."""
    (tmp_path / "lively.thence").write_text(LIVELY.format(most=9), encoding="utf-8")
    stated = [thence("run", "lively.thence", "--seed", str(seed)) for seed in range(5)]
    assert {ran.code for ran in stated} == {0}
    asked = [thence("run", "lively.thence", "--seed", str(seed), "--property", "fifo") for seed in range(5)]
    refuted = [ran for ran in asked if ran.code == 1]
    assert refuted
    assert all("Refuted: fifo: p" in ran.out and "which its sender sent first." in ran.out for ran in refuted)
    assert thence("run", "lively.thence", "--property", "beauty").rejects("no property", "beauty")


def test_a_run_judges_invariants(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "lively.thence").write_text(LIVELY.format(most=2), encoding="utf-8")
    ran = thence("run", "lively.thence")
    assert ran.code == 1
    assert "Refuted: few: invariant few is false." in ran.out


def test_a_property_that_cannot_be_observed_is_unknown(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "lively.thence").write_text(LIVELY.format(most=9).replace(" carries m", ""), encoding="utf-8")
    for command in ("run", "explore", "bmc"):
        ran = thence(command, "lively.thence", "--property", "csps")
        assert ran.code == 3, command
        assert "observed" in ran.out


def test_a_counterexample_is_judged_by_the_property_that_it_violates(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "lively.thence").write_text(LIVELY.format(most=9), encoding="utf-8")
    found = thence("explore", "lively.thence", "--property", "fifo", "--json")
    (tmp_path / "found.json").write_text(found.out, encoding="utf-8")
    ran = thence("run", "lively.thence", "--replay", "found.json")
    assert ran.code == 1
    assert "Refuted: fifo:" in ran.out
