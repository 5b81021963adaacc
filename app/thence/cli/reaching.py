"""The reach of schedulers, for readers: a table with hit rates and bounds, features reached, messages kept back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from thence.cli.readers.layout import GAP, grid, width_of
from thence.conformance.conform.outcomes import Reach
from thence.conformance.harness.coverage import SCENARIOS, Features
from thence.conformance.replay.findings import CaseOutcome
from thence.spec.words import counted, percent

_HEADER = ("scheduler", "cases", "events", "failed", "hit rate", "rate <")
MOST_MISSING = 3
"""The line of what was reached names so many features that were not."""

_KINDS = (("handler", "handlers"), ("branch", "branches"), ("scenario", "scenarios"))


def _kinds(features: Features) -> Iterator[tuple[str, str]]:
    """The kinds of features with their plurals. Where applications send no messages, the scenarios are the `reachable`
    statements of the protocol only."""
    own = not any(name in SCENARIOS for kind, name in features.names if kind == "scenario")
    for kind, plural in _KINDS:
        yield kind, "`reachable`" if kind == "scenario" and own else plural


def reach_table(reaches: Sequence[Reach], whole: Reach) -> str:
    """One line for each scheduler and one for all. `rate <` is the bound on the failure rate at 95 %.

    A kind of feature that the protocol does not have has no column.
    """
    features = whole.coverage.features
    kinds = [(kind, plural) for kind, plural in _kinds(features) if features.count(0, kind)[1]]
    local = bool(whole.coverage.local)
    header = [*_HEADER, *(plural for _, plural in kinds), "abstract states", *(["states"] if local else [])]
    rows = [header]
    for one in (*reaches, whole):
        coverage = one.coverage
        reached = [" of ".join(map(str, features.count(coverage.bits, kind))) for kind, _ in kinds]
        rate = "-" if one.hit_rate is None else percent(one.hit_rate)
        rows.append(
            [one.name, f"{one.cases:,}", f"{one.events:,}", f"{one.failures:,}", rate, percent(one.bound),
             *reached, f"{len(coverage.abstract):,}", *([f"{len(coverage.local):,}"] if local else [])]
        )  # fmt: skip
    return "\n".join(grid(rows, width_of(sys.stdout) - GAP))


def reach_line(whole: Reach) -> str:
    """How much all schedulers together reached, and the first features that none did."""
    coverage = whole.coverage
    counts = ((coverage.features.count(coverage.bits, kind), plural) for kind, plural in _kinds(coverage.features))
    reached = [f"{seen} of {every} {plural}" for (seen, every), plural in counts if every]
    missing = [name for _, name in coverage.missing]
    more = f" and {len(missing) - MOST_MISSING:,} more" if len(missing) > MOST_MISSING else ""
    said = f"; not reached: {', '.join(missing[:MOST_MISSING])}{more}" if missing else ""
    return f"reached: {', '.join(reached)}{said}"


def seen_and_missing(whole: Reach) -> list[str]:
    """The number of times that each scenario was seen, and the features that were never reached."""
    coverage = whole.coverage
    seen = [(name, count) for (kind, name), count in sorted(coverage.seen.items()) if kind == "scenario"]
    said = ", ".join(f"{name} {count:,}" for name, count in seen) or "nothing of what to look for"
    there = any(kind == "scenario" for kind, _ in coverage.features.names)
    lines = [f"sometimes: {said}"] if there else []
    for kind, name in coverage.missing:
        explained = f" ({SCENARIOS[name]})" if name in SCENARIOS else ""
        said = "reachable" if kind == "scenario" and name not in SCENARIOS else kind
        lines.append(f"not reached: {said} {name}{explained}")
    return lines


def withheld_text(arrivals: int, withheld: int, slowest: CaseOutcome | None) -> str:
    """Over-delay as a sentence."""
    if not arrivals:
        return "over-delay: not seen, for no packet says which message it moves"
    said = f"over-delay: {withheld:,} of {counted(arrivals, 'arrival')} kept back though deliverable"
    if not withheld:
        return said
    said += f", {100 * withheld / arrivals:.2g} per 100"
    delay = None if slowest is None else slowest.longest_delay
    return said if delay is None else f"{said}; the worst: {delay}"


def indented(lines: Iterable[str]) -> str:
    """The lines, indented under a sentence."""
    return "\n".join(f"  {line}" for line in lines)
