"""docs/statements.md lists what the library states, and nothing else; verdicts are those of the run that made it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from thence.dsl.load import library, load
from thence.pages.statements import page, stated

PAGE = Path(__file__).parents[2] / "docs" / "statements.md"
LEVELS = {"proved": {"L2", "L3", "L4"}, "holds": {"L1"}, "refuted": {"L1", "L2", "L3"}, "unknown": {"L1", "L2"}}


def rows_of(text: str) -> dict[str, dict[str, list[tuple[str, str, str]]]]:
    """File, section, then (statement, verdict, level)."""
    found: dict[str, dict[str, list[tuple[str, str, str]]]] = {}
    rows: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        if line.startswith("## "):
            found[line.removeprefix("## ")] = sections = {}
        elif line.startswith("### "):
            rows = sections[line.removeprefix("### ")] = []
        elif line.startswith("| ") and not line.startswith("| statement |"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows.append((cells[0], cells[1], cells[2]))
    return found


def test_every_file_is_there() -> None:
    assert list(rows_of(PAGE.read_text(encoding="utf-8"))) == [path.name for path in library()]


@pytest.mark.parametrize("path", library(), ids=lambda path: path.stem)
def test_the_page_has_every_statement_and_no_other(path: Path) -> None:
    specification = load(str(path)).specification
    assert specification is not None
    sections = rows_of(PAGE.read_text(encoding="utf-8")).get(path.name, {})
    unbounded = ("theory", "machine")
    names = {
        f"{title}: {name}"
        for title, rows in sections.items()
        if title.startswith(unbounded)
        for listed, _, _ in rows
        for name in listed.split(", ")
    }
    others = {title for title, rows in sections.items() if rows and not title.startswith(unbounded)}
    assert names | others == stated(specification), "docs/statements.md is not current: make statements"


def test_verdicts_have_levels_that_they_can_have() -> None:
    found = [
        row
        for sections in rows_of(PAGE.read_text(encoding="utf-8")).values()
        for rows in sections.values()
        for row in rows
    ]
    assert len(found) > 100
    assert [row for row in found if row[2] not in LEVELS.get(row[1].strip("*").partition(",")[0], set())] == []


def test_a_page_is_made_of_results_and_documentation() -> None:
    specification = load("execution").specification
    assert specification is not None
    result = {
        "kind": "theorem",
        "subject": "execution",
        "name": "csps_implies_sps",
        "verdict": "proved",
        "level": "L3",
        "expected": True,
        "obligations": 1,
        "assumptions": [{"name": "csps", "needed": True}, {"name": "fifo", "needed": None}],
    }
    text = page({"execution": specification}, [result, {**result, "level": "L4"}])
    assert rows_of(text) == {"execution.thence": {"theory execution": [("csps_implies_sps", "proved", "L4")]}}
    assert "assumes csps (needed); assumes fifo (not known to be needed); 1 obligations" in text
    assert "Almeida" in text
    surprise = page(
        {"execution": specification}, [{**result, "verdict": "unknown", "expected": False, "unknown": "a|b"}]
    )
    assert re.search(r"\| \*\*unknown, not expected\*\* \| L3 \|.*a/b", surprise)
