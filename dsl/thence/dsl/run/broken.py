"""The findings about formulas: in words why one counts as violated."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from thence.dsl.ir.properties import undefined
from thence.dsl.run.causality import Finding
from thence.dsl.run.values import Fault


def broken_invariant(name: str, fault: Fault | None, witnesses: Collection[str], process: int = 0) -> Finding:
    """An invariant that is false or has no value. A `reachable` formula without a value is neither reached nor not."""
    if fault is None:
        return Finding(name, process, detail=f"invariant {name} is false")
    if name in witnesses:
        return Finding(undefined(name), process, detail=f"{name} has no value: {fault}")
    return Finding(name, process, detail=f"invariant {name} has no value: {fault}")


def broken_at_rest(name: str, fault: Fault | None) -> Finding:
    """The same for a formula about states in which nothing has to happen any more."""
    said = f"{name} is false" if fault is None else f"{name} has no value: {fault}"
    return Finding(name, 0, detail=f"nothing has to happen any more, and {said}")


def disturbs(findings: Iterable[Finding], of_steps: Collection[str]) -> bool:
    """Whether a step is at fault or violates a built-in property: formulas about actions (`of_steps`) do not count."""
    ignored = {*of_steps, *map(undefined, of_steps)}
    return any(finding.property not in ignored for finding in findings)
