"""The result of an abstract search in words, and as JSON values."""

from __future__ import annotations

from typing import Any

from thence.proofs.abstraction.search import AbstractExploration


def describe_abstraction(found: AbstractExploration) -> str:
    """The result, and the parts of the abstraction, in words."""
    lines = [
        f"any number of messages: every run stays in {found.states:,} abstract states, in which no process has more "
        f"than {found.identities} undelivered {'message' if found.identities == 1 else 'messages'} on their way"
    ]
    discipline = found.discipline
    assert discipline is not None
    if discipline.waiting is not None:
        lines.append(f"messages that wait in {discipline.waiting} are sent when their turn comes")
    if discipline.queues:
        lines.append(f"equal elements in a row of {', '.join(sorted(discipline.queues))} count once or more")
    if found.collapsed:
        lines.append(f"equal packets count once or more: {', '.join(sorted(found.collapsed))}")
    if found.silent:
        lines.append(f"packets that only count down are taken to arrive at once: {', '.join(sorted(found.silent))}")
    lines += [f"each process: {balance}" for balance in found.balances]
    if found.symmetric:
        lines.append("states are counted up to the names of processes")
    return "\n".join(lines)


def abstraction_facts(found: AbstractExploration) -> dict[str, Any]:
    """The abstraction as JSON values."""
    facts: dict[str, Any] = {"engine": "interpreted", "reductions": ["symmetry"] if found.symmetric else []}
    discipline = found.discipline
    if discipline is not None:
        facts["abstraction"] = {
            "identities": found.identities,
            "waiting": discipline.waiting,
            "queues": sorted(discipline.queues),
            "packets": sorted(found.collapsed),
            "silent": sorted(found.silent),
            "balances": [str(balance) for balance in found.balances],
        }
    return facts
