"""What is kept of states: by layers the search finds what it finds when it keeps them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import library as library_files
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, ExplorationRequest, Method, Progress, Resources
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native import state_store, sweep_line, workers
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.judging import sieve
from thence.proofs.native.progress_measure import NoMeasure
from thence.proofs.scopes.scopes import Options, explore_scope, properties_of
from thence.spec.verdict import Verdict

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]
Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]

ANY = ((1, 2), (0, 2), (0, 1))
TWO = ir.Workload(3, (2, 2, 2), ANY)
ALL = frozenset({"symmetry"})

GOES_BACK = ("hybrid", "tree")
"""Timers of the former send again what was not acknowledged, and come back to where they were; the latter pass packets
of one kind on and on.
"""


@pytest.fixture(autouse=True)
def forgets_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small scopes forget, too."""
    monkeypatch.setattr(sweep_line, "_WORTH_FORGETTING", 1)
    monkeypatch.setattr(state_store, "FIRST_INDEX", 256)
    monkeypatch.setattr(sweep_line, "FIRST_INDEX", 256)


def mutant(library: Library, name: str, known: str) -> ir.Protocol:
    mutated = next(mutant.mutated for mutant in library(name).mutants if mutant.name == known)
    assert isinstance(mutated, ir.Protocol)
    return mutated


def lengths(found: Exploration) -> dict[str, int]:
    return {name: len(violation.steps) for name, violation in found.violations.items()}


def outcome(request: ExplorationRequest, interpretation: Interpretation) -> tuple[int, int, int, bool, set[str]] | None:
    """What a search finds; None where there is no measure of progress."""
    try:
        engine = NativeEngine(request)
        found = engine.run(Sample.of(interpretation.request.system, interpretation.origins).capacity)
    except NoMeasure:
        return None
    assert not found.violations or request.storage == "exact"
    return found.states, found.transitions, found.depth, found.complete, engine.refuted


@pytest.mark.long(but=("happens_before", "tree_printed", "execution", "hybrid_basic_printed"))
@pytest.mark.parametrize("name", [path.stem for path in library_files()])
def test_the_same_whatever_is_kept(explored: Explored, name: str) -> None:
    """States, transitions, depth, and what is refuted, as the interpreter finds them."""
    refused = []
    for label, interpretation in islice(explored(name), 2):
        expected = interpretation.result
        exact = (expected.states, expected.transitions, expected.depth, True, set(expected.violations))
        request = interpretation.request
        layered = outcome(replace(request, storage="layers"), interpretation)
        if request.system.workload.programs:
            assert layered is None, "the place in a program is in no measure"
            continue
        refused += [label] * (layered is None)
        assert layered in (None, exact), label
    assert not refused or name.startswith(GOES_BACK)


@pytest.mark.parametrize("name", ["cykas", "mf"])
def test_reduced_the_same(library: Library, name: str) -> None:
    protocol = library(name).protocols[0]
    judged = [*properties_of(protocol), "total_order"]
    exact, other = (
        explore(protocol, TWO, judged, method=Method("native", reductions=ALL, storage=kept))
        for kept in ("exact", "layers")
    )
    assert other.reductions == exact.reductions != ()
    assert (other.states, other.transitions, other.depth) == (exact.states, exact.transitions, exact.depth)
    assert lengths(other) == lengths(exact)


