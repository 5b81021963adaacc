"""Failures shortened from several starts, and what an interruption leaves of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from faults.rst import MergeDiscarded

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Schedule
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import LIMIT_S, Opposite, Trials
from thence.conformance.harness.guided import BUILT_IN
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.harness.shortening import Shortening
from thence.conformance.replay.findings import CaseOutcome
from thence.dsl import ir

SETTINGS = Settings()


def again(schedule: Schedule) -> CaseOutcome:
    return run_case(MergeDiscarded, schedule, SETTINGS)


def failing(count: int) -> list[CaseOutcome]:
    """Long cases that break causal order."""
    found = []
    for seed in range(10_000):
        outcome = run_scheduled(MergeDiscarded, SCHEDULERS["uniform"], seed, 30, SETTINGS)
        if "causal" in outcome.kinds:
            found.append(outcome)
            if len(found) == count:
                break
    return found


@pytest.mark.parametrize("start", range(4))
def test_whatever_the_start_the_same_case_is_left(start: int) -> None:
    starts = failing(4)
    shown = Shortening("causal", [starts[start], *starts[:start]], again, LIMIT_S).run()
    assert shown == Shortening("causal", starts, again, LIMIT_S).run()
    assert len(shown.operations) == 5 < len(starts[start].operations)
    assert shown.reproduced and shown.kinds == ("causal",) and shown.outcome == again(shown.operations)


def test_an_interruption_leaves_the_shortest_case_so_far() -> None:
    [start] = failing(1)
    runs = 0

    def interrupted(schedule: Schedule) -> CaseOutcome:
        nonlocal runs
        runs += 1
        if runs == 12:
            raise KeyboardInterrupt
        return again(schedule)

    search = Shortening("causal", [start], interrupted, LIMIT_S)
    assert search.shown.operations == start.operations and not search.shown.reproduced
    with pytest.raises(KeyboardInterrupt):
        search.run()
    shown = search.shown
    assert 5 <= len(shown.operations) < len(start.operations)
    assert shown.reproduced and "causal" in again(shown.operations).kinds


def test_trials_end_with_what_they_have(library: Callable[[str], ir.Protocol]) -> None:
    trials = Trials(MergeDiscarded, Opposite(library("rst")), SETTINGS, Sampling(operations=12, known=BUILT_IN))
    for seed in range(60):
        trials.run("starve_one_channel", SCHEDULERS["starve_one_channel"], seed)
    kinds = trials.outcomes.kinds
    assert {"causal", "nonconformance"} <= set(kinds)
    trials.complete = False
    rough = trials.counterexamples(1_000)
    assert {kind for shown in rough for kind in shown.kinds} == set(kinds)
    trials.complete = True
    short = trials.counterexamples(1_000)
    assert {kind for shown in short for kind in shown.kinds} == set(kinds)
    assert sum(len(shown.operations) for shown in short) < sum(len(shown.operations) for shown in rough)
