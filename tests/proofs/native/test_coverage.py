"""Whether stored states stand for all: those of a reduced search do, and not all of them can be spared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import Request
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.coverage import Coverage
from thence.proofs.native.engine import NativeEngine, Sample

Library: TypeAlias = Callable[[str], ir.Specification]

WORKLOAD = ir.Workload(3, (2, 1, 0), ((1, 2), (0, 2), (0, 1)))


@pytest.mark.parametrize("reductions", [("persistent",), ("delay",), ("persistent", "delay")])
@pytest.mark.parametrize("name", ["cykas", "mf"])
def test_coverage(library: Library, name: str, reductions: tuple[str, ...]) -> None:
    request = Request(System(library(name).protocols[0], WORKLOAD), frozenset(("causal", "delivered")))
    interpretation = Interpretation(request)
    interpretation.run()
    reachable = set(interpretation.origins)
    reduced = Request(request.system, request.properties, reductions=frozenset(reductions))
    engine = NativeEngine(reduced, 1)
    engine.run(Sample().capacity)
    assert engine.search is not None
    stored = {engine.search.state(number) for number in engine.search.numbers()}
    assert stored < reachable
    coverage = Coverage(request.system, engine.search.table, "delay" in reductions)
    assert coverage.missing(reachable, stored) == []
    spared = [state for state in sorted(stored) if not coverage.missing(reachable, stored - {state})]
    assert len(spared) < len(stored)
    assert set(coverage.missing(reachable, [])) == reachable
