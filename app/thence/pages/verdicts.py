"""docs/library/verdicts.json: what came out of every statement of the library in one run, without its evidence.

The pages of the library are made of it wherever no newer results are at hand.
`python -m thence.pages.verdicts FOLDER RESULTS.json...` writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from thence.pages.folder import run_page
from thence.pages.results import read_results

FILE: Final = "verdicts.json"

_KEPT: Final = (
    "kind", "subject", "name", "verdict", "level", "expected", "property", "states", "transitions", "depth",
    "obligations", "unknown", "where", "assumes", "not_tried", "cannot_refute", "reductions", "cases", "failures",
    "events", "assertions",
)  # fmt: skip
_KEPT_OF_SCOPE: Final = ("name", "processes", "sends", "duplicates", "losses", "ticks", "timers", "inputs", "unbounded")


def brief(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without its evidence: no counterexample, no countermodel, no time."""
    found = {name: result[name] for name in _KEPT if name in result}
    if "scope" in result:
        scope = result["scope"]
        found["scope"] = {name: scope[name] for name in _KEPT_OF_SCOPE if scope.get(name)}
    if "assumptions" in result:
        found["assumptions"] = [{"name": one["name"], "needed": one["needed"]} for one in result["assumptions"]]
    return found


def text(results: Iterable[Mapping[str, Any]], date: str) -> str:
    """The file: one result a line, so that a change of a verdict is a change of a line."""
    lines = ",\n".join(json.dumps(brief(result), ensure_ascii=False) for result in results)
    return f'{{"date": "{date}", "results": [\n{lines}\n]}}\n'


def date_of(files: Sequence[Path]) -> str:
    """The day of the newest of the files."""
    newest = max(file.stat().st_mtime for file in files)
    return datetime.fromtimestamp(newest, UTC).date().isoformat()


def make(folder: Path, sources: Sequence[Path]) -> int:
    """Writes the file."""
    (folder / FILE).write_text(text(read_results(sources), date_of(sources)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_page(make, "verdicts", "RESULTS.json...")
