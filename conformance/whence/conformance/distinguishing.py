"""Executions that tell a protocol from its mutants: the shortest counterexamples that the explorer finds, as scripts.

What a mutant of a protocol does wrong, an implementation may do wrong: the counterexample is where to look.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from whence.conformance.guided import Corpus, Script, script_of
from whence.dsl import ir
from whence.dsl.narrate import execution
from whence.proofs.explore import explore

STATES: Final = 20_000
"""So far the mutants are explored: what is deeper is left out."""


def distinguishing(specification: ir.Specification, protocol: ir.Protocol, limit: int = STATES) -> Corpus:
    """The counterexamples to the mutants of the protocol that the file states, in the scopes that it names for them."""
    found: dict[Script, None] = {}
    for mutant in specification.mutants:
        if mutant.subject != protocol.name or not isinstance(mutant.mutated, ir.Protocol):
            continue
        for workload, names in _refuted(mutant).items():
            explored = explore(
                mutant.mutated, workload, names, stop_when_refuted=True, limit=limit, engine="interpreted"
            )
            for violation in explored.violations.values():
                found[script_of(execution(violation.system, violation.steps))] = None
    return Corpus(tuple(script for script in found if script))


def _refuted(mutant: ir.Mutant) -> dict[ir.Workload, Sequence[str]]:
    """What is expected to be refuted of the mutant where; scopes without end, and links, are of no use here."""
    wanted: dict[ir.Workload, list[str]] = {}
    for expect in mutant.expects:
        names = [name for name in expect.names if name != "link"]
        if expect.verdict == "refuted" and expect.settings is not None and not any(expect.settings.endless) and names:
            wanted.setdefault(expect.settings, []).extend(names)
    return dict(wanted)
