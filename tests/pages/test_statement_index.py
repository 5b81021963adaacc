"""docs/library/statements.md lists the statements of the library and no others, with the verdicts of one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from thence.dsl.load import library, load
from thence.pages.statement_index import command, page
from thence.pages.statements import stated

PAGE = Path(__file__).parents[2] / "docs" / "library" / "statements.md"
LEVELS = {"proved": {"L2", "L3", "L4"}, "holds": {"L1"}, "refuted": {"L1", "L2", "L3"}, "unknown": {"L1", "L2"}}


def lines_of(text: str) -> dict[str, list[list[str]]]:
    """The cells of each line, by file."""
    found: dict[str, list[list[str]]] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            lines = found[line.removeprefix("## ")] = []
        elif line.startswith("| ") and not line.startswith("| statement |"):
            lines.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


LINES = lines_of(PAGE.read_text(encoding="utf-8"))


def test_every_file_is_there() -> None:
    assert list(LINES) == [path.name for path in library()]


@pytest.mark.parametrize("path", library(), ids=lambda path: path.stem)
def test_the_page_has_every_statement_and_no_other(path: Path) -> None:
    specification = load(str(path)).specification
    assert specification is not None
    found = set()
    for cell, *_ in LINES[path.name]:
        title, _, rest = cell.partition(": ")
        if title.startswith(("theory", "machine")):
            found |= {f"{title}: {name}" for name in rest.split(", ")}
        else:
            found.add(title)
    assert found == stated(specification), "docs/library/statements.md is not current: make statements"


def test_verdicts_have_levels_that_they_can_have() -> None:
    found = [cells for lines in LINES.values() for cells in lines]
    assert len(found) > 100
    assert [cells for cells in found if cells[2] not in LEVELS[cells[1]]] == []


def test_commands_are_about_the_file() -> None:
    for name, lines in LINES.items():
        for *_, said in lines:
            words = said.strip("`").split()
            assert (words[0], words[2]) == ("thence", Path(name).stem)
            assert words[1] in ("prove", "explore", "run", "verify")


def result(kind: str, subject: str, name: str, **facts: Any) -> dict[str, Any]:
    return {
        "kind": kind, "subject": subject, "name": name, "verdict": "holds", "level": "L1", "expected": True, **facts
    }  # fmt: skip


def test_statements_of_a_scope_with_the_same_verdict_share_a_line() -> None:
    specification = load("mf").specification
    assert specification is not None
    found = [
        result("scope", "mf", "two: causal"),
        result("scope", "mf", "two: fifo"),
        result("scope", "mf", "two: sps", verdict="refuted"),
        result("scope", "mf", "figure_7: sps", verdict="unknown", expected=False),
    ]
    assert lines_of(page({"mf": specification}, found))["mf.thence"] == [
        ["protocol mf: two: causal, fifo", "holds", "L1", "`thence explore mf --scope two`"],
        ["protocol mf: two: sps", "refuted", "L1", "`thence explore mf --scope two`"],
        ["protocol mf: figure_7: sps", "**unknown, not expected**", "L1", "`thence explore mf --scope figure_7`"],
    ]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (result("theorem", "execution", "csps_implies_sps"), "thence prove f csps_implies_sps"),
        (result("machine", "buffers", "causal"), "thence prove f buffers"),
        (result("scenario", "mf", "figure_3: causal"), "thence run f --scenario figure_3"),
        (result("link", "mf to buffers", "one: every event is enabled in buffers"), "thence verify f"),
        (result("mutant", "mf/early", "two: every event is enabled in buffers"), "thence verify f"),
        (result("mutant", "mf/early", "two: causal"), "thence explore f --mutant early"),
        (result("mutant", "buffers", "left_out: causal"), "thence prove f left_out"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_each_kind_has_its_command(found: dict[str, Any], said: str) -> None:
    assert command("f", found) == said
