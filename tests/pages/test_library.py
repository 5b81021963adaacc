"""The table of the library is made of results: a cell says what came out, and what did not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from thence.conformance.implementations import SHIPPED, SYSTEMS, TEXTBOOK
from thence.dsl.load import library
from thence.pages.library import ROWS, TEXTBOOK_ROWS, make, table


def result(kind: str, subject: str, name: str, verdict: str, **facts: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "subject": subject,
        "name": name,
        "verdict": verdict,
        "level": "L1",
        "expected": True,
        **facts,
    }


def cells(results: list[dict[str, Any]], file: str) -> list[str]:
    line = next(line for line in table(results).splitlines() if f"`{file}`" in line.split("|")[2])
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_rows_cover_the_library() -> None:
    files = {name for row in (*ROWS, *TEXTBOOK_ROWS) for name in (*row.files, *row.printed)}
    assert len(ROWS) == 19
    assert files | {"execution", "happens_before", "buffered_mailbox", "bj87", "hierarchy", "byzantine_broadcast"} == {
        path.stem for path in library()
    }
    assert {row.files[0] for row in ROWS} == set(SYSTEMS)
    assert {row.files[0] for row in TEXTBOOK_ROWS} == set(TEXTBOOK)


def test_without_results_there_is_nothing_to_say() -> None:
    assert cells([], "mf")[2:5] == ["–", "–", "–"]


def test_cells_count_what_came_out() -> None:
    scope = {"name": "two"}
    found = cells(
        [
            result("scope", "mf", "two: causal", "holds", scope=scope, states=6859),
            result("scope", "mf", "two: sps", "refuted", scope=scope, states=3),
            result("machine", "buffers", "causal", "proved"),
            result("link", "mf to buffers", "links: link", "holds"),
            result("conform", SHIPPED["mf"], "causal", "tested", cases=400, failures=0),
            result("mutant", "mf/posts_at_once", "two: causal", "refuted"),
        ],
        "mf",
    )
    assert found[2] == "1 scope, up to 6,859 states: 1 holds, 1 refuted"
    assert found[3:6] == ["1 (L1)", "1 of 1 holds (L1)", "`thence.impl.mf.MF`: 400 cases, 0 failures"]
    assert found[6].startswith("1; not: ")


def test_a_surprise_is_named() -> None:
    surprise = {**result("machine", "buffers", "causal", "unknown"), "expected": False}
    assert "**not as expected: causal**" in cells([surprise], "mf")[3]


def test_the_page_has_every_row(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"results": [result("machine", "buffers", "causal", "proved")]}), encoding="utf-8")
    assert make(tmp_path, [results]) == 0
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert [row.system for row in ROWS if f"| {row.system} |" not in text] == []
    assert "1 (L1)" in text and "not as expected" not in text
