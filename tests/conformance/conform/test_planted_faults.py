"""Every planted fault is found within 2,000 cases of the portfolio; the rare class above all by starving a channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from faults import FAULTS

from thence.conformance.campaign.one_system import PORTFOLIO, scheduler_names
from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.guided import portfolio
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.replay.replay import Replay
from thence.dsl import ir

Library = Callable[[str], ir.Protocol]

CASES: Final = 2_000
OPERATIONS: Final = 12

BY_REPLAY: Final = {"P2StaysBehind"}
"""What the oracle alone sees only in cases of 24 operations, once in 2,000: the replay in the protocol shows it."""

PLANTED = [(name, fault) for name, faults in FAULTS.items() for fault in faults]


def settings_of(protocol: ir.Protocol, fault: Any) -> Settings:
    """What the fault needs to show; everything is judged, promised or not."""
    settings = replace(settings_for(protocol), causal=True, delivered=True)
    if "fifo" in fault.NEEDS:
        settings = replace(settings, channels="fifo")
    return replace(
        settings,
        loss=settings.loss or "loss" in fault.NEEDS,
        duplication=settings.duplication or "duplication" in fault.NEEDS,
    )


@pytest.mark.parametrize(("name", "fault"), PLANTED, ids=[f"{name}:{fault.__name__}" for name, fault in PLANTED])
def test_a_planted_fault_is_found_within_two_thousand_cases(name: str, fault: Any, library: Library) -> None:
    settings = settings_of(library(name), fault)
    schedulers = portfolio()
    names = scheduler_names(PORTFOLIO, schedulers)
    replay = Replay(library(name), settings.processes) if fault.__name__ in BY_REPLAY else None
    wanted = {*fault.FINDINGS, *(["nonconformance"] if replay is not None else [])}
    for seed in range(CASES):
        scheduler = schedulers[names[seed % len(names)]]
        outcome = run_scheduled(fault, scheduler, seed, OPERATIONS, settings, replay, limit_s=5)
        if outcome.kinds & wanted:
            assert outcome.findings
            return
    pytest.fail(f"{CASES:,} cases do not show that {fault.__name__} is wrong: {fault.FAULT}")


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
