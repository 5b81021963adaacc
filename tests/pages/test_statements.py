"""The page of all statements is made of results and of the documentation of the library."""

from __future__ import annotations

import json
import re
from pathlib import Path

from thence.dsl.load import library, load
from thence.pages.statements import make, page


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


def test_the_page_of_a_run_has_every_file(tmp_path: Path) -> None:
    result = {"kind": "scope", "subject": "mf", "name": "two: causal", "verdict": "holds", "level": "L1"}
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"results": [{**result, "expected": True, "states": 12}]}), encoding="utf-8")
    assert make(tmp_path, [results]) == 0
    found = rows_of((tmp_path / "statements.md").read_text(encoding="utf-8"))
    assert list(found) == [path.name for path in library()]
    assert found["mf.thence"] == {"protocol mf": [("two: causal", "holds", "L1")]}
