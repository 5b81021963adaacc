"""Processing times, measured on this machine."""

from __future__ import annotations

import statistics

from thence.conformance.evaluation.network import Network
from thence.conformance.evaluation.simulation import simulate
from thence.conformance.evaluation.workload import Workload


def measured(impl: str, workload: Workload, network: Network, seed: int) -> dict[str, float]:
    """The median real time of each kind of call in seconds: `send`, `tick`, and the kinds of packets.

    It is measured in a run of the same workload in which processing takes no simulated time. Python's own time counts:
    the ratio between two systems tells more than the number.
    """
    run = simulate(impl, workload, network, seed, clocked=True)
    return {kind: statistics.median(times) for kind, times in sorted(run.calls.items())}
