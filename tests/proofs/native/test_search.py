"""The search itself: published counts, threads, layouts that are too small, limits, and what is judged from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore import exploration
from thence.proofs.explore.exploration import STORAGES, Exploration, ExplorationRequest, Method, Progress, Resources
from thence.proofs.native import engine as engines
from thence.proofs.native import search, state_store, tables, workers
from thence.proofs.native.code.cells import Shared
from thence.proofs.native.engine import NativeEngine
from thence.proofs.native.judging import sieve
from thence.proofs.native.layout import Capacity
from thence.proofs.native.memory import Array
from thence.proofs.native.tables import MOST_PACKETS as PACKETS
from thence.proofs.scopes.scopes import properties_of

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]

ANY = ((1, 2), (0, 2), (0, 1))
TWO = ir.Workload(3, (2, 2, 2), ANY)


def lengths(found: Exploration) -> dict[str, int]:
    return {name: len(violation.steps) for name, violation in found.violations.items()}


def mutant(library: Library, name: str, known: str) -> ir.Protocol:
    mutated = next(mutant.mutated for mutant in library(name).mutants if mutant.name == known)
    assert isinstance(mutated, ir.Protocol)
    return mutated


PUBLISHED = {
    ("cykas", 2): (52_521, 221_934, 18),
    ("mf", 2): (6_859, 30_324, 18),
    ("mf", 3): (110_592, 566_784, 27),
    ("cykas", 3): (5_022_640, 26_348_250, 27),
}
"""Of K sends each among 3 processes, everything delivered collected: states, transitions, depth."""


@pytest.mark.long(but=("mf-2", "mf-3"))
@pytest.mark.parametrize(("name", "sends"), PUBLISHED)
def test_published_counts(library: Library, name: str, sends: int) -> None:
    protocol = library(name).protocols[0]
    found = explore(protocol, replace(TWO, sends=(sends,) * 3), properties_of(protocol), method=Method("native"))
    assert (found.complete, found.violations) == (True, {})
    assert (found.states, found.transitions, found.depth) == PUBLISHED[name, sends]
    assert 0 < found.memory < 260e6


@pytest.mark.long(share=0)
def test_thirty_six_million_states_by_two_threads(library: Library) -> None:
    """Cykas with 2 sends each among 4 processes: half a minute of processor time, and 1.8 GB."""
    protocol = library("cykas").protocols[0]
    workload = ir.Workload(4, (2,) * 4, tuple(tuple({*range(4)} - {process}) for process in range(4)))
    method = Method("native", Resources(threads=2))
    found = explore(protocol, workload, properties_of(protocol), method=method)
    assert (found.complete, found.violations) == (True, {})
    assert (found.states, found.transitions, found.depth) == (36_395_568, 222_383_160, 24)
    assert found.memory < 2e9


def test_threads_find_the_same(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_WORTH_SHARING", 8)
    protocol = mutant(library, "cykas", "tells_too_early")
    judged = (*properties_of(protocol), "sps")
    one, three, again = (
        explore(protocol, TWO, judged, method=Method("native", resources=Resources(threads=threads)))
        for threads in (1, 3, 3)
    )
    assert (one.states, one.transitions, one.depth) == (78_074, 368_370, 18)
    for found in (three, again):
        assert (found.states, found.transitions, found.depth) == (one.states, one.transitions, one.depth)
        assert lengths(found) == lengths(one) == {"fault": 5, "csps": 6, "sps": 6, "causal": 7}
    shown = [{name: violation.steps for name, violation in found.violations.items()} for found in (one, three, again)]
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.parametrize("name", ["cykas", "rst", "hybrid_optimal", "skeen", "mf"])
@pytest.mark.parametrize("reductions", [(), ("symmetry",)])
def test_steps_are_learned_while_others_expand(
    library: Library, monkeypatch: pytest.MonkeyPatch, name: str, reductions: tuple[str, ...]
) -> None:
    protocol, workload = library(name).protocols[0], replace(TWO, sends=(2, 1, 1))

    def explored(threads: int) -> Exploration:
        method = Method("native", Resources(threads=threads), reductions=reductions)
        return explore(protocol, workload, properties_of(protocol), method=method, limit=20_000)

    one, learned = explored(1), []
    learn = search.NativeSearch._learn

    def expand(team: workers.Team, count: int, meanwhile: Callable[[], None] | None) -> None:
        def noted() -> None:
            before = len(counted)
            assert meanwhile is not None
            meanwhile()
            learned.append(len(counted) - before)

        expanded(team, count, meanwhile and noted)

    def counting(self: search.NativeSearch, wanted: Iterable[int]) -> None:
        counted.extend(wanted)
        learn(self, wanted)

    counted: list[int] = []
    expanded = workers.Team.expand
    monkeypatch.setattr(workers, "_WORTH_SHARING", 1)
    monkeypatch.setattr(workers.Team, "expand", expand)
    monkeypatch.setattr(search.NativeSearch, "_learn", counting)
    for size in ("PIECE", "PIECE_IN_HASTE"):
        monkeypatch.setattr(search, size, 16)
    two = explored(2)
    assert one.complete and sum(learned) > 0
    assert (two.complete, two.transitions, two.depth) == (one.complete, one.transitions, one.depth)
    assert (two.states, lengths(two)) == (one.states, lengths(one))


def test_what_native_code_may_read_is_written_once(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps become known while threads run: a packet that they know is not written anew."""
    written: Counter[tuple[int, int]] = Counter()
    replaced = Array.__setitem__

    def noted(array: Array, at: int, value: int) -> None:
        if array.length == PACKETS and at:
            written[array.address, at] += 1
        replaced(array, at, value)

    monkeypatch.setattr(Array, "__setitem__", noted)
    protocol = library("mf").protocols[0]
    explore(protocol, TWO, properties_of(protocol), method=Method("native"))
    assert len(written) > 10 and set(written.values()) == {1}


