"""`thence compare`: tables for readers, JSON, bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.implementations import SYSTEMS
from thence.pages.comparison import make

Thence = Callable[..., Any]


def test_readers_get_a_table(thence: Thence) -> None:
    ran = thence("compare", "mf", "cykas")
    assert ran.code == 0 and ran.err == ""
    assert "sender O(br)" in ran.out and "1/receiver" in ran.out and "operations at the sender" in ran.out


def test_json(thence: Thence) -> None:
    ran = thence("compare", "newtop", "--json")
    (result,) = ran.object["results"]
    assert ran.code == 0
    assert (result["verdict"], result["level"], result["subject"]) == ("tested", "L0", "newtop")
    agreement = {cell["cell"]: cell["agreement"] for cell in result["costs"]["cells"]}
    assert agreement["liveness"] == "agrees" and agreement["sender"] == "differs"
    assert result["costs"]["growths"]["process/n"]["values"] == [7, 13, 25]


def test_the_page_is_what_is_measured(thence: Thence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thence.pages.comparison.SYSTEMS", {name: SYSTEMS[name] for name in ("mf", "tree")})
    assert make(tmp_path, ()) == 0
    page = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert page.startswith("# What each system costs")
    shown = thence("compare", "mf", "tree", "--markdown")
    assert shown.code == 0
    sections = shown.out.strip().split("## ")[1:]
    assert len(sections) == 2
    for section in sections:
        assert f"## {section.strip()}" in page


def test_bad_input(thence: Thence) -> None:
    assert thence("compare", "nothing").rejects("no implementation of nothing", "mf, rst")
    assert thence("compare", "--bogus").code == 2
