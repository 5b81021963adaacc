"""`python -m thence.pages.paper_claims FOLDER RESULTS.json` runs the commands, compares, and writes the page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from thence.pages.errata.fault import read_errata
from thence.pages.folder import run_page
from thence.pages.paper_claims import table_1
from thence.pages.paper_claims.claim import read_claims
from thence.pages.paper_claims.page import page
from thence.pages.paper_claims.running import (
    differences,
    executed,
    found_among,
    run_differences,
    runs_of,
    statements_of,
)
from thence.pages.results import read_results


def make(docs: Path, sources: Sequence[Path]) -> int:
    """Writes the page. Exit code 1 if a verdict or a command differs from its entry; the page is not written then."""
    papers = read_claims()
    statements, runs = statements_of(papers), runs_of(papers)
    records = found_among(statements, read_results(sources))
    ran = {}
    for run in runs:
        print(run.command, file=sys.stderr)
        ran[run.command] = executed(run)
    table = {}
    for row in table_1.ROWS:
        print(row.command, file=sys.stderr)
        table[row.system] = table_1.explored(row)
    wrong = [*differences(statements, records), *run_differences(runs, ran), *table_1.table_differences(table)]
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        return 1
    stored = {"statements": records, "runs": ran, "table_1": table}
    (docs / "paper-claims.json").write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (docs / "paper-claims.md").write_text(page(papers, read_errata(), stored), encoding="utf-8")
    print(
        f"{len(statements)} statements and {len(runs) + len(table)} commands are as the claims expect", file=sys.stderr
    )
    return 0


if __name__ == "__main__":
    run_page(make, "paper_claims", "RESULTS.json")
