"""The table in README.md has every row, and what is around it stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thence.pages.library import ROWS
from thence.pages.readme import BEGIN, END, into, make

README = Path(__file__).parents[2] / "README.md"


def test_the_page_keeps_what_is_around_the_table() -> None:
    assert into(f"a\n{BEGIN}\nold\n{END}\nb", "new\n") == f"a\n{BEGIN}\nnew\n{END}\nb"
    for page in ("", BEGIN, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"):
        with pytest.raises(ValueError, match="needs the lines"):
            into(page, "new")


def test_the_table_has_every_row() -> None:
    text = README.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert [row.system for row in ROWS if f"| {row.system} |" not in text] == []
    assert "not as expected" not in text


def test_the_table_is_written_into_the_page(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"before\n{BEGIN}\n{END}\nafter\n", encoding="utf-8")
    (tmp_path / "results.json").write_text(json.dumps({"results": []}), encoding="utf-8")
    assert make(tmp_path, [tmp_path / "results.json"]) == 0
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}\n| system |") and text.endswith(f"{END}\nafter\n")
