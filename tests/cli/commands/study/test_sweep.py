"""`thence sweep`: the list of studies, a small study of one's own, bad input."""

from __future__ import annotations

import csv
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


def test_bad_studies(thence: Thence, tmp_path: Path) -> None:
    assert thence("sweep", "nothing").rejects("there is no study nothing")
    (tmp_path / "wrong.toml").write_text(STUDY.replace("rst", "rts"))
    assert thence("sweep", str(tmp_path / "wrong.toml")).rejects("no implementation of rts")
    (tmp_path / "two.toml").write_text(STUDY)
    assert thence("sweep", str(tmp_path / "two.toml"), "--out", str(tmp_path)).rejects("holds something else")
