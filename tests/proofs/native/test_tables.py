"""Tables: what is written for native code, and what is made once, against the slow way."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import ExplorationRequest, Resources
from thence.proofs.native.code.cells import STEP_FACTOR
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.tables import HashedEntries
from thence.proofs.scopes.scopes import properties_of

Library: TypeAlias = Callable[[str], ir.Specification]


def looked_up(entries: HashedEntries, key: int) -> int | None:
    """The entry as native code looks it up."""
    place = ((key + 1) * STEP_FACTOR % (1 << 64) >> 32) % (entries.mask + 1)
    while entries.array[2 * place]:
        if entries.array[2 * place] == key + 1:
            return entries.array[2 * place + 1]
        place = (place + 1) % (entries.mask + 1)
    return None


@pytest.mark.parametrize("seed", range(8))
def test_what_is_entered_is_found_once_it_is_published(seed: int) -> None:
    draw, entries, known = Random(seed), HashedEntries(), dict[int, int]()
    for _ in range(draw.randrange(1, 6)):
        fresh = {draw.randrange(1 << draw.choice((8, 40, 63))): draw.randrange(1, 1 << 64) for _ in range(1_500)}
        fresh = {key: entry for key, entry in fresh.items() if key not in known}
        for key, entry in fresh.items():
            entries.enter(key, entry)
        assert all(looked_up(entries, key) is None for key in fresh)
        entries.publish()
        known |= fresh
        assert all(looked_up(entries, key) == entry for key, entry in known.items())
        assert looked_up(entries, 1 << 63) is None
    assert 2 * len(known) <= entries.mask + 1


@pytest.mark.parametrize("name", ["mf", "cykas", "hybrid_optimal"])
@pytest.mark.parametrize("reductions", [frozenset(), frozenset({"symmetry"})])
def test_what_is_made_once_is_what_is_made_anew(library: Library, name: str, reductions: frozenset[str]) -> None:
    protocol = library(name).protocols[0]
    system = System(protocol, ir.Workload(3, (1, 1, 1), ((1, 2), (0, 2), (0, 1))))
    judged = frozenset(properties_of(protocol))
    request = ExplorationRequest(system, judged, resources=Resources(threads=1), reductions=reductions)
    engine = NativeEngine(request)
    assert engine.run(Sample().capacity).complete
    table = engine._table
    assert len(table._known_operations) > 3 and table._known_broken
    for (process, emissions), found in table._known_operations.items():
        assert found == [word for emission in emissions for word in table._operations_of(process, emission)]
    for (process, local), said in table._known_broken.items():
        assert said == table._breaks(table._judged(process, local))
