"""Real sockets: everything arrives, and waiting is what the simulation says."""

from __future__ import annotations

import pytest

from thence.conformance.evaluation.latency import Constant
from thence.conformance.evaluation.measures import figures
from thence.conformance.evaluation.network import Network
from thence.conformance.evaluation.simulation import simulate
from thence.conformance.evaluation.sockets import deliveries
from thence.conformance.evaluation.workload import Jobs, Workload
from thence.conformance.implementations import SYSTEMS

SLOW = Network(Constant(0.02))


@pytest.mark.parametrize("system", ["mf", "cykas", "rst", "hybrid_optimal", "tree"])
def test_all_is_delivered_and_no_sooner_than_simulated(system: str) -> None:
    workload = Workload(3, 4, 0.05, answers=0.3)
    found = deliveries(SYSTEMS[system], workload, SLOW, 1)
    simulated = figures(simulate(SYSTEMS[system], workload, SLOW, 1))
    assert simulated is not None
    assert (found.undelivered, found.count) == (0, simulated.messages)
    assert found.median >= 0.02 and found.mean >= 0.9 * simulated.mean


def test_lost_frames_are_sent_again() -> None:
    found = deliveries(SYSTEMS["hybrid_basic"], Workload(3, 5, 0.01), Network(Constant(0.001), loss=0.2), 3)
    assert found.undelivered == 0


def test_what_sockets_do_not_have_is_refused() -> None:
    for system, workload, network in (
        ("cbcast", Workload(3, 1, 0.01), SLOW),
        ("mf", Workload(21, 1, 0.01), SLOW),
        ("mf", Workload(3, 1, 0.01, jobs=Jobs(0.1, 0.01)), SLOW),
        ("mf", Workload(3, 1, 0.01), Network(Constant(0.01), bandwidth=1000)),
    ):
        with pytest.raises(ValueError, match=r"sockets|bandwidth"):
            deliveries(SYSTEMS[system], workload, network, 1)
