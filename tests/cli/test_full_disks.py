"""A disk that is full when a long command writes its file costs the file, and nothing of what was found."""

from __future__ import annotations

import json
import resource
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]

BROKEN = ["explore", "rst", "--mutant", "no_merge", "--scope", "two"]
SMALL = """
machine turns:
  delivery off
  relation done(p: process)

  transition finish(p: process):
    done(p) := true

  invariant fine: forall p. done(p) or not done(p)
"""


def with_full_disk(command: list[str], folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    """The command where a file may have as many bytes as make a folder for temporary files usable."""
    return subprocess.run(
        [*command, *words, "--json"], cwd=folder, capture_output=True, text=True, check=False, timeout=100,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (64, 64)),
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        [*BROKEN, "--svg", "run.svg"],
        [*BROKEN, "--itf", "run.itf"],
        [*BROKEN, "--trace", "run.ndjson"],
        [*BROKEN, "--pytest", "test_run.py"],
        [*BROKEN, "--html", "run.html"],
        ["run", "mf", "--svg", "run.svg"],
        ["run", "chandy_lamport", "--scenario", "never_a_state", "--svg", "run.svg"],
        ["trace", "check", "run.ndjson", "--svg", "run.svg"],
        ["evaluate", "fifo", "--messages", "5", "--csv", "run.csv"],
        ["conform", "--replay", "case.json", "--svg", "run.svg"],
    ],
    ids=lambda words: " ".join(words[:2] + words[-2:-1]),
)
def test_a_verdict_is_not_lost(thence: Thence, command: list[str], tmp_path: Path, words: list[str]) -> None:
    recorded = ["conform", "rst", "--impl", "protocol:rst#no_merge", "--cases", "60", "--save", "case.json"]
    thence(*(recorded if "case.json" in words else [*BROKEN, "--trace", "run.ndjson"] if "check" in words else ["-h"]))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = with_full_disk(command, tmp_path, words)
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit"]) == (2, 2) and done.stderr == ""
    assert found["results"] or found["evaluation"]
    [said] = found["unwritten"]
    assert said.startswith(words[-1]) and "File too large" in said
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_all_files_are_tried(thence: Thence, command: list[str], tmp_path: Path) -> None:
    """Each file that cannot be written is said, not the first one only."""
    done = with_full_disk(command, tmp_path, [*BROKEN, "--svg", "run.svg", "--html", "run.html"])
    assert [said.partition(" ")[0] for said in json.loads(done.stdout)["unwritten"]] == ["run.svg", "run.html"]


def test_a_proof_without_room_for_its_certificate(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "turns.thence").write_text(SMALL)
    done = with_full_disk(command, tmp_path, ["prove", "turns.thence", "--no-cache", "--certificate", "evidence"])
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit"]) == (2, 2) and "Traceback" not in done.stderr
    assert {each["verdict"] for each in found["results"]} == {"proved"} and len(found["unwritten"]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["turns.thence"]


def test_a_file_that_is_edited_during_its_proof(
    thence: Thence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no certificate of it; the proof of the text before is shown."""
    (tmp_path / "turns.thence").write_text(SMALL)
    checker = "thence.cli.certificates.installed_checker"

    def edited() -> None:
        (tmp_path / "turns.thence").write_text(SMALL.replace("fine", "good"))

    monkeypatch.setattr(checker, edited)
    ran = thence("prove", "turns.thence", "--certificate", "evidence", "--json")
    assert ran.code == 2 and {each["verdict"] for each in ran.object["results"]} == {"proved"}
    assert "was changed while it was proved" in ran.object["unwritten"][0] and not (tmp_path / "evidence").exists()


def test_the_report_of_a_verification(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "turns.thence").write_text(SMALL)
    words = ["verify", "turns.thence", "--campaign-cases", "0", "--report", "report.html"]
    done = with_full_disk(command, tmp_path, words)
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit"]) == (2, 2) and found["results"]
    assert found["unwritten"] == ["report.html cannot be written: File too large"]


def test_results_that_cannot_be_kept(command: list[str], tmp_path: Path) -> None:
    """Every task is done all the same."""
    (tmp_path / "turns.thence").write_text(SMALL)
    words = ["verify", "turns.thence", "--campaign-cases", "0", "--results", "kept"]
    done = with_full_disk(command, tmp_path, words)
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit"]) == (2, 2) and {each["verdict"] for each in found["results"]} == {"proved"}
    assert found["unwritten"][0] == "results cannot be kept: kept: File too large"


def test_mutants_that_cannot_be_kept(command: list[str], tmp_path: Path) -> None:
    """The score is said."""
    (tmp_path / "turns.thence").write_text(SMALL)
    done = with_full_disk(command, tmp_path, ["mutate", "turns.thence", "--save", "alive"])
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit"]) == (2, 2) and found["results"]
    assert "cannot be written: File too large" in found["unwritten"][0]


def test_mutants_whose_fates_cannot_be_kept_are_judged(command: list[str], tmp_path: Path) -> None:
    """That they cannot is said once, and costs no score."""
    (tmp_path / "turns.thence").write_text(SMALL)
    done = with_full_disk(command, tmp_path, ["mutate", "turns.thence", "--results", "kept"])
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit"]) == (2, 2) and "Traceback" not in done.stderr
    [score] = found["results"]
    assert score["complete"] and score["mutants"]["total"] > 1
    [said] = found["unwritten"]
    assert said.startswith("results cannot be kept: kept")
