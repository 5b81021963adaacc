"""`thence evaluate`: figures for readers, as JSON and as rows, bad input."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]


def test_systems_side_by_side(thence: Thence) -> None:
    ran = thence("evaluate", "mf", "rst", "--processes", "4", "--messages", "10")
    assert ran.code == 0
    assert "4 processes, 10 messages each" in ran.out and "at receiver" in ran.out
    rows = [line.split()[0] for line in ran.out.splitlines() if line.startswith(("mf ", "rst "))]
    assert list(dict.fromkeys(rows)) == ["mf", "rst"]  # a narrow table has its columns in several parts


def test_what_json_and_rows_say_is_the_same(thence: Thence, tmp_path: Path) -> None:
    table = tmp_path / "figures.csv"
    ran = thence(
        "evaluate", "cykas", "--processes", "3", "--messages", "5", "--csv", str(table), "--repeat", "2", "--json"
    )
    runs = ran.object["evaluation"]["systems"][0]["runs"]
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["median"]) for row in rows] == [run["median"] for run in runs]
    assert {row["system"] for row in rows} == {"cykas"} and len({row["execution"] for row in rows}) == 2


def test_a_system_that_gets_stuck_is_not_a_success(thence: Thence) -> None:
    words = ("synchronous", "--processes", "2", "--messages", "3", "--repeat", "1")
    ran = thence("evaluate", *words, "--interval", "1us")
    assert ran.code == 3 and "nothing was delivered in 1 of 1 repetitions" in ran.out
    ran = thence("evaluate", "synchronous", "--processes", "3", "--messages", "5", "--repeat", "1")
    assert ran.code == 3 and "messages never came" in ran.out


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--latency", "constant", "is not a latency"),
        ("--latency", "uniform 5ms 1ms", "is not a latency"),
        ("--latency", "lognormal 5ms 11", "is not a number from 0 to 10"),
        ("--interval", "0ms", "more than no time"),
        ("--interval", "10", "is not a time"),
        ("--bandwidth", "0k", "is not a rate"),
        ("--target", "near 0", "is not a whole number from 1 to 500"),
        ("--jobs", "often", "are not jobs"),
    ],
)
def test_bad_settings(thence: Thence, option: str, value: str, message: str) -> None:
    assert thence("evaluate", "mf", option, value).rejects(message)


def test_systems_that_do_not_take_the_workload(thence: Thence) -> None:
    assert thence("evaluate", "cbcast").rejects("only broadcasts")
    assert thence("evaluate", "cbcast", "--target", "everybody", "--messages", "3", "--processes", "3").code == 0
    assert thence("evaluate", "nothing").rejects("no implementation of nothing")
