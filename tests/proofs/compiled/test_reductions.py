"""Reductions keep verdicts, over the whole library; what they leave is pinned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import pytest

from whence.dsl.load import library as library_files
from whence.proofs.compiled.engine import NativeEngine, Sample
from whence.proofs.explore import REDUCTIONS, Interpretation

Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]


@pytest.mark.parametrize("name", [path.stem for path in library_files()])
def test_verdicts_are_kept(explored: Explored, name: str) -> None:
    """By all reductions together; `make reductions` takes each of them, and more messages."""
    for label, interpretation in explored(name):
        request, expected = interpretation.request, interpretation.result
        engine = NativeEngine(replace(request, reductions=frozenset(REDUCTIONS)), threads=1)
        found = engine.run(Sample.of(request.system, interpretation.origins).capacity)
        assert found.complete, label
        assert found.violations.keys() == expected.violations.keys(), label
        assert {*found.reductions, *found.refused} == {*REDUCTIONS}, label
        assert found.states <= expected.states, label
