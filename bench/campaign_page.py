"""Writes what a campaign over the library's implementations came to into docs/reference/campaigns.md.

Run from the top folder: `.venv/bin/python bench/campaign_page.py DIR`, where DIR is the campaign, done or running.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from thence.conformance.campaign import CampaignError, Report, report
from thence.conformance.campaign.page import duration

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "campaigns.md"
NUMBERS = ROOT / "bench" / "campaign.json"
BEGIN, END = "<!-- campaign: begin -->", "<!-- campaign: end -->"


def section(found: Report) -> str:
    """The table, a row a system, and what is said above it."""
    status = found.status
    tally = status.tally
    asked = "" if status.complete else f" of the {status.parameters.cases:,} that it has"
    kept = {"thence", "python", "pyspark"}
    versions = ", ".join(f"{name} {number}" for name, number in sorted(status.versions.items()) if name in kept)
    lines = [
        f"{tally.cases:,} cases{asked}, {tally.events:,} events, {tally.failures:,} failures, {tally.errors:,} without "
        f"an outcome; {duration(status.seconds)} in batches on `{status.parameters.master}`, {status.rate or 0:,.0f} "
        f"cases a second; digest `{status.to_json()['digest']}`, code `{status.code[:16]}` ({versions}).",
        "",
        "| system | cases | failed | rate below (95 %) | handlers | branches | scenarios | abstract states, about |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, count in tally.systems.items():
        reached = found.reached[name]
        cells = [f"{reached.count(kind)[0]} of {reached.count(kind)[1]}" for kind in ("handler", "branch", "scenario")]
        cells.append(f"{reached.about():,}" if reached.states else "few")
        counted = f"{count.cases:,} | {count.failures:,} | {100 * count.bound:.2g} %"
        lines.append(f"| `{name}` | {counted} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        found = report(Path(arguments[0]), shown=10)
    except CampaignError as error:
        print(error, file=sys.stderr)
        return 2
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    PAGE.write_text(f"{before}{BEGIN}\n{section(found)}\n{END}{after}", encoding="utf-8")
    kept = found.to_json()
    numbers = {name: kept[name] for name in (
        "identity", "code", "versions", "complete", "cases_total", "cases", "failures", "errors", "events", "digest",
        "seconds", "failure_rate_bound", "kinds", "groups", "systems", "curve", "failing",
    )}  # fmt: skip
    NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
