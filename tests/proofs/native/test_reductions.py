"""Symmetry keeps verdicts, over the whole library; what it leaves is pinned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import library as library_files
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.explore.reductions import REDUCTIONS
from thence.proofs.native.crosscheck import different_states
from thence.proofs.native.engine import NativeEngine, Sample

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]
Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]

ANY = ((1, 2), (0, 2), (0, 1))


@pytest.mark.long(but=("happens_before", "execution", "tree_printed", "hybrid_optimal_printed"))
@pytest.mark.parametrize("name", [path.stem for path in library_files()])
def test_verdicts_are_kept(explored: Explored, name: str) -> None:
    """By states that are all states up to names."""
    for label, interpretation in explored(name):
        request, expected = interpretation.request, interpretation.result
        native = NativeEngine(replace(request, reductions=frozenset(REDUCTIONS)))
        found = native.run(Sample.of(request.system, interpretation.origins).capacity)
        assert found.complete, label
        lengths = {name: len(violation.steps) for name, violation in expected.violations.items()}
        assert {name: len(violation.steps) for name, violation in found.violations.items()} == lengths, label
        assert {*found.reductions, *found.refused} == {*REDUCTIONS}, label
        assert found.states <= expected.states, label
        assert different_states(set(interpretation.origins), native) == [], label


QUOTIENTS = {("mf", 2): 1_178, ("mf", 3): 18_544, ("cykas", 2): 8_814, ("cykas", 3): 837_499}
SAFETY = ("causal", "fifo", "at_most_once", "no_creation", "delivered", "fault")


@pytest.mark.long(but=("mf-2",))
@pytest.mark.parametrize(("name", "sends"), QUOTIENTS)
def test_quotients(library: Library, name: str, sends: int) -> None:
    """The counts of docs/explanation/reductions.md."""
    workload = ir.Workload(3, (sends,) * 3, ANY)
    found = explore(library(name).protocols[0], workload, SAFETY, method=Method("native", reductions=["symmetry"]))
    assert (found.complete, found.reductions, found.refused, found.violations) == (True, ("symmetry",), {}, {})
    assert found.states == QUOTIENTS[name, sends]


BETWEEN_TWO = [
    ("mf", "not (waiting@p and waiting@q)", True),
    ("mf", "OB@p.size + OB@q.size <= 1", True),
    ("mf", "OB@q is empty or waiting@p", True),
    ("cykas", "OB@p is empty or MODE@q = 0", False),
    ("cykas", "not (p in UNACK@q and q in UNACK@p)", True),
]


@pytest.mark.long(but=("mf-OB@p.size + OB@q.size <= 1-True",))
@pytest.mark.parametrize(("name", "said", "is_violated"), BETWEEN_TWO)
def test_invariants_of_two_processes(specify: Specify, name: str, said: str, is_violated: bool) -> None:
    text = next(path for path in library_files() if path.stem == name).read_text(encoding="utf-8")
    stated = f"  invariant between_two: forall p, q: process. p = q or {said}\n  property "
    protocol = specify(text.replace("  property ", stated, 1)).protocols[0]
    violated = set()
    for sends in ((2, 1), (2, 2), (1, 1, 1)):
        others = tuple(tuple(q for q in range(len(sends)) if q != p) for p in range(len(sends)))
        workload = ir.Workload(len(sends), sends, others)
        found = explore(protocol, workload, [*SAFETY, "between_two"], method=Method("both", reductions=REDUCTIONS))
        violated |= found.violations.keys()
    assert violated == ({"between_two"} if is_violated else set())
