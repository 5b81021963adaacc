"""Code that was made in haste finds what optimised code finds, and makes room for it in the middle of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import cast

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method, Resources
from thence.proofs.native import search, workers
from thence.proofs.native.code.kernel import Kernel, compile_kernel
from thence.proofs.scopes.scopes import properties_of

NAMES = ("cykas", "rst", "hybrid_optimal", "skeen", "mf")


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("THENCE_CACHE", "off")
    monkeypatch.setattr(search, "compile_kernel", compile_kernel)
    compile_kernel.cache_clear()
    yield
    compile_kernel.cache_clear()


def explored(name: str, threads: int = 1, sends: tuple[int, ...] = (2, 1, 1)) -> Exploration:
    specification = load(name).specification
    assert specification is not None
    protocol = specification.protocols[0]
    others = tuple(tuple(q for q in range(3) if q != p) for p in range(3))
    method = Method("native", Resources(threads=threads))
    return explore(protocol, ir.Workload(3, sends, others), properties_of(protocol), method=method, limit=60_000)


def found(result: Exploration) -> tuple[object, ...]:
    runs = {name: [step.title for step in each.steps] for name, each in result.violations.items()}
    return result.states, result.transitions, result.depth, result.complete, runs


@pytest.mark.parametrize("name", NAMES)
def test_both_find_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Kernel] = []

    def careful(*given: object) -> Kernel:
        kernel = compile_kernel(*given)  # type: ignore[arg-type]
        assert kernel.optimised is not None, "small scopes begin in haste"
        made.append(kernel.optimised())
        assert made[-1].optimised is None and made[-1].digest == kernel.digest
        return made[-1]

    in_haste = found(explored(name))
    monkeypatch.setattr(search, "compile_kernel", careful)
    assert found(explored(name)) == in_haste
    assert made


@pytest.mark.parametrize("threads", [1, 2])
def test_optimised_code_takes_over_in_the_middle(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = found(explored("cykas", threads))
    used: list[bool] = []  # of the last search: one begins again where its states turn out to need more room
    making: list[tuple[Future[Kernel], Callable[[], Kernel]]] = []
    expand = workers.Team.expand

    def later(work: Callable[[], Kernel]) -> Future[Kernel]:
        making.append((Future(), work))
        return making[-1][0]

    def noted(team: workers.Team, count: int, meanwhile: Callable[[], None] | None) -> None:
        if team._expanded == 0:
            used.clear()
        if len(used) == 10:
            future, work = making[-1]
            future.set_result(work())
        expand(team, count, meanwhile)
        used.append(team.kernel.optimised is None)

    monkeypatch.setattr(workers, "WORTH_OPTIMISING", 100)
    monkeypatch.setattr(workers, "meanwhile", later)
    for name in ("PIECE", "PIECE_IN_HASTE"):
        monkeypatch.setattr(search, name, 64)
    monkeypatch.setattr(workers.Team, "expand", noted)
    assert found(explored("cykas", threads)) == expected
    assert len(used) > 20
    assert used == [number >= 10 for number in range(len(used))]


def test_what_goes_wrong_with_optimised_code_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(work: Callable[[], Kernel]) -> Future[Kernel]:
        future: Future[Kernel] = Future()
        future.set_exception(RuntimeError("no code"))
        return future

    monkeypatch.setattr(workers, "WORTH_OPTIMISING", 0)
    monkeypatch.setattr(workers, "meanwhile", broken)
    for name in ("PIECE", "PIECE_IN_HASTE"):
        monkeypatch.setattr(search, name, 64)
    with pytest.raises(RuntimeError, match="no code"):
        explored("cykas")


def test_what_a_thread_does_meanwhile() -> None:
    kernel = cast(Kernel, object())

    def fails() -> Kernel:
        raise MemoryError

    assert workers.meanwhile(lambda: kernel).result() is kernel
    assert isinstance(workers.meanwhile(fails).exception(), MemoryError)
