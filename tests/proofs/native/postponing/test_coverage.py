"""Whether stored states stand for all: those of a reduced search do, and not all of them can be spared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.postponing.coverage import ReductionCoverage

Library: TypeAlias = Callable[[str], ir.Specification]

WORKLOAD = ir.Workload(3, (2, 1, 0), ((1, 2), (0, 2), (0, 1)))


@pytest.mark.parametrize("name", ["cykas", "mf"])
def test_coverage(library: Library, name: str) -> None:
    request = ExplorationRequest(System(library(name).protocols[0], WORKLOAD), frozenset(("causal", "delivered")))
    interpretation = Interpretation(request)
    interpretation.run()
    reachable = set(interpretation.origins)
    reduced = ExplorationRequest(request.system, request.properties, reductions=frozenset({"delay"}))
    engine = NativeEngine(reduced)
    engine.run(Sample().capacity)
    assert engine.search is not None
    stored = {engine.search.store.state(number) for number in engine.search.store.numbers()}
    assert stored < reachable
    plans = engine.search.table.plans
    assert plans is not None
    coverage = ReductionCoverage(request.system, plans)
    assert coverage.missing(reachable, stored) == []
    spared = [state for state in sorted(stored) if not coverage.missing(reachable, stored - {state})]
    assert len(spared) < len(stored)
    assert set(coverage.missing(reachable, [])) == reachable
