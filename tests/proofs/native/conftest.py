"""The library's protocols and mutants in scopes that the interpreter can explore."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.dsl.run import execute
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import ExplorationRequest, Resources
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.engine import why_not
from thence.proofs.scopes.scopes import properties_of

JUDGED = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order", "delivered", "fault")
SMALL_ENOUGH = 1_500
"""States up to which the interpreter goes."""

Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]


def _workloads(specification: ir.Specification) -> list[tuple[str, ir.Protocol, ir.Workload]]:
    """Every protocol in every scope that native code takes, and every mutant in what its expectations name.

    Promises, and formulas about actions and packets in flight, have tests of their own.
    """
    by_name = {protocol.name: protocol for protocol in specification.protocols}
    found = [(scope.name, by_name[scope.protocol], scope.workload) for scope in specification.scopes]
    for mutant in specification.mutants:
        if isinstance(mutant.mutated, ir.Protocol):
            chosen = dict.fromkeys(expect.settings for expect in mutant.expects if expect.settings is not None)
            found += [(mutant.name, mutant.mutated, workload) for workload in chosen]
    return [known for known in found if _is_plain(system_of(known[1], known[2]))]


def _is_plain(system: System) -> bool:
    special = system.promises is not None or system.sees_network or system.of_steps
    return why_not(system) is None and not special


def _interpreted(protocol: ir.Protocol, workload: ir.Workload) -> Interpretation:
    """In that workload, or with fewer messages, so that the interpreter comes to an end."""
    watched = replace(protocol, properties=tuple(dict.fromkeys((*protocol.properties, "total_order"))))
    judged = frozenset({*properties_of(protocol), *JUDGED})
    while True:
        request = ExplorationRequest(
            System(watched, workload), judged, limit=SMALL_ENOUGH, resources=Resources(threads=1)
        )
        interpretation = Interpretation(request)
        if interpretation.run().complete:
            return interpretation
        most = workload.sends.index(max(workload.sends))
        fewer = tuple(sends - (process == most) for process, sends in enumerate(workload.sends))
        workload = replace(workload, sends=fewer)


@pytest.fixture
def explored(monkeypatch: pytest.MonkeyPatch) -> Explored:
    """What the interpreter finds of each protocol and mutant of a library file, and in which scope; each once."""
    monkeypatch.setattr(execute, "STEP_BUDGET", 500)

    def explore_all(name: str) -> Iterator[tuple[str, Interpretation]]:
        specification = load(name).specification
        assert specification is not None
        seen = set()
        for label, protocol, workload in _workloads(specification):
            interpretation = _interpreted(protocol, workload)
            interpretation.request = replace(interpretation.request, limit=None)
            if (label, interpretation.request.system.workload) not in seen:
                seen.add((label, interpretation.request.system.workload))
                yield label, interpretation

    return explore_all
