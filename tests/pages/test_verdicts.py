"""docs/library/verdicts.json has the verdict of every statement, and the pages of the library are made of it."""

from __future__ import annotations

import json
from pathlib import Path

from thence.pages import library, proved_links, statement_index
from thence.pages.results import library_specifications, read_results
from thence.pages.verdicts import brief, make, text

DOCS = Path(__file__).parents[2] / "docs" / "library"
VERDICTS = DOCS / "verdicts.json"


def test_the_pages_are_made_of_the_file() -> None:
    results = read_results([VERDICTS])
    index = statement_index.page(library_specifications(), results)
    assert (DOCS / statement_index.PAGE).read_text(encoding="utf-8") == index, "make statements"
    assert (DOCS / library.PAGE).read_text(encoding="utf-8") == library.page(results), "make statements"


def test_the_table_of_links_is_made_of_the_file() -> None:
    readme = (DOCS.parents[1] / "README.md").read_text(encoding="utf-8")
    made = proved_links.table(library_specifications().values(), read_results([VERDICTS]))
    assert proved_links.placed(readme, made) == readme, "make statements"
    assert len(made.splitlines()) > 15


def test_the_table_of_links_has_what_is_proved_at_the_lower_level() -> None:
    specification = library_specifications()["synchronous"]
    kept = [each for each in read_results([VERDICTS]) if each["subject"] in ("rendezvous", "synchronous to rendezvous")]

    def rows(*changes: tuple[str, str, dict[str, str]]) -> list[str]:
        found = [
            each | next((new for kind, name, new in changes if (kind, name) == (each["kind"], each["name"])), {})
            for each in kept
        ]
        return proved_links.table([specification], found).splitlines()[2:]

    (whole,) = rows()
    assert whole.strip("| ").split(" | ") == [
        "`synchronous`",
        "`rendezvous`",
        "`causal`, `fifo`, `at_most_once`, `no_creation`",
        "L3",
        "nobody sends to itself; there are two processes or more",
    ]
    lower = rows(("machine", "fifo", {"level": "L2"}))
    assert [line.split(" | ")[2:4] for line in lower] == [
        ["`causal`, `at_most_once`, `no_creation`", "L3"],
        ["`fifo`", "L2"],
    ]
    link = "every event is enabled in rendezvous"
    assert [line.split(" | ")[3] for line in rows(("link", link, {"level": "L2"}))] == ["L2"]
    assert "causal" not in rows(("machine", "causal", {"verdict": "unknown"}))[0]
    assert rows(("link", link, {"verdict": "unknown"})) == []


def test_every_statement_is_as_the_library_expects() -> None:
    assert [result["name"] for result in read_results([VERDICTS]) if not result["expected"]] == []


def test_the_evidence_is_left_out(tmp_path: Path) -> None:
    result = {
        "kind": "scope",
        "name": "two: causal",
        "verdict": "refuted",
        "expected": True,
        "seconds": 3.5,
        "scope": {"name": "two", "processes": 2, "sends": [2, 0], "losses": 0, "groups": [[1]]},
        "counterexample": [{"action": "send"}],
        "assumptions": [{"name": "fifo", "needed": True, "countermodel": {}}],
    }
    assert brief(result) == {
        "kind": "scope",
        "name": "two: causal",
        "verdict": "refuted",
        "expected": True,
        "scope": {"name": "two", "processes": 2, "sends": [2, 0]},
        "assumptions": [{"name": "fifo", "needed": True}],
    }
    source = tmp_path / "results.json"
    source.write_text(json.dumps({"results": [result, result]}), encoding="utf-8")
    assert make(tmp_path, [source]) == 0
    written = (tmp_path / "verdicts.json").read_text(encoding="utf-8")
    found = json.loads(written)
    assert found["results"] == [brief(result)] * 2
    assert written == text([result, result], found["date"])
    assert len(written.splitlines()) == 4
