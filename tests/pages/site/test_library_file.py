"""Each statement has one address on the page of its file, and the page says what came out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from thence.dsl.load import library, load
from thence.pages.results import read_results
from thence.pages.site.address import address
from thence.pages.site.library_file import LibraryFile, page
from thence.pages.statements import by_key

VERDICTS = Path(__file__).parents[3] / "docs" / "library" / "verdicts.json"
KNOWN = by_key(read_results([VERDICTS]))


def file_of(name: str, known: dict[Any, Any]) -> LibraryFile:
    loaded = load(name)
    assert loaded.specification is not None
    return LibraryFile(name, "\n".join(loaded.source.lines), loaded.specification, known)


def test_every_statement_has_an_address_and_no_two_share_one() -> None:
    found = set()
    for path in library():
        rows = [row for section in file_of(path.stem, KNOWN).sections for row in section.rows]
        anchors = [address(row) for row in rows]
        assert len({*anchors}) == len(anchors), path.stem
        found |= {(row["kind"], row["subject"], row["name"]) for row in rows}
    assert found == {*KNOWN}


def test_an_address_is_made_of_names() -> None:
    assert address({"kind": "machine", "subject": "buffers", "name": "causal"}) == "machine-buffers-causal"
    mutant = {"kind": "mutant", "subject": "mf/early", "name": "two: every event is enabled in buffers"}
    assert address(mutant) == "mutant-mf-early-two-every-event-is-enabled-in-buffers"


def test_a_page_has_the_statement_its_id_its_command_and_the_text() -> None:
    text = page(file_of("fifo", KNOWN))
    assert text.startswith("# fifo\n")
    assert re.search(r"\d+ statements, all as the file expects: \d+ hold, ", text)
    row = next(line for line in text.splitlines() if 'id="machine-sequence_numbers-fifo"' in line)
    assert re.search(r'title="statement id: [0-9a-f]{64}">[0-9a-f]{12}<', row)
    assert "thence explore fifo --scope" in text and "thence prove fifo --certificate DIR" in text
    assert load("fifo").source.lines[0] in text.partition("````thence")[2]


def test_a_surprise_is_said_and_html_is_escaped() -> None:
    result = {"kind": "scope", "subject": "fifo", "name": "one: <b>", "verdict": "unknown", "level": "L1"}
    text = page(file_of("fifo", by_key([{**result, "expected": False, "unknown": "a < b"}])))
    assert "1 of 1 statement not as the file expects" in text
    assert "unknown, not expected" in text
    assert "<b>" not in text and "a &lt; b" in text


def test_a_file_without_verdicts_says_so() -> None:
    assert "No run has judged the statements of this file yet." in page(file_of("fifo", {}))
