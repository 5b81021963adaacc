"""The numbers of a result in words."""

from __future__ import annotations

from whence.spec.verdict import Result


def counts(result: Result) -> str:
    """The numbers of a result in words."""
    names = ("obligations", "states", "transitions", "depth", "cases", "events", "failures")
    shown = [f"{result.facts[name]:,} {name}" for name in names if isinstance(result.facts.get(name), int)]
    if isinstance(result.facts.get("counterexample"), list) and "depth" in result.facts:
        shown.append(f"{len(result.facts['counterexample'])} steps")
    if "unknown" in result.facts:
        shown.append(str(result.facts["unknown"]))
    return ", ".join(shown)
