"""`thence explore --certificate` and `thence recheck` on what it writes: exit codes, JSON, what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import THENCE

Thence = Callable[..., Any]


def test_an_exploration_is_written_and_confirmed(thence: Thence, tmp_path: Path) -> None:
    reduced = ("--sends", "1", "--reductions", "symmetry")
    written = thence("explore", "mf", "--scope", "two", *reduced, "--certificate", "closed", "--json").object
    assert written["certificate"]["format"] == "thence-closed-set/1"
    assert (written["certificate"]["states"], written["certificate"]["renamings"]) == (44, 6)
    found = thence("recheck", "closed", "--json").object
    assert (found["exit"], found["faults"], found["certificate"]["confirmed"]) == (0, [], 6)
    assert {(each["verdict"], each["level"], each["states"]) for each in found["results"]} == {("holds", "L1", 216)}
    said = thence("recheck", "closed", "-vv").out
    entry = (tmp_path / "closed" / "citation.bib").read_text()
    for each in found["results"]:
        assert each["statement_id"] in entry
        assert f"statement sha256:{each['statement_id']}" in said
    assert "not in the certificate: delivered" in said
    assert thence("explore", "mf", "--scope", "one", "--certificate", "closed").code == 0, "another takes its place"


def test_an_edited_one_exits_with_1(thence: Thence, tmp_path: Path) -> None:
    assert thence("explore", "fifo", "--processes", "2", "--sends", "1", "--certificate", "closed").code == 0
    source = tmp_path / "closed" / "sources" / "fifo.thence"
    source.write_text(source.read_text() + "\n", encoding="utf-8")
    ran = thence("recheck", "closed")
    assert ran.code == 1
    assert "closed is NOT what it says" in ran.out
    assert thence("recheck", "closed", "--json").object["faults"]


@pytest.mark.parametrize(("arguments", "words"), [
    (("mf", "--scope", "no_starvation"), ("for ever",)),
    (("mf", "--scope", "two", "--any-number"), ("for ever",)),
    (("mf", "--sends", "1"), ("mf_receive", "name one with --scope")),
    (("mf", "--scope", "two", "--storage", "disk"), ("disk",)),
    (("mf", "--scope", "two", "--storage", "layers"), ("layers",)),
])  # fmt: skip
def test_what_has_no_closed_set_is_refused_before_the_search(
    thence: Thence, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    assert thence("explore", *arguments, "--certificate", "closed").rejects("--certificate", *words)
    assert not (tmp_path / "closed").exists()


def test_a_place_with_something_else_is_refused(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "thesis.tex").write_text("")
    assert thence("explore", "fifo", "--sends", "1", "--certificate", "closed").rejects("something else")
    assert thence("recheck", "closed").rejects("not a certificate")


def test_a_file_that_somebody_put_into_one_stays(thence: Thence, tmp_path: Path) -> None:
    given = ("explore", "fifo", "--processes", "2", "--sends", "1", "--certificate", "closed")
    assert thence(*given).code == 0
    kept = tmp_path / "closed" / "sources" / "mine.thence"
    kept.write_text("mine")
    assert thence(*given).rejects("something else")
    assert kept.read_text() == "mine"


NEVER = """
protocol never:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    up: bool
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    if up: deliver m
  property causal
"""

IN_ORDER = """
protocol in_order:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    held: set of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    held.add(m)
    if held.size = 2:
      for x in held: deliver x
      held.clear()
  property fifo
"""


@pytest.mark.parametrize(("source", "word"), [(NEVER, "no step delivers"), (IN_ORDER, "ascending order: fifo")])
def test_what_holds_for_want_of_a_trial_has_none(thence: Thence, tmp_path: Path, source: str, word: str) -> None:
    """Nothing is delivered; or another order in which a set is visited violates it."""
    (tmp_path / "p.thence").write_text(source)
    asked = ("--processes", "2", "--sends", "2,0", "--certificate", "closed")
    found = thence("explore", "p.thence", *asked, "--json").object
    assert word in " ".join(found["notes"]) or "unknown" in found["notes"][0]
    assert not (tmp_path / "closed").exists()


@pytest.mark.parametrize(("arguments", "code", "word"), [
    (("fifo", "--processes", "2", "--sends", "1", "--limit", "5"), 3, "unknown"),
    (("mf", "--scope", "one_is_lost"), 2, "delivered refuted"),
    (("fifo", "--processes", "3", "--sends", "2,1,0", "--property", "causal"), 1, "causal refuted"),
    (("fifo", "--processes", "2", "--sends", "1", "--property", "delivered"), 2, "in the end"),
])  # fmt: skip
def test_what_does_not_hold_has_none(
    thence: Thence, tmp_path: Path, arguments: tuple[str, ...], code: int, word: str
) -> None:
    """The verdicts are there; what was asked for and is not there shows in the exit code."""
    found = thence("explore", *arguments, "--certificate", "closed", "--json").object
    assert found["exit"] == code
    assert found["results"]
    assert "no certificate" in found["notes"][0]
    assert word in found["notes"][0]
    assert not (tmp_path / "closed").exists()


@pytest.mark.long
def test_several_processes_find_the_same_and_end_at_an_interrupt(thence: Thence, tmp_path: Path) -> None:
    made = thence("explore", "cykas", "--scope", "two", "--sends", "2,2,1", "--processes", "3", "--certificate", "c")
    assert made.code == 0
    together, alone = (thence("recheck", "c", "--jobs", jobs, "--json").object for jobs in ("2", "1"))
    assert together["exit"] == alone["exit"] == 0
    assert [each["transitions"] for each in together["results"]] == [each["transitions"] for each in alone["results"]]
    asked = subprocess.Popen(
        [THENCE, "recheck", "c", "--jobs", "2"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    time.sleep(2)
    os.killpg(asked.pid, signal.SIGINT)
    out, err = asked.communicate(timeout=60)
    assert asked.returncode == 3 or "all statements are confirmed" in out
    assert "Traceback" not in err
