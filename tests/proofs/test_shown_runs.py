"""The run that is shown depends on what is explored, not on how many threads did it, or on who looked on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import library as files
from thence.dsl.run.scoped import asked_of
from thence.dsl.run.system import System
from thence.proofs import engines
from thence.proofs.engines import explored
from thence.proofs.explore.exploration import Exploration, ExplorationRequest, Resources, Storage
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native import workers
from thence.proofs.native.engine import Sample, explore_natively
from thence.proofs.native.progress_measure import NoMeasure
from thence.proofs.scopes.scopes import Options, check_mutant

from .test_random_protocols import JUDGED, Draw, Specify, keep_small

Library: TypeAlias = Callable[[str], ir.Specification]
Shown: TypeAlias = dict[str, tuple[object, ...]]

SAMPLE = Sample(64, 32, 4)
FEW = Sample(4, 1, 1)
"""Of which follows a layout that is too small, so that the search starts again."""
MOST_STATES = 1_500
WAYS: tuple[tuple[Storage, int], ...] = (("exact", 1), ("exact", 2), ("exact", 3), ("layers", 1), ("layers", 2))
TWO = ir.Workload(3, (2, 2, 2), ((1, 2), (0, 2), (0, 1)))


@pytest.fixture(autouse=True)
def shares_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share small layers, and the interpreter leaves most of a small scope to native code."""
    keep_small(monkeypatch)
    monkeypatch.setattr(workers, "_WORTH_SHARING", 2)
    monkeypatch.setattr(engines, "SMALL", 200)


def shown(found: Exploration) -> Shown:
    """The runs, as they are read."""
    return {
        name: (violation.finding, *((step.title, step.details) for step in violation.steps), violation.cycle)
        for name, violation in sorted(found.violations.items())
    }


def every_way(request: ExplorationRequest, sample: Sample) -> Shown:
    """What is shown, the same by any number of threads, and whether states are kept or forgotten. Nothing, where the
    search comes to its limit.
    """
    expected: Shown | None = None
    for storage, threads in WAYS:
        system = System(request.system.protocol, request.system.workload)
        try:
            found = explore_natively(
                replace(request, system=system, storage=storage, resources=Resources(threads=threads)), sample
            )
        except NoMeasure:
            continue
        if found.why_incomplete.startswith("stopped at"):
            return {}
        assert not found.unshown
        expected = shown(found) if expected is None else expected
        assert shown(found) == expected, (storage, threads, sample)
    assert expected is not None
    return expected


def drawn(specify: Specify, seed: int) -> tuple[System, frozenset[str]]:
    """A protocol in a scope, and what is judged."""
    draw = Draw(seed)
    (protocol,) = specify(draw.text()).protocols
    judged = frozenset((*JUDGED, *(formula.name for formula in protocol.formulas)))
    return System(asked_of(protocol, judged), draw.workload(protocol)), judged


@pytest.mark.long(but=("few",))
@pytest.mark.parametrize("seeds", [range(4), range(4, 20)], ids=["few", "more"])
def test_threads_show_the_same_runs(specify: Specify, seeds: range) -> None:
    """Where the layout suits, and where it is too small; where the search goes on, and where it stops at violations."""
    violating = 0
    for seed in seeds:
        system, judged = drawn(specify, seed)
        request = ExplorationRequest(system, judged, limit=MOST_STATES)
        found = every_way(request, SAMPLE)
        every_way(request, FEW)
        every_way(replace(request, reductions=frozenset({"symmetry"})), SAMPLE)
        if found:
            every_way(replace(request, properties=frozenset(found), stop_when_refuted=True), SAMPLE)
        violating += bool(found)
    assert violating


@pytest.mark.long(but=("few",))
@pytest.mark.parametrize("seeds", [range(344, 348), range(20)], ids=["few", "more"])
def test_nobody_who_looks_on_changes_what_is_shown(specify: Specify, seeds: range) -> None:
    """The interpreter begins, and native code goes on; with and without a line of progress, by one thread and two. The
    run of 344 depends on where the search for it begins.
    """
    natively = 0
    for seed in seeds:
        system, judged = drawn(specify, seed)
        found = []
        for look, threads in ((None, 1), (lambda _: None, 1), (None, 2)):
            request = ExplorationRequest(
                System(system.protocol, system.workload), judged - {"delivered", "deadlock_free"}, limit=20_000,
                progress=look, resources=Resources(threads=threads),
            )  # fmt: skip
            found.append(explored(request))
        if all(each.complete for each in found):
            natively += found[0].engine == "native" and bool(found[0].violations)
            assert all(shown(each) == shown(found[0]) for each in found), seed
    assert natively


@pytest.mark.long(but=("cops",))
@pytest.mark.parametrize("name", [path.stem for path in files()])
def test_mutants_have_the_same_results(library: Library, name: str) -> None:
    """Their violations are deep, where many runs are equally short: of `cops` three depend on where a search begins."""
    specification = library(name)
    for mutant in specification.mutants:
        if isinstance(mutant.mutated, ir.Protocol):
            one, two = (
                [
                    replace(result, seconds=0.0)
                    for result in check_mutant(specification, mutant, Options(resources=Resources(threads=threads)))
                ]
                for threads in (1, 2)
            )
            assert one == two, mutant.name


def test_who_looks_on_numbers_nothing(library: Library) -> None:
    """The line of progress of the interpreter tells an estimate, which runs in a system of its own."""
    (protocol, *_) = library("cykas").protocols
    runs: list[Shown] = []
    for look in (None, lambda _: None):
        request = ExplorationRequest(System(protocol, TWO), frozenset({"delivered"}), limit=300, progress=look)
        Interpretation(request).run()
        runs.append({"packets": request.system.steps.packets()})
    assert runs[0] == runs[1]
