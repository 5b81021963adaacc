"""The search by workers: what is found, in however little memory, whoever is lost, and after any interruption."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.proofs.crews import Shaky

from thence.dsl import ir
from thence.dsl.load import library as library_files
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method, Resources
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.native import disk_search, engine, state_store
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.kept_search import MANIFEST, NotOnDisk
from thence.proofs.native.spread import search as spread
from thence.proofs.native.spread import tasks
from thence.proofs.scopes.scopes import properties_of

Library: TypeAlias = Callable[[str], ir.Specification]
Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]

TWO = ir.Workload(3, (2, 2, 2), ((1, 2), (0, 2), (0, 1)))
SMALLER = replace(TWO, sends=(2, 1, 1))
LITTLE = 1 << 19
"""Bytes: a few hundred states at a time."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is sent away, in small pieces, in waves of a few tasks."""
    for name, value in (
        ("FEWEST_PARTS", 4), ("PARTS_EACH", 1), ("WORTH_SENDING", 0), ("SMALLEST_PIECE", 16), ("WAVE", 4),
        ("LARGEST_TASK", 1_000),
    ):  # fmt: skip
        monkeypatch.setattr(spread, name, value)
    for module in (disk_search, state_store):
        monkeypatch.setattr(module, "FIRST_INDEX", 1 << 10)


def lengths(found: Exploration) -> dict[str, int]:
    return {name: len(violation.steps) for name, violation in found.violations.items()}


def figures(found: Exploration) -> tuple[int, int, int, bool, dict[str, int]]:
    return found.states, found.transitions, found.depth, found.complete, lengths(found)


def by(crew: Shaky, folder: Path | None = None, reductions: tuple[str, ...] = ()) -> Method:
    return Method("native", Resources(LITTLE, folder=folder, crew=crew), reductions, "disk")


def mutant(library: Library, name: str) -> ir.Protocol:
    mutated = next(each.mutated for each in library("cykas").mutants if each.name == name)
    assert isinstance(mutated, ir.Protocol)
    return mutated


SOONEST = ("happens_before", "tree_printed", "hybrid_basic_printed")


@pytest.mark.long(but=SOONEST)
@pytest.mark.parametrize("name", sorted({*SOONEST, *[path.stem for path in library_files()][::3]}))
def test_the_same_as_the_interpreter(explored: Explored, name: str) -> None:
    """States, transitions, depth, and the length of every shortest counterexample."""
    for label, interpretation in islice(explored(name), 2):
        expected, request = interpretation.result, interpretation.request
        apart = set() if is_decided_at_rest(request.system) else {"delivered"}
        chosen = replace(
            request, properties=request.properties - apart, storage="disk", limit=None,
            resources=Resources(LITTLE, crew=Shaky()),
        )  # fmt: skip
        found = NativeEngine(chosen).run(Sample.of(request.system, interpretation.origins).capacity)
        assert figures(found)[:4] == figures(expected)[:4], label
        assert lengths(found) == {at: most for at, most in lengths(expected).items() if at not in apart}, label


@pytest.mark.parametrize("reductions", [(), ("symmetry",)])
@pytest.mark.parametrize("mutated", [False, True])
def test_the_same_as_in_memory(library: Library, reductions: tuple[str, ...], mutated: bool) -> None:
    protocol = mutant(library, "tells_too_early") if mutated else library("cykas").protocols[0]
    judged = [*properties_of(protocol), "total_order"]
    exact = explore(protocol, SMALLER, judged, method=Method("native", Resources(threads=1), reductions))
    found = explore(protocol, SMALLER, judged, method=by(Shaky(), None, reductions))
    assert figures(found) == figures(exact)
    assert found.reductions == exact.reductions
    assert bool(found.violations) == mutated or "total_order" in found.violations


