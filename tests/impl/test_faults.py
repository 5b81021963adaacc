"""The planted faults are wrong in the way that they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from faults import FAULTS

NETWORKS = {"loss": 0.2, "duplication": 0.3, "reactive": True, "fifo": True}
CHANNELS = {"newtop": {"fifo": True, "self_sends": True}}
"""What the protocols take for granted that do not work on any channels, or whose messages go to their senders too."""

CASES = [(protocol, fault) for protocol, faults in FAULTS.items() for fault in faults]


@pytest.mark.parametrize(("protocol", "fault"), CASES, ids=[f"{p}:{fault.__name__}" for p, fault in CASES])
def test_each_fault_gives_its_first_finding(protocol: str, fault: Any, simulate: Callable[..., Any]) -> None:
    network = CHANNELS.get(protocol, {}) | {need: NETWORKS[need] for need in fault.NEEDS}
    for seed in range(2000):
        outcome = simulate(fault, seed, **network)
        if fault.FINDINGS[0] == "total_order" and outcome.crossings:
            assert outcome.delivered > 1
            return
        if fault.FINDINGS[0] in outcome.findings:
            assert outcome.findings[fault.FINDINGS[0]] > 0
            return
    pytest.fail(f"{fault.__name__} never gave the finding {fault.FINDINGS[0]}")


@pytest.mark.parametrize("protocol", FAULTS)
def test_every_protocol_has_at_least_five_faults_with_reasons(protocol: str) -> None:
    faults = FAULTS[protocol]
    assert len(faults) >= 5
    assert len({fault.__name__ for fault in faults}) == len(faults)
    for fault in faults:
        assert "Finding" in (fault.__doc__ or "")
        assert fault.__module__ == f"faults.{protocol}"
