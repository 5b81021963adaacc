"""`thence sweep`: the list of studies, a small study of one's own, bad input."""

from __future__ import annotations

import csv
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

Thence = Callable[..., Any]

STUDY = """
title = "Two systems"
systems = ["mf", "rst"]
repeat = 2
[settings]
messages = 4
[sweep]
processes = [3, 4]
"""


def test_the_shipped_studies_are_listed(thence: Thence) -> None:
    ran = thence("sweep")
    assert ran.code == 0 and "figure_5" in ran.out
    listed = thence("sweep", "--json").object["studies"]
    assert {"figure_4", "figure_5", "figure_6"} <= {study["name"] for study in listed}


@pytest.mark.spark
def test_a_study_of_ones_own(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(STUDY)
    words = ("sweep", str(tmp_path / "two.toml"), "--out", str(tmp_path / "two"), "--master", "local[1]")
    ran = thence(*words, "--csv", str(tmp_path / "runs.csv"))
    assert ran.code == 0, ran.err
    assert "8 of 8 runs" in ran.out and "mean (ms)" in ran.out
    with (tmp_path / "runs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    again = thence(*words, "--json").object["sweep"]["runs"]
    assert [float(row["mean"]) for row in rows] == [run["mean"] for run in again] and len(rows) == 8


@pytest.mark.long(share=0)
@pytest.mark.spark
def test_a_signal_to_the_whole_group_ends_it_in_order(tmp_path: Path) -> None:
    """As `timeout` sends it: Spark's Java gets it as well, and is gone when the sweep wants to cancel its work."""
    command = [sys.executable, "-c", "from thence.cli import main; main()", "sweep", "load", "--out", "load", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 120
        while not list((tmp_path / "load").glob("batches/*")) and time.monotonic() < deadline:
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGTERM)
        out, complaints = process.communicate(timeout=120)
    assert process.returncode == 3, complaints
    assert json.loads(out)["complete"] is False
    assert "Traceback" not in complaints


def test_bad_studies(thence: Thence, tmp_path: Path) -> None:
    assert thence("sweep", "nothing").rejects("there is no study nothing")
    (tmp_path / "wrong.toml").write_text(STUDY.replace("rst", "rts"))
    assert thence("sweep", str(tmp_path / "wrong.toml")).rejects("no implementation of rts")
    (tmp_path / "two.toml").write_text(STUDY)
    assert thence("sweep", str(tmp_path / "two.toml"), "--out", str(tmp_path)).rejects("holds something else")
