"""Native code against the interpreter: the same states, transitions, depth and violations, over the whole library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import library as library_files
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.engine import NativeEngine, Sample, why_not
from thence.proofs.scopes.scopes import properties_of

Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]


@pytest.mark.long(but=("happens_before", "execution", "tree_printed", "hybrid_optimal_indices"))
@pytest.mark.parametrize("name", [path.stem for path in library_files()])
def test_the_same_as_the_interpreter(explored: Explored, name: str) -> None:
    """The set of states, the numbers of states and transitions, depth, what is violated and in how many steps."""
    for label, interpretation in explored(name):
        request, expected = interpretation.request, interpretation.result
        assert why_not(request.system) is None
        engine = NativeEngine(request)
        found = engine.run(Sample.of(request.system, interpretation.origins).capacity)
        assert engine.search is not None
        states = [engine.search.store.state(number) for number in engine.search.store.numbers()]
        assert len(states) == found.states, label
        assert set(states) == interpretation.origins.keys(), label
        assert (found.complete, found.states, found.transitions, found.depth) == (
            True, expected.states, expected.transitions, expected.depth,
        ), label  # fmt: skip
        lengths = {known: len(violation.steps) for known, violation in expected.violations.items()}
        assert {known: len(violation.steps) for known, violation in found.violations.items()} == lengths, label
        layout = engine.search.layout
        assert [layout.decode(layout.encode(state)) for state in states] == states, label


@pytest.mark.parametrize("storage", ["exact", "layers"])
@pytest.mark.parametrize("name", ["cykas", "rst", "hybrid_basic", "hybrid_multicast", "newtop", "mf"])
def test_nobody_sends_anything(name: str, storage: Literal["exact", "layers"]) -> None:
    specification = load(name).specification
    assert specification is not None
    protocol = specification.protocols[0]
    others = ((1,), (0,))
    groups = () if protocol.delivery == "unicast" else (((1,),), ((0,),))
    workload = ir.Workload(2, (0, 0), others, ticks=1, groups=groups)
    names = properties_of(protocol)
    found = explore(protocol, workload, names, method=Method("native", storage=storage))
    known = explore(protocol, workload, names, method=Method("interpreted"))
    assert (found.states, found.transitions, found.depth) == (known.states, known.transitions, known.depth)
    assert found.complete
    assert not found.violations
