"""The page of the papers' figures: what the library's scenarios are, and what came out of them."""

from __future__ import annotations

from pathlib import Path

from thence.pages.figures import figures, page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_current() -> None:
    found = figures()
    assert len(found) >= 20
    assert (DOCS / "figures.md").read_text(encoding="utf-8") == page(found), "make figures"
    there = {f"pictures/{path.name}" for path in (DOCS / "pictures").glob("figure-*.svg")}
    assert there == {figure.picture for figure in found}, "make figures"
    assert all(result.expected for figure in found for result in figure.results)
    assert all(figure.drawing.startswith("<svg") for figure in found)