def test_small_layouts_are_replaced(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_store, "FIRST_INDEX", 256)
    monkeypatch.setattr(tables, "_SMALLEST", 4)
    protocol = library("cykas").protocols[0]
    request = ExplorationRequest(
        System(protocol, TWO), frozenset(properties_of(protocol)), resources=Resources(threads=1)
    )
    engine = NativeEngine(request)
    found = engine.run(Capacity(1, 1, 1))
    assert (found.states, found.transitions, found.depth) == PUBLISHED["cykas", 2]
    assert engine.capacity.local_bits > 1
    assert engine.capacity.packet_bits > 1
    assert engine.capacity.slots > 1


def test_a_limit(library: Library) -> None:
    protocol = library("cykas").protocols[0]
    found = explore(protocol, TWO, ["causal"], limit=500, method=Method("native"))
    assert not found.complete
    assert 500 <= found.states < 520
    assert found.why_incomplete == "stopped at 500 states"


def test_the_store_ends(library: Library) -> None:
    protocol = library("cykas").protocols[0]
    found = explore(protocol, TWO, ["causal"], method=Method("native", resources=Resources(memory=1 << 20)))
    assert not found.complete
    assert 10_000 < found.states < 52_521
    assert found.memory < 3 << 20
    assert found.why_incomplete == "the 1 MB for states are used up"


def test_an_interrupt(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "PROGRESS_SECONDS", 0)
    reports: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        reports.append(progress)
        if progress.states > 1_000:
            raise KeyboardInterrupt

    protocol = library("cykas").protocols[0]
    found = explore(protocol, TWO, ["causal"], progress=interrupt, method=Method("native"))
    assert (found.complete, found.why_incomplete) == (False, "interrupted")
    assert found.states == reports[-1].states > 1_000
    assert reports[-1].memory > 0
    assert [report.states for report in reports] == sorted(report.states for report in reports)


def test_no_further_than_to_the_violations(library: Library) -> None:
    protocol = mutant(library, "mf", "posts_at_once")
    found = explore(protocol, TWO, ["causal", "fifo"], stop_when_refuted=True, method=Method("native"))
    assert lengths(found) == {"causal": 3, "fifo": 3}
    assert found.states < 1_000
    assert found.why_incomplete == "every property is refuted"


