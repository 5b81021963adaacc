"""What takes longest of a `thence verify --json`.

python bench/slowest.py FILE [N]

Seconds are by the clock, as the run says them. Statements of one exploration share its time, so of each kind, subject
and scope the longest is shown, and how many statements there are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def slowest(results: list[dict[str, Any]], most: int) -> list[tuple[float, int, str]]:
    """Seconds, how many statements share them, and what was done; the slowest first."""
    found: dict[str, tuple[float, int]] = {}
    for each in results:
        scope = (each.get("scope") or {}).get("name") or ""
        shared = (
            f"{each['kind']} {each['subject']} {scope}" if scope else f"{each['kind']} {each['subject']} {each['name']}"
        )
        seconds, count = found.get(shared, (0.0, 0))
        found[shared] = max(seconds, each["seconds"]), count + 1
    return sorted(((seconds, count, shared.strip()) for shared, (seconds, count) in found.items()), reverse=True)[:most]


def main() -> None:
    results = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["results"]
    for seconds, count, shared in slowest(results, int(sys.argv[2]) if len(sys.argv) > 2 else 20):
        print(f"{seconds:7.2f} s  {shared} ({count} {'statement' if count == 1 else 'statements'})")


if __name__ == "__main__":
    main()
