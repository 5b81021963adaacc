"""What cases came to: for each scheduler, with a protocol and without one; and the longest delay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from faults.rst import MergeDiscarded, TimerDelivers

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Receive, Send
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import conform
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite, Trials
from thence.conformance.harness.guide import DIRECTED
from thence.conformance.harness.guided import BUILT_IN
from thence.conformance.harness.harness import run_case
from thence.conformance.harness.observing import SITUATIONS, Observer, situations
from thence.dsl import ir
from thence.impl.commands import Command
from thence.impl.rst import RST


def test_each_scheduler_and_all_of_them_add_up(library: Callable[[str], ir.Protocol]) -> None:
    report = conform(MergeDiscarded, Opposite(library("rst")), Settings(), Sampling(cases=200))
    reaches, whole = report.reaches, report.whole
    assert [reach.name for reach in reaches] == [DIRECTED, "hypothesis", *SCHEDULERS, "guided"]
    assert sum(reach.cases for reach in reaches) == whole.cases == report.cases == 200
    assert sum(reach.failures for reach in reaches) == whole.failures == report.failures > 0
    assert sum(reach.events for reach in reaches) == whole.events == report.events
    for reach in reaches:
        shown = reach.to_json()
        assert shown["hit_rate"] == reach.failures / reach.cases <= shown["failure_rate_bound"] <= 1
        assert max(reach.kinds.values(), default=0) <= reach.failures
        assert reach.coverage.abstract <= whole.coverage.abstract
    assert whole.coverage.to_json()["branches"] == {"reached": 4, "there": 4}


def test_without_a_protocol_there_are_scenarios_and_situations() -> None:
    report = conform(RST, None, Settings(), Sampling(cases=120))
    found = report.whole.coverage.to_json()
    assert found["handlers"] == found["branches"] == {"reached": 0, "there": 0}
    assert found["scenarios"]["reached"] == 7
    assert 20 < found["abstract_states"] <= SITUATIONS
    first = situations(run_case(RST, (Send(0, 1),), Settings()))
    more = situations(run_case(RST, (Send(0, 1), Send(0, 1), Receive(1, (0, 1))), Settings()))
    assert len(first) < len(more) and max(more) < SITUATIONS
    assert situations(run_case(RST, (), Settings())) == frozenset()


def test_what_reaches_something_new_is_learned_and_followed(library: Callable[[str], ir.Protocol]) -> None:
    trials = Trials(RST, Opposite(library("rst")), Settings(), Sampling(operations=12, known=BUILT_IN))
    assert len(trials.guide.directed) == len(BUILT_IN.scripts)
    for seed in range(30):
        trials.run("guided", trials.guide.scheduler, seed)
    assert trials.outcomes.whole.coverage.cases == 30
    learned = len(trials.outcomes.whole.coverage.curve)
    assert 3 < learned == len(trials.guide._learned) < 30
    assert Observer(None).features.names != trials.outcomes.observer.features.names


def test_the_longest_delay_is_kept(library: Callable[[str], ir.Protocol]) -> None:
    report = conform(TimerDelivers, None, Settings(), Sampling(cases=100))
    assert 0 < report.withheld <= report.arrivals
    assert report.slowest is not None
    worst = report.slowest.longest_delay
    assert worst is not None and worst.delivered and worst.arrivals >= 2
    assert str(worst).endswith(f"while {worst.arrivals} other messages arrived, though nothing was missing")
    again = run_case(TimerDelivers, report.slowest.operations, Settings())
    assert again.longest_delay == worst and len(again.delays) == again.withheld
    assert conform(RST, Opposite(library("rst")), Settings(), Sampling(cases=40)).slowest is None


class _CrashesSecond(RST):
    """Cannot receive a second time."""

    received = False

    def receive(self, source: int, packet: Any) -> list[Command]:
        if self.received:
            raise RuntimeError("once only")
        self.received = True
        return super().receive(source, packet)


class _CrashesSecondAndForgets(_CrashesSecond):
    """The same, and each message is delivered twice."""

    def receive(self, source: int, packet: Any) -> list[Command]:
        return 2 * super().receive(source, packet)


@pytest.mark.parametrize("system", [_CrashesSecond, _CrashesSecondAndForgets, RST])
def test_a_case_that_a_crash_ends_is_no_trial_of_what_it_does_not_refute(system: type[RST]) -> None:
    report = conform(system, None, Settings(), Sampling(cases=60))
    crashed = report.refuting.get("started", 0)
    assert report.tried("started") == 60
    assert 60 - crashed == report.tried("fifo") == report.tried("delivered")
    assert report.tried("fifo") <= report.tried("once") <= 60
    if system is RST:
        assert crashed == 0
    else:
        assert 0 < report.tried("fifo") < 60
    assert (report.tried("once") > report.tried("fifo")) == (system is _CrashesSecondAndForgets)


def test_where_a_crash_ends_each_case_nothing_is_known_of_the_rest() -> None:
    class Never(RST):
        def causal_send(self, destination: int, message: Any) -> list[Command]:
            raise RuntimeError("not today")

    report = conform(Never, None, Settings(), Sampling(cases=20))
    assert not any(report.unknown(claim) == "" for claim in ("causal", "fifo", "delivered", "once"))
    assert report.refuting == {"started": report.failures}
