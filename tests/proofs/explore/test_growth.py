"""The guess that a scope is large: where it is wrong, results are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import library as library_files
from thence.proofs import engines
from thence.proofs.engines import FEW, SMALL, explore
from thence.proofs.explore.exploration import Exploration, Method, Resources
from thence.proofs.explore.growth import has_many_before_it
from thence.proofs.explore.reductions import AUTO, FEW_STATES
from thence.proofs.scopes.scopes import judged_in

Library: TypeAlias = Callable[[str], ir.Specification]


def test_steep_growth() -> None:
    assert has_many_before_it([1, 6, 30, 101], SMALL)
    assert not has_many_before_it([1, 9, 30, 60], SMALL)
    assert not has_many_before_it([1, 9], SMALL)


def test_clear_growth_of_many() -> None:
    assert has_many_before_it([100, 200, 290], 500)
    assert not has_many_before_it([100, 200, 290], 601)
    assert not has_many_before_it([100, 300, 410], 500)


def told(found: Exploration) -> tuple[object, ...]:
    """All that a user can see but the engine and the time."""
    lengths = {name: len(violation.steps) for name, violation in found.violations.items()}
    return (
        found.states, found.transitions, found.depth, found.complete, found.reductions, found.refused, found.never,
        found.undecided, lengths, found.order_matters,
    )  # fmt: skip


def ending_scopes(specification: ir.Specification) -> Iterator[tuple[ir.Protocol, ir.Workload, tuple[str, ...]]]:
    """The scopes that end."""
    for scope in specification.scopes:
        protocol = next(each for each in specification.protocols if each.name == scope.protocol)
        if scope.workload.ends:
            yield protocol, scope.workload, judged_in(protocol, scope.workload, scope.expects)


@pytest.mark.long(but=("mf", "rst", "cbcast"))
@pytest.mark.parametrize("name", [path.stem for path in library_files()])
def test_results_do_not_depend_on_the_guess(library: Library, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What the guess says is never believed: scopes with few states are counted as they are, all others are reduced."""
    for protocol, workload, judged in ending_scopes(library(name)):
        if not explore(protocol, workload, judged, limit=10_000).complete:
            continue
        results = []
        for guess in (True, False):
            monkeypatch.setattr(engines, "has_many_before_it", lambda layers, seen, guess=guess: guess)
            method = Method("auto", Resources(threads=1), [AUTO])
            results.append(explore(protocol, workload, judged, method=method))
        sooner, later = results
        assert told(sooner) == told(later)
        assert sooner.states > FEW_STATES or sooner.reductions or FEW in sooner.refused.values()


def test_a_small_scope_that_seems_large_is_not_reduced(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its states are few, and each stands for several."""
    monkeypatch.setattr(engines, "has_many_before_it", lambda layers, seen: True)
    protocol = library("mf").protocols[0]
    workload = ir.Workload(3, (2, 1, 1), ((1, 2), (0, 2), (0, 1)))
    judged = judged_in(protocol, workload, ())
    plain = explore(protocol, workload, judged)
    assert SMALL < plain.states <= FEW_STATES
    reduced = explore(protocol, workload, judged, method=Method("native", reductions=["symmetry"]))
    assert reduced.states < plain.states
    assert reduced.stands_for is not None and reduced.states < reduced.stands_for <= plain.states
    unasked = explore(protocol, workload, judged, method=Method(reductions=[AUTO]))
    assert (unasked.states, unasked.transitions, unasked.depth) == (plain.states, plain.transitions, plain.depth)
    assert (unasked.reductions, unasked.refused) == ((), {"symmetry": FEW})
