"""`python -m thence.pages.errata FOLDER` checks the statements, and writes the page, pictures and letters."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from thence.pages.errata.fault import Errata, read_errata
from thence.pages.errata.letters import letters
from thence.pages.errata.page import page
from thence.pages.errata.verdicts import Checked, check, sources_of
from thence.pages.folder import run_page


def pictures(errata: Errata, checked: dict[str, Checked]) -> dict[str, str]:
    """For each fault the picture of the first statement that shows it and has one."""
    found = {}
    for fault in errata.faults:
        drawn = [checked[one.key].picture for one in fault.shown if checked[one.key].picture]
        if drawn:
            found[fault.id] = drawn[0]
    return found


def make(docs: Path, _sources: Sequence[Path]) -> int:
    """Writes the page. Exit code 1 if a statement is not as the library expects."""
    (docs / "pictures").mkdir(parents=True, exist_ok=True)
    errata = read_errata()
    checked = check(errata.statements, lambda line: print(line, file=sys.stderr))
    drawn = pictures(errata, checked)
    names = {fault: f"pictures/errata-{fault}.svg" for fault in drawn}
    for fault, picture in drawn.items():
        (docs / names[fault]).write_text(picture, encoding="utf-8")
    verdicts = {key: dict(one.record) for key, one in checked.items()}
    stored = {"pictures": names, "sources": sources_of(errata), "verdicts": verdicts}
    (docs / "errata.json").write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (docs / "errata.md").write_text(page(errata, verdicts, names), encoding="utf-8")
    (docs / "letters").mkdir(exist_ok=True)
    for key, letter in letters(errata, verdicts).items():
        (docs / "letters" / f"{key}.md").write_text(letter, encoding="utf-8")
    surprises = [key for key, verdict in verdicts.items() if not verdict["expected"]]
    for key in surprises:
        print(f"not as expected: {key}", file=sys.stderr)
    return 1 if surprises else 0


if __name__ == "__main__":
    run_page(make, "errata")
