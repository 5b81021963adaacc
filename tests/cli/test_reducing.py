"""`thence explore` reduces unasked, says by what and what that keeps, and does not where it is told not to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import Thence

TWO = ("explore", "mf", "--scope", "two", "--property", "causal")


def _first(thence: Thence, *words: str) -> dict[str, Any]:
    found = thence(*words, "--json").object["results"][0]
    assert isinstance(found, dict)
    return found


def test_unasked(thence: Thence) -> None:
    found = _first(thence, *TWO)
    assert (found["verdict"], found["states"]) == ("holds", 1_178)
    assert found["reductions"] == ["symmetry"]
    assert found["keeps"] == ["verdicts", "shortest lengths", "depth"]
    assert "refused" not in found
    said = thence(*TWO).out
    assert "states are counted up to reductions; --reductions none visits all of them" in said
    assert "symmetry: states that differ in the names of processes only are one" in said


def test_none(thence: Thence) -> None:
    found = _first(thence, *TWO, "--reductions", "none")
    assert (found["states"], found["reductions"]) == (6_859, [])
    assert "keeps" not in found
    assert "counted up to" not in thence(*TWO, "--reductions", "none").out


@pytest.mark.parametrize("name", ["persistent", "dead", "delay", "antisymmetry"])
def test_there_is_no_such_reduction(thence: Thence, name: str) -> None:
    assert thence(*TWO, "--reductions", name).rejects(f"there is no reduction {name}")


def test_small_scopes_are_reduced_by_name(thence: Thence) -> None:
    found = _first(thence, "explore", "mf", "--scope", "one", "--property", "causal", "--reductions", "symmetry")
    assert (found["states"] < 216, found["reductions"]) == (True, ["symmetry"])


def test_small_scopes_are_not_reduced(thence: Thence) -> None:
    found = _first(thence, "explore", "mf", "--scope", "one", "--property", "causal")
    assert (found["states"], found["reductions"]) == (216, [])
    assert found["refused"].keys() == {"symmetry"}
    assert "not reduced" not in thence("explore", "mf", "--scope", "one", "--property", "causal").out


@pytest.mark.parametrize("more", [("--cross-check",), ("--engine", "interpreted")])
def test_not_where_the_interpreter_explores(thence: Thence, more: tuple[str, ...]) -> None:
    found = _first(thence, "explore", "mf", "--processes", "3", "--sends", "1", "--property", "causal", *more)
    assert (found["states"], found["reductions"]) == (216, [])
    assert "refused" not in found


def test_counterexamples_are_shortest(thence: Thence) -> None:
    """Under the automatic reductions a counterexample is as long as without any."""
    words = ("explore", "cykas", "--mutant", "no_secret_mode", "--sends", "2,2,1", "--property", "causal")
    reduced, plain = _first(thence, *words), _first(thence, *words, "--reductions", "none")
    assert reduced["verdict"] == plain["verdict"] == "refuted"
    assert reduced["reductions"]
    assert len(reduced["counterexample"]) == len(plain["counterexample"])


PICKS = """
protocol picks:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    first: option of process
  on causal_send(m):
    for p in process:
      if first is none: first := some(p)
    send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property fifo
"""


def test_why_not_is_said(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "picks.thence"
    again = PICKS.replace("picks", "picks_again")
    file.write_text(PICKS + again)
    ran = thence("explore", str(file), "--processes", "3", "--sends", "2", "--property", "fifo")
    assert "not reduced by symmetry: picks, picks_again: what p0 and p1 do" in ran.out