@pytest.mark.parametrize("mutated", [False, True])
def test_workers_are_lost_again_and_again(library: Library, tmp_path: Path, mutated: bool) -> None:
    """Each go loses one job half done; together they find what one does. No level that is committed is done again."""
    protocol = mutant(library, "tells_too_early") if mutated else library("cykas").protocols[0]
    judged = properties_of(protocol)
    exact = explore(protocol, SMALLER, judged, method=Method("native", Resources(threads=1)))
    folder = tmp_path / "states"
    whole = Shaky()
    explore(protocol, SMALLER, judged, method=by(whole))
    goes = 0
    while True:
        crew = Shaky(fails_at=whole.jobs // 4 + 5 * goes)
        found = explore(protocol, SMALLER, judged, method=by(crew, folder))
        goes += 1
        if found.complete:
            break
        assert found.why_incomplete == "all workers are gone"
        assert goes < 30
    assert goes > 2
    assert crew.jobs < whole.jobs
    assert figures(found) == figures(exact)
    assert bool(lengths(found)) == mutated
    assert not folder.exists()


class Absent:
    """Workers that cannot be reached."""

    @property
    def width(self) -> int:
        raise LookupError("no master answers")

    def map(self, _function: Callable[[Any], Any], _tasks: Sequence[Any]) -> list[Any]:
        raise AssertionError("nobody is there")


def test_workers_that_were_never_there_leave_no_folder(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "states"
    method = Method("native", Resources(LITTLE, folder=folder, crew=Absent()), (), "disk")
    with pytest.raises(LookupError, match="no master answers"):
        explore(library("cykas").protocols[0], SMALLER, ["causal"], method=method)
    assert not folder.exists()


@pytest.fixture
def stopped(library: Library, tmp_path: Path) -> Path:
    found = explore(
        library("cykas").protocols[0], SMALLER, ["causal"], method=by(Shaky(fails_at=30), tmp_path / "states")
    )
    assert not found.complete
    return tmp_path / "states"


def test_what_lost_workers_left_is_removed(library: Library, stopped: Path) -> None:
    (stopped / f"level-{'0' * 32}").write_bytes(b"half a row")
    (stopped / f"found-{'0' * 32}").write_bytes(b"half a row")
    (stopped / f"{MANIFEST}.draft").write_bytes(b"half a manifest")
    assert explore(library("cykas").protocols[0], SMALLER, ["causal"], method=by(Shaky(), stopped)).complete
    assert not stopped.exists()


def test_a_file_of_states_is_cut_off_or_gone(library: Library, stopped: Path) -> None:
    kept = json.loads((stopped / "search.json").read_text(encoding="utf-8"))  # other files are of a level cut off
    name = next(file for level in kept["rows"]["files"] for file in level if file)
    whole = (stopped / name).read_bytes()
    for content in (whole[:-8], None):
        (stopped / name).unlink() if content is None else (stopped / name).write_bytes(content)
        before = {path.name for path in stopped.iterdir()}
        with pytest.raises(NotOnDisk, match="damaged"):
            explore(library("cykas").protocols[0], SMALLER, ["causal"], method=by(Shaky(), stopped))
        assert {path.name for path in stopped.iterdir()} == before


def test_the_states_of_one_machine_are_not_those_of_many(library: Library, stopped: Path) -> None:
    alone = Method("native", Resources(LITTLE, folder=stopped), storage="disk")
    with pytest.raises(NotOnDisk, match="another search"):
        explore(library("cykas").protocols[0], SMALLER, ["causal"], method=alone)


def test_the_memory_is_too_little(library: Library, tmp_path: Path) -> None:
    method = replace(by(Shaky()), resources=Resources(1 << 12, crew=Shaky()))
    found = explore(library("cykas").protocols[0], SMALLER, ["causal"], method=method)
    assert (found.complete, found.states) == (False, 0)
    assert "used up" in found.why_incomplete


def test_a_worker_of_another_version(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would deal rows out, or read them, in another way."""

    def common(self: spread.SpreadSearch) -> tasks.Ground:
        return replace(ground(self), digest="another")

    ground = spread.SpreadSearch._common
    monkeypatch.setattr(spread.SpreadSearch, "_common", common)
    with pytest.raises(tasks.UnlikeError, match="different versions"):
        explore(library("cykas").protocols[0], SMALLER, ["causal"], method=by(Shaky()))


@pytest.mark.parametrize("crew", [None, Shaky(fails_at=30)])
def test_a_fault_that_was_met_before_the_interruption_is_remembered(
    specify: Library, tmp_path: Path, crew: Shaky | None
) -> None:
    """`delivered` alone is judged: a run that ends in a fault leaves it undecided, also when the search goes on."""
    (protocol,) = specify(FAULTY).protocols
    exact = explore(protocol, FEW, ["delivered"], method=Method("native", Resources(threads=1)))
    assert exact.undecided
    stopping = _stopped_by_limit(protocol, tmp_path / "states", crew)
    assert not stopping.complete and (tmp_path / "states" / MANIFEST).exists()
    again = None if crew is None else Shaky()
    method = Method("native", Resources(LITTLE, folder=tmp_path / "states", crew=again), storage="disk")
    found = explore(protocol, FEW, ["delivered"], method=method)
    assert figures(found) == figures(exact)
    assert found.undecided == exact.undecided


FAULTY = """
protocol counting:
  network reordering

  message MSG(m: message) carries m

  state:
    n: nat = 3

  on causal_send(m):
    n := n - 1
    send MSG(m) to m.dst

  on receive MSG(m) from j:
    deliver m
"""
FEW = ir.Workload(3, (4, 1, 1), ((1, 2), (0, 2), (0, 1)))


def _stopped_by_limit(protocol: ir.Protocol, folder: Path, crew: Shaky | None) -> Exploration:
    method = Method("native", Resources(LITTLE, folder=folder, crew=None if crew is None else Shaky()), storage="disk")
    states = explore(protocol, FEW, ["delivered"], method=replace(method, resources=Resources(LITTLE))).states
    return explore(protocol, FEW, ["delivered"], limit=states - 3, method=method)


def test_a_new_search_does_not_go_on_with_what_an_old_layout_left(
    library: Library, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the layout turns out too small, all begins anew, and nothing of before counts, even after a kill."""
    monkeypatch.setattr(engine, "recall", lambda *_: None)
    found = explore(library("cykas").protocols[0], SMALLER, ["causal"], method=by(Shaky(fails_at=1), stopped))
    assert not found.complete
    assert not stopped.exists()
