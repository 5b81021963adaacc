"""The table of docs on reductions is made from the rows that the comparisons left, and no row differs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from thence.proofs.explore.reductions import REDUCTIONS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A module of the folder `bench`, which is no package."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    for name in ("reductions", "reductions_page"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return import_module


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    found = json.loads((ROOT / "bench" / "reductions.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_page_is_of_these_rows(rows: dict[str, dict[str, Any]], bench: Callable[[str], ModuleType]) -> None:
    page = bench("reductions_page").page(rows)
    assert (ROOT / "docs" / "reductions.md").read_text(encoding="utf-8") == page


def test_no_row_differs(rows: dict[str, dict[str, Any]]) -> None:
    assert [key for key, row in rows.items() if row["outcome"] == "WRONG"] == []
    same = [row["found"] for row in rows.values() if row["outcome"] == "same"]
    assert len(same) > 30
    for found in same:
        whole = found["none"]
        assert whole["complete"]
        for name in (*REDUCTIONS, "auto", "all"):
            assert found[name].get("complete", True)
            assert found[name]["states"] <= whole["states"]
            assert found[name].get("violations", whole["violations"]).keys() == whole["violations"].keys()


def test_a_difference_would_be_seen(bench: Callable[[str], ModuleType]) -> None:
    """What a comparison counts as different: a verdict in either direction, a longer counterexample, more states."""
    differences = bench("reductions").differences
    whole = {"complete": True, "states": 10, "violations": {"causal": 4, "csps": 2}}

    def reduced(states: int, **violations: int) -> dict[str, Any]:
        return {"complete": True, "states": states, "violations": violations}

    assert differences(whole, "all", reduced(5, causal=4, csps=2)) == []
    assert differences(whole, "all", reduced(5, causal=-6, csps=2)) == []
    assert differences(whole, "all without csps, sps", reduced(5, causal=4)) == []
    assert differences(whole, "all", reduced(5, csps=2)) == ["causal is not violated"]
    assert differences(whole, "all", reduced(5, causal=4, csps=2, fifo=1)) == ["fifo is violated"]
    assert differences(whole, "all", reduced(5, causal=5, csps=2)) == ["causal in 5 steps, not 4"]
    assert differences(whole, "all", reduced(11, causal=4, csps=2)) == ["11 states"]
