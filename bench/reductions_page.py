"""The page of docs that shows what `bench/reductions.py` found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]

_HEAD = """\
# Reductions, held against none

Made by `bench/reductions.py`; [exploring.md](exploring.md#reductions) says what the reductions are. Every protocol
and mutant of the library is explored without reductions, with each alone, with the automatic ones (`auto`) and with
all together, by native code on one thread. Judged is everything that the file names, and `causal`, `fifo`, `csps`,
`sps`, `at_most_once`, `no_creation`, `delivered` and `fault`; then again without `csps` and `sps`, where `dead`
forgets more (those counts are in `bench/reductions.json`). A row is *same* where all of these searches come to their
end with the same properties violated, in as few steps. Cells are states; a dash: the reduction was refused, or
withdrew itself.
"""

_COLUMNS = ("symmetry", "dead", "persistent", "delay", "auto", "all")


def page(rows: Mapping[str, Row]) -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for configuration in sorted({key.split(" | ")[0] for key in rows}):
        parts += _section(
            configuration, {key: row for key, row in rows.items() if key.startswith(f"{configuration} |")}
        )
    return "\n".join(parts) + "\n"


def _section(configuration: str, rows: Mapping[str, Row]) -> Iterator[str]:
    by_outcome = {
        outcome: [key for key in sorted(rows) if rows[key]["outcome"] == outcome]
        for outcome in ("same", "cut", "skipped", "WRONG")
    }
    processes, _, sends = configuration.partition("x")
    yield f"## {processes} processes, {sends} sends each\n" if sends else f"## {configuration}\n"
    states = sum(rows[key]["found"]["none"]["states"] for key in by_outcome["same"])
    violating = sum(bool(rows[key]["found"]["none"]["violations"]) for key in by_outcome["same"])
    same, cut, skipped, wrong = (len(keys) for keys in by_outcome.values())
    yield (
        f"{len(rows)} protocols and mutants: {same} the same ({states:,} states without reductions; {violating} "
        f"violate something), {cut} cut, {skipped} not for native code, {wrong} different.\n"
    )
    for outcome, said in (("WRONG", "Different"), ("cut", "Cut"), ("skipped", "Not explored by native code")):
        for key in by_outcome[outcome]:
            yield f"- {said}: {_name(key)}: {rows[key]['why']}"
    yield "\n| | none | " + " | ".join(f"`{name}`" for name in _COLUMNS) + " | violated |"
    yield "|---|---|" + "---|" * len(_COLUMNS) + "---|"
    for key in by_outcome["same"]:
        found = rows[key]["found"]
        cells = [f"{found['none']['states']:,}", *(_cell(found[name], name) for name in _COLUMNS)]
        yield f"| {_name(key)} | {' | '.join(cells)} | {', '.join(found['none']['violations']) or 'nothing'} |"
    yield ""


def _cell(found: Row, name: str) -> str:
    return "-" if name in found.get("refused", {}) else f"{found['states']:,}"


def _name(key: str) -> str:
    _, subject, _ = key.split(" | ")
    return f"`{subject}`"
