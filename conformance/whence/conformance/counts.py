"""The numbers of a result in words."""

from __future__ import annotations

from whence.spec.verdict import Result

_COUNTED = ("obligations", "states", "transitions", "cases", "events", "failures")


def counts(result: Result) -> str:
    """The numbers of a result in words."""
    facts = result.facts
    shown = [_count(facts[name], name) for name in _COUNTED if isinstance(facts.get(name), int)]
    if isinstance(facts.get("depth"), int):
        shown.append(f"depth {facts['depth']}")
    if isinstance(facts.get("counterexample"), list):
        shown.append(_count(len(facts["counterexample"]), "steps"))
    if "unknown" in facts:
        shown.append(str(facts["unknown"]))
    return ", ".join(shown)


def _count(number: int, nouns: str) -> str:
    return f"1 {nouns.removesuffix('s')}" if number == 1 else f"{number:,} {nouns}"
