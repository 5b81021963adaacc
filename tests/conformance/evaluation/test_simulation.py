"""The simulation: times add up, systems get the same sends, what is delivered is causal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest

from thence.conformance.evaluation.latency import Constant, LogNormal, Uniform
from thence.conformance.evaluation.measures import Figures, interval
from thence.conformance.evaluation.measures import figures as figures_of
from thence.conformance.evaluation.network import Network
from thence.conformance.evaluation.simulation import Life, Run, simulate
from thence.conformance.evaluation.workload import (
    Chain,
    Everybody,
    Gossip,
    HotSpot,
    Jobs,
    Near,
    Planned,
    Target,
    ToAnybody,
    Topics,
    Workload,
    plan,
)
from thence.conformance.implementations import SYSTEMS

BROADCAST = {"cbcast", "newtop"}
BLOCKING = {"synchronous"}
NOT_CAUSAL = {"fifo", "client_server"}
"""The one promises FIFO only; the other is causal at the server, not at its clients."""
LIVE = sorted({*SYSTEMS} - BROADCAST - BLOCKING)
SPREAD = Network(LogNormal(0.005, 0.7))


def run(system: str, workload: Workload, network: Network = SPREAD, seed: int = 1) -> Run:
    return simulate(SYSTEMS[system], workload, network, seed)


def figures(found: Run) -> Figures:
    measured = figures_of(found)
    assert measured is not None
    return measured


@pytest.mark.parametrize("system", LIVE)
def test_every_message_is_delivered_and_its_times_are_in_order(system: str) -> None:
    found = run(system, Workload(5, 20, 0.004, answers=0.3))
    assert found.undelivered == 0 and len(found.lives) >= 100
    for life in found.lives:
        assert life.sent is not None and life.posted is not None
        assert life.arrived is not None and life.delivered is not None
        assert life.due <= life.sent <= life.posted <= life.arrived <= life.delivered


@pytest.mark.parametrize("system", [name for name in LIVE if name not in NOT_CAUSAL])
def test_deliveries_are_causal(system: str) -> None:
    """By the times of sends and deliveries alone: m before n at its sender, or delivered where n is sent later."""
    lives = run(system, Workload(4, 12, 0.003, answers=0.5), seed=7).lives
    before = {
        (one.number, other.number)
        for one in lives
        for other in lives
        if one is not other and _directly_before(one, other)
    }
    while True:
        more = {(a, d) for a, b in before for c, d in before if b == c} - before
        if not more:
            break
        before |= more
    by_number = {life.number: life for life in lives}
    for a, b in before:
        one, other = by_number[a], by_number[b]
        if one.copy.destination == other.copy.destination:
            assert one.delivered is not None and other.delivered is not None
            assert one.delivered <= other.delivered


@pytest.mark.parametrize("system", sorted({*SYSTEMS} - BLOCKING))
def test_broadcasts_reach_everybody(system: str) -> None:
    found = run(system, Workload(4, 6, 0.004, target=Everybody()))
    assert found.undelivered == 0 and len(found.lives) == 4 * 6 * 3


@pytest.mark.parametrize("system", ["mf", "cykas", "hybrid_multicast", "ks", "tree"])
@pytest.mark.parametrize("target", [Topics(3, 3), Gossip(2, 3)])
def test_messages_to_several_reach_them(system: str, target: Target) -> None:
    found = run(system, Workload(5, 4, 0.004, target=target))
    assert found.undelivered == 0 and len(found.lives) >= 20
    if isinstance(target, Gossip):
        assert len(found.lives) == 5 * 4 * (2 + 4 + 8)


def _directly_before(one: Life, other: Life) -> bool:
    assert one.sent is not None and other.sent is not None and one.delivered is not None
    if one.sender == other.sender:
        return one.sent < other.sent
    return one.copy.destination == other.sender and one.delivered < other.sent


def test_constant_latency_without_processing_is_just_the_latency() -> None:
    found = figures(run("rst", Workload(4, 10, 0.02), Network(Constant(0.005))))
    assert found.median == pytest.approx(0.005) and found.p99 == pytest.approx(0.005)
    assert found.at_sender == found.at_receiver == 0


def test_a_buffer_protocol_waits_for_a_round_trip() -> None:
    """Two messages at once: the second leaves when the first is acknowledged, after two one-way times."""
    found = run("mf", Workload(2, 2, 1e-9, pace="regular"), Network(Constant(0.005)))
    waits = sorted(round(life.posted - life.due, 6) for life in found.lives if life.posted is not None)
    assert waits == [0, 0, 0.01, 0.01]


def test_an_interface_sends_one_packet_after_the_other() -> None:
    workload = Workload(2, 3, 1e-9, pace="regular", payload_bytes=1000)
    lives = run("rst", workload, Network(Constant(0.001), bandwidth=10_000, overhead_bytes=0)).lives
    first = sorted(life.arrived for life in lives if life.sender == 0 and life.arrived is not None)
    gaps = [later - earlier for earlier, later in pairwise(first)]
    assert all(0.1 <= gap <= 0.102 for gap in gaps), "1,000 bytes and a small matrix at 10,000 bytes a second"


def test_processing_takes_its_time() -> None:
    workload, network = Workload(2, 1, 0.001), Network(Constant(0.005))
    slow = simulate(SYSTEMS["rst"], workload, network, 1, costs={"send": 0.002, "MSG": 0.003})
    assert figures(slow).mean == pytest.approx(0.002 + 0.005 + 0.003, rel=0.2)


def test_a_blocking_job_keeps_a_process_busy_and_another_does_not() -> None:
    network = Network(Constant(0.001))

    def mean(blocks: bool) -> float:
        return figures(run("rst", Workload(3, 10, 0.001, jobs=Jobs(1.0, 0.05, blocks=blocks)), network)).mean

    assert mean(False) < 0.002 < mean(True)


@pytest.mark.parametrize("system", ["hybrid_basic", "hybrid_optimal", "fifo", "mf", "rst"])
def test_loss_delays_and_loses_nothing(system: str) -> None:
    workload = Workload(4, 15, 0.01)
    lossy = figures(run(system, workload, Network(Constant(0.002), loss=0.2)))
    safe = figures(run(system, workload, Network(Constant(0.002))))
    assert lossy.undelivered == 0 and lossy.p99 > safe.p99


def test_synchronous_processes_that_send_to_each_other_are_stuck() -> None:
    assert run("synchronous", Workload(2, 1, 1e-9), Network(Constant(0.005))).undelivered > 0


@pytest.mark.parametrize("system", sorted(BROADCAST))
def test_systems_that_only_broadcast_are_refused(system: str) -> None:
    with pytest.raises(ValueError, match="only broadcasts"):
        run(system, Workload(3, 1, 0.01))


def with_what_follows(sends: Iterable[Planned]) -> Iterator[Planned]:
    for one in sends:
        yield one
        yield from with_what_follows(copy.then for copy in one.copies if copy.then is not None)


@pytest.mark.parametrize(
    "target", [ToAnybody(), HotSpot(0.2), Chain(), Near(2), Everybody(), Topics(3, 4), Gossip(2, 2)]
)
def test_plans_are_the_same_for_a_seed_and_nobody_sends_to_itself(target: Target) -> None:
    workload = Workload(6, 30, 0.01, target=target, answers=0.2, jobs=Jobs(0.1, 0.02, 0.01))
    sends = plan(workload, 3)
    assert sends == plan(workload, 3) != plan(workload, 4)
    assert len(sends) == 180
    assert [one.due for one in sends] == sorted(one.due for one in sends)
    everything = [*with_what_follows(sends)]
    assert all(copy.destination != one.sender for one in everything for copy in one.copies)
    numbers = [one.number + index for one in everything for index, _ in enumerate(one.copies)]
    assert len({*numbers}) == len(numbers) and len(everything) > len(sends)


def test_hot_processes_get_their_share() -> None:
    sends = plan(Workload(20, 100, 0.01, target=HotSpot(0.1, 0.8)), 1)
    hot = sum(copy.destination < 2 for one in sends for copy in one.copies)
    assert 0.75 < hot / len(sends) < 0.85


def test_a_run_is_repeated_exactly() -> None:
    workload, network = Workload(4, 20, 0.004, answers=0.2), Network(Uniform(0.001, 0.02), loss=0.1)
    first, second = (figures(run("hybrid_optimal", workload, network)) for _ in range(2))
    assert first == second


def test_the_interval_of_repetitions() -> None:
    assert interval([2.0]).half == 0
    found = interval([1.0, 2.0, 3.0])
    assert found.mean == 2 and found.half == pytest.approx(4.303 / 3**0.5)
