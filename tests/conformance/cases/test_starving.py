"""The scheduler that starves a channel, on a fault of the rare class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from faults import FAULTS

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.harness import run_scheduled
from thence.dsl import ir

Library = Callable[[str], ir.Protocol]

OPERATIONS: Final = 12


def hits(fault: Any, scheduler: str, settings: Settings, cases: int) -> int:
    return sum(
        "causal" in run_scheduled(fault, SCHEDULERS[scheduler], seed, OPERATIONS, settings).kinds
        for seed in range(cases)
    )


def test_starving_a_channel_finds_the_rare_class_five_times_as_often(library: Library) -> None:
    """The merge of received metadata discarded, in the protocol of Raynal, Schiper and Toueg."""
    fault = next(each for each in FAULTS["rst"] if each.__name__ == "MergeDiscarded")
    settings = settings_for(library("rst"))
    starving, uniform = (hits(fault, name, settings, 1_200) for name in ("starve_one_channel", "uniform"))
    assert uniform > 0
    assert starving >= 5 * uniform, (starving, uniform)
