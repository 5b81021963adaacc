"""`thence compare`: tables for readers, JSON, bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Thence = Callable[..., Any]
ROOT = Path(__file__).parents[3]


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


def test_the_page_is_what_is_measured(thence: Thence) -> None:
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    shown = thence("compare", "mf", "tree", "--markdown")
    assert shown.code == 0
    for section in shown.out.strip().split("## ")[1:]:
        assert f"## {section.strip()}" in page, "run make comparison"


def test_bad_input(thence: Thence) -> None:
    assert thence("compare", "nothing").rejects("no implementation of nothing", "mf, rst")
    assert thence("compare", "--bogus").code == 2