TALLIES = """
protocol tallies:
  message MSG(m: message) carries m
  state:
    n: nat
    room: nat = 2
  on causal_send(m):
    n := n + 1
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    n := n + 1
    room := room - 1
    deliver m
  periodically:
    n := max(n, 1)
  invariant few: forall p: process. n@p <= 2
  invariant apart: forall p, q: process. p = q or n@p = 0 or n@p != n@q + 1
  invariant some: exists p: process. n@p <= 1
  property causal, at_most_once
  eventually delivered under fair receive
"""


@pytest.mark.parametrize("change", [("", ""), ("n@p <= 2\n  invariant apart", "2 - n@p >= 0\n  invariant apart")])
def test_invariants_of_one_and_of_several_processes(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str]
) -> None:
    """The second time, `few` has no value where it was false: that refutes it, and no other."""
    monkeypatch.setattr(sieve, "_SMALLEST", 16)
    protocol = specify(TALLIES.replace(*change)).protocols[0]
    workload = ir.Workload(3, (2, 1, 1), ANY)
    judged = properties_of(protocol)
    native, interpreted = (
        explore(protocol, workload, judged, method=Method(engine)) for engine in ("native", "interpreted")
    )
    assert lengths(native) == lengths(interpreted)
    assert lengths(native).keys() == {"causal", "apart", "some", "fault", "few"}
    assert (native.states, native.transitions, native.depth) == (
        interpreted.states, interpreted.transitions, interpreted.depth,
    )  # fmt: skip


def test_why_not_native(library: Library) -> None:
    protocol = library("mf").protocols[0]
    assert engines.why_not(System(protocol, TWO)) is None
    many = System(protocol, ir.Workload(2, (65, 0), ((1,), (0,))))
    assert engines.why_not(many) == "there are 65 messages, native code takes 64"


def test_why_not_native_where_messages_are_sent_in_another_way(library: Library) -> None:
    protocol = library("mf").protocols[0]

    def reasons(sending: ir.Sending) -> list[str | None]:
        system = system_of(protocol, replace(TWO, sending=sending))
        return [engines.why_not(system, storage) for storage in STORAGES]

    endless, prompt = "messages are sent for ever", "sends are prompt"
    assert reasons(ir.ForEver(TWO.sends)) == [None, endless, endless]
    assert reasons(ir.Finite(prompt=True)) == [None, prompt, prompt]
    assert set(reasons(ir.AnyNumber())) == {endless}
    assert engines.why_not(system_of(protocol, replace(TWO, sending=ir.Finite(prompt=True, reactive=True)))) == (
        "sends are prompt, and inside deliveries, too"
    )


def test_an_interrupt_waits_for_all_threads(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """What native code works on must not go before it is done: the thread that was not interrupted, too."""
    monkeypatch.setattr(workers, "_WORTH_SHARING", 8)
    start, started = workers.Team._start, []

    def interrupted(self: workers.Team, helpers: list[Future[None]]) -> None:
        start(self, helpers)
        if self.shared[Shared.COUNT] > 2_000:  # numbers; hundreds of them are holes
            started.extend(helpers)
            raise KeyboardInterrupt

    monkeypatch.setattr(workers.Team, "_start", interrupted)
    protocol = library("cykas").protocols[0]
    found = explore(protocol, TWO, ["causal"], method=Method("native", resources=Resources(threads=3)))
    assert (found.complete, found.why_incomplete) == (False, "interrupted")
    assert found.states > 500
    assert [helper.done() for helper in started] == [True, True]


def test_a_store_is_as_large_as_can_be(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a machine reserves no more than it has, less is asked for; nothing is lost."""
    array = Array

    def strict(length: int, width: int = 8) -> Array:
        if length * width > 8 << 20:
            raise MemoryError
        return array(length, width)

    monkeypatch.setattr(state_store, "Array", strict)
    protocol = library("mf").protocols[0]
    found = explore(protocol, TWO, ["causal"], method=Method("native", resources=Resources(memory=1 << 40, threads=1)))
    assert (found.states, found.transitions, found.depth) == PUBLISHED["mf", 2]


def test_more_than_an_address_space() -> None:
    with pytest.raises(MemoryError, match="cannot be reserved"):
        Array(1 << 62)