def test_violations_are_shown(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was forgotten is looked for again; by two threads, too."""
    monkeypatch.setattr(workers, "_WORTH_SHARING", 8)
    protocol = mutant(library, "cykas", "tells_too_early")
    judged = (*properties_of(protocol), "sps")
    found = explore(protocol, TWO, judged, method=Method("native", resources=Resources(threads=2), storage="layers"))
    assert (found.states, found.transitions, found.depth) == (78_074, 368_370, 18)
    assert lengths(found) == {"fault": 5, "csps": 6, "sps": 6, "causal": 7}
    assert found.unshown == frozenset()
    assert found.storage == "layers"


def test_what_cannot_be_shown_is_unknown(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """A violation that was met is no verdict before it is replayed; that nothing else is wrong still holds."""
    again = NativeEngine.run

    def out_of_memory(engine: NativeEngine, capacity: object) -> Exploration:
        if engine.request.storage == "exact":
            return Exploration(engine="native", why_incomplete="out of memory")
        return again(engine, capacity)  # type: ignore[arg-type]

    monkeypatch.setattr(NativeEngine, "run", out_of_memory)
    protocol = mutant(library, "cykas", "tells_too_early")
    options = Options(engine="native", storage="layers")
    results = explore_scope(protocol, None, TWO, (), ("causal", "fifo"), options)
    verdicts = {result.facts["property"]: result.verdict for result in results}
    assert verdicts == {"causal": Verdict.UNKNOWN, "fifo": Verdict.HOLDS}
    assert "takes more memory" in results[0].facts["unknown"]


def test_the_store_ends(library: Library) -> None:
    protocol = library("cykas").protocols[0]
    workload = replace(TWO, sends=(3, 3, 3))
    found = explore(
        protocol, workload, ["causal"], method=Method("native", resources=Resources(memory=1 << 20), storage="layers")
    )
    assert not found.complete
    assert found.states > 10_000
    assert found.memory < 3 << 20
    assert found.why_incomplete == "the 1 MB for states are used up"


def test_less_memory(library: Library) -> None:
    protocol = library("cykas").protocols[0]
    exact, layers = (
        explore(protocol, TWO, properties_of(protocol), method=Method("native", storage=kept))
        for kept in ("exact", "layers")
    )
    assert (layers.states, layers.transitions, layers.depth) == (52_521, 221_934, 18)
    assert layers.memory < exact.memory / 2


def test_interrupted_with_what_was_covered(library: Library) -> None:
    reports: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        reports.append(progress)
        if progress.states > 1_000:
            raise KeyboardInterrupt

    protocol = library("cykas").protocols[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thence.proofs.explore.exploration.PROGRESS_SECONDS", 0)
        found = explore(protocol, TWO, ["causal"], progress=interrupt, method=Method("native", storage="layers"))
    assert (found.complete, found.why_incomplete) == (False, "interrupted")
    assert found.states == reports[-1].states > 1_000
    assert 0 < reports[-1].frontier < found.states
    assert reports[-1].expected_depth == 18


TALLIES = """
protocol tallies:
  message MSG(m: message) carries m
  state:
    n: nat
  on causal_send(m):
    n := n + 1
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    n := n + 1
    deliver m
  periodically:
    n := max(n, 1)
  invariant apart: forall p, q: process. p = q or n@p = 0 or n@p != n@q + 1
  invariant some: exists p: process. n@p <= 3
  property causal, at_most_once
  eventually delivered under fair receive
"""


def test_invariants_of_several_processes(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells kinds of states apart is kept, whatever becomes of the states."""
    monkeypatch.setattr(sieve, "_SMALLEST", 16)
    protocol = specify(TALLIES).protocols[0]
    workload = ir.Workload(3, (2, 2, 1), ANY)
    exact, other = (
        explore(protocol, workload, properties_of(protocol), method=Method("native", storage=kept))
        for kept in ("exact", "layers")
    )
    assert lengths(other) == lengths(exact)
    assert lengths(exact).keys() == {"causal", "apart"} | ({"some"} & lengths(exact).keys())
    assert (other.states, other.transitions, other.depth) == (exact.states, exact.transitions, exact.depth)


CIRCLES = """
protocol circles:
  message MSG(m: message) carries m
  message PING()
  on causal_send(m):
    send MSG(m) to m.dst
    send PING() to m.dst
  on receive MSG(m) from j:
    deliver m
  on receive PING() from j:
    send PING() to j
  property causal
"""


def test_no_measure_no_layers(specify: Specify) -> None:
    """A packet that is answered for ever brings the system back to where it was."""
    protocol = specify(CIRCLES).protocols[0]
    workload = ir.Workload(2, (1, 1), ((1,), (0,)))
    with pytest.raises(NoMeasure, match="no sum of what is sent, in flight and kept grows with every step"):
        explore(protocol, workload, ["causal"], method=Method("native", storage="layers"))
    assert explore(protocol, workload, ["causal"], method=Method("native")).complete


def test_only_what_can_be_stored_so_is(library: Library) -> None:
    protocol = library("mf").protocols[0]
    with pytest.raises(ValueError, match="all have to be stored"):
        explore(protocol, TWO, ["causal"], method=Method("both", storage="layers"))
    small = explore(protocol, replace(TWO, sends=(1, 1, 0)), ["causal"], method=Method(storage="layers"))
    assert (small.storage, small.engine) == ("exact", "interpreted")
