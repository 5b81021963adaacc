"""The assumption matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from faults.rst import MergeDiscarded

from thence.conformance.cases.network import Network, Settings
from thence.conformance.cases.schedule import React
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.conform.matrix import ASSUMPTIONS, Cell, MatrixSubject, cells, without_reactions
from thence.conformance.conform.sampling import Sampling
from thence.dsl import ir
from thence.dsl.load import load
from thence.impl.cbcast import CBCAST
from thence.impl.hybrid_basic import HybridBasic
from thence.impl.rst import RST

Library = Callable[[str], ir.Protocol]


def matrix(make: object, name: str, library: Library, cases: int = 60) -> dict[tuple[str, str], Cell]:
    protocol = library(name)
    system = MatrixSubject(make, [protocol.delivery], settings_for(protocol), protocol, replayed=True)  # type: ignore[arg-type]
    found = cells(system, Sampling(cases, operations=12))
    return {(cell.assumption.name, cell.delivery): cell for cell in found}


def test_every_cell_is_there_and_what_does_not_apply_says_so(library: Library) -> None:
    found = matrix(RST, "rst", library, cases=8)
    assert len(found) == 3 * len(ASSUMPTIONS)
    for (_, delivery), cell in found.items():
        assert bool(cell.cases) == (delivery == "unicast") == (not cell.not_applicable)
        assert (cell.bound is None) == (not cell.cases)


def test_a_right_system_passes_where_its_protocol_claims_it_and_fails_elsewhere(library: Library) -> None:
    found = matrix(RST, "rst", library)
    for (name, delivery), cell in found.items():
        if delivery == "unicast":
            assert cell.claimed == (name in {"FIFO channels", "reordering", "reordering, reactive",
                                             "FIFO channels, reactive"}), name  # fmt: skip
            assert cell.replayed == cell.claimed
            assert bool(cell.failures) == (not cell.claimed), name
            assert sum(reach.cases for reach in cell.reaches) == cell.cases == 60
            assert {reach.name for reach in cell.reaches} == {"directed", *SCHEDULERS, "guided"}
    assert dict(found["loss", "unicast"].kinds).keys() == {"stuck"}


def test_a_protocol_that_withstands_everything(library: Library) -> None:
    found = matrix(HybridBasic, "hybrid_basic", library, cases=40)
    claimed = {name for (name, delivery), cell in found.items() if delivery == "unicast" and cell.claimed}
    assert {"loss", "duplication", "loss and duplication"} <= claimed
    assert not any(cell.failures for (name, _), cell in found.items() if name in claimed)


def test_a_faulty_system_has_its_fingerprint_and_a_short_counterexample(library: Library) -> None:
    found = matrix(MergeDiscarded, "rst", library)
    cell = found["reordering", "unicast"]
    assert cell.failures and "causal" in dict(cell.kinds)
    assert cell.worst is not None and cell.worst.reproduced
    assert cell.worst.kinds == ("causal",) and len(cell.worst.operations) <= 6
    assert cell.bound is not None and cell.failures / cell.cases < cell.bound < 1


def test_broadcasts(library: Library) -> None:
    found = matrix(CBCAST, "cbcast", library, cases=20)
    assert not found["reordering", "broadcast"].failures
    assert found["self-sends", "broadcast"].not_applicable == "broadcasts go to all others"


def test_what_is_claimed(library: Library) -> None:
    mf, hybrid = library("mf"), library("hybrid_basic")
    default = settings_for(mf)
    follower = MatrixSubject(RST, ["unicast"], default, mf)
    assert follower.claims(default) and follower.claims(replace(default, channels="fifo"))
    assert not follower.claims(replace(default, loss=True))
    assert not follower.claims(replace(default, self_sends=True))
    assert replace(follower, protocol=hybrid).claims(replace(default, loss=True, duplication=True))
    assert replace(follower, protocol=None).claims(default) is None


@pytest.mark.parametrize("name", SCHEDULERS)
def test_without_reactions(name: str) -> None:
    def drawn(plain: bool) -> list[bool]:
        scheduler = without_reactions(SCHEDULERS[name]) if plain else SCHEDULERS[name]
        found = scheduler(Random(3), Settings(), Network(fifo=False), 60)
        return [isinstance(operation, React) for operation in found]

    assert any(drawn(False)) and not any(drawn(True))
    assert len(drawn(False)) == len(drawn(True))


def test_what_the_rows_name_is_in_the_library() -> None:
    for assumption in ASSUMPTIONS:
        if assumption.statement:
            file, _, name = assumption.statement.partition(": ")
            specification = load(file).specification
            assert specification is not None
            theorem = next(theorem for theorem in specification.theorems if theorem.name == name)
            for hypothesis in ("fifo", "sps", "csps", "no_self_sends"):
                if assumption.discharges.startswith(hypothesis):
                    assert hypothesis in {formula.name for formula in theorem.assume}, assumption.name
