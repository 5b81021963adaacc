"""docs/library/statements.md, the index of all statements: for each its verdict, its level, and its command.

`python -m thence.pages.statement_index FOLDER RESULTS.json...` writes the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from thence.dsl import ir
from thence.pages.folder import run_page
from thence.pages.results import library_specifications, read_results
from thence.pages.statements import Section, by_key, sections

PAGE: Final = "statements.md"


def page(specifications: Mapping[str, ir.Specification], results: Iterable[Mapping[str, Any]]) -> str:
    """The page, in Markdown: for each file a table."""
    known = by_key(results)
    parts = [_HEADING]
    for name, specification in specifications.items():
        parts += [f"## {name}.thence", "", "| statement | verdict | level | command |", "|---|---|---|---|"]
        parts += [line for section in sections(specification, known) for line in _lines(name, section)]
        parts.append("")
    return "\n".join(parts).rstrip("\n") + "\n"


def _lines(file: str, section: Section) -> Iterator[str]:
    """A line for the statements of a declaration and scope that have the same verdict."""
    shared: dict[tuple[str, ...], list[str]] = {}
    for result in section.rows:
        scope, _, name = result["name"].rpartition(": ")
        verdict = result["verdict"] if result["expected"] else f"**{result['verdict']}, not expected**"
        shared.setdefault((scope, verdict, result["level"], command(file, result)), []).append(name)
    for (scope, verdict, level, said), names in shared.items():
        place = section.title if scope in ("", *section.title.split()) else f"{section.title}: {scope}"
        cells = (f"{place}: {', '.join(names)}", verdict, level, f"`{said}`")
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def command(file: str, result: Mapping[str, Any]) -> str:
    """The command that checks the statement of a result."""
    subject, scope = str(result["subject"]), str(result["name"]).partition(": ")[0]
    match result["kind"]:
        case "theorem":
            return f"thence prove {file} {result['name']}"
        case "machine":
            return f"thence prove {file} {subject}"
        case "scope":
            return f"thence explore {file} --scope {scope}"
        case "scenario":
            return f"thence run {file} --scenario {scope}"
        case "mutant" if "/" not in subject:
            return f"thence prove {file} {scope}"
        case "mutant" if not _is_link(result):
            return f"thence explore {file} --mutant {subject.partition('/')[2]}"
        case _:
            return f"thence verify {file}"


def _is_link(result: Mapping[str, Any]) -> bool:
    """Whether a mutant is held against a machine."""
    return "every event is enabled in " in result["name"]


_HEADING: Final = """\
# Every statement of the library

For each statement its verdict, its level ([proofs](../explanation/proofs.md)), and the command that checks it;
statements of one declaration and scope with the same verdict share a line. `thence verify` checks all of them. Made by
`make statements` from the results of a run. On the site that `make docs` builds, each statement has a permanent address
on the page of its file, with its documentation, its assumptions and its counts.
"""


def make(folder: Path, sources: Sequence[Path]) -> int:
    """Writes the page."""
    (folder / PAGE).write_text(page(library_specifications(), read_results(sources)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_page(make, "statement_index", "RESULTS.json...")
