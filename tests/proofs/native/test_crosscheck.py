"""Both engines on one scope: they agree, and where one is made to lie, that is an error and no verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.execute import Delivered, Emission
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method
from thence.proofs.native import tables
from thence.proofs.native.crosscheck import EnginesDisagree
from thence.proofs.scopes.scopes import properties_of

Library: TypeAlias = Callable[[str], ir.Specification]

ONE = ir.Workload(2, (2, 1), ((1,), (0,)))


def test_engines_agree(library: Library) -> None:
    protocol = library("mf").protocols[0]
    found = explore(protocol, ONE, properties_of(protocol), method=Method("both"))
    assert (found.complete, found.engine) == (True, "both")
    assert found.states == explore(protocol, ONE, properties_of(protocol), method=Method("interpreted")).states


def test_a_limit_leaves_nothing_to_compare(library: Library) -> None:
    protocol = library("mf").protocols[0]
    found = explore(protocol, ONE, properties_of(protocol), limit=5, method=Method("both"))
    assert not found.complete
    assert found.why_incomplete == "stopped at 5 states"


def test_a_lie_is_found(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = tables.StepTable._operations_of

    def forgetful(self: tables.StepTable, process: int, emission: Emission) -> list[int]:
        return [] if isinstance(emission, Delivered) else honest(self, process, emission)

    monkeypatch.setattr(tables.StepTable, "_operations_of", forgetful)
    protocol = library("mf").protocols[0]
    with pytest.raises(EnginesDisagree, match="states only by native code"):
        explore(protocol, ONE, ["causal"], method=Method("both"))


def test_what_native_code_cannot_take_is_refused(library: Library) -> None:
    protocol = library("mf").protocols[0]
    with pytest.raises(ValueError, match="65 messages"):
        explore(protocol, ir.Workload(2, (65, 0), ((1,), (0,))), ["causal"], method=Method("native"))
