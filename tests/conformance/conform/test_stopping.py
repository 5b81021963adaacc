"""The early end of a run."""

from __future__ import annotations

import signal

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.conform.conform import conform
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.stopping import Stopping
from thence.impl.mf import MF


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_a_callback_swallows_is_not_lost(number: signal.Signals) -> None:
    stopping = Stopping()
    before = signal.getsignal(number)
    with stopping.listening():
        stopping.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt):
            stopping.check()
    assert signal.getsignal(number) is before


def test_a_termination_leaves_a_report() -> None:
    def ended(done: int, _planned: int) -> None:
        if done >= 60:
            signal.raise_signal(signal.SIGTERM)

    report = conform(MF, None, Settings(), Sampling(cases=1_000), progress=ended)
    assert report.interrupted and 60 <= report.cases < 1_000


def test_a_part_of_the_budget_is_kept_for_shortening(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("thence.conformance.conform.stopping.time.monotonic", lambda: now)
    stopping = Stopping(60)
    assert (stopping.left_s, Stopping().left_s) == (60, None)
    now = 146.0
    assert (stopping.out_of_time(failed=True), stopping.out_of_time(failed=False)) == (True, False)
    now = 160.0
    assert stopping.out_of_time(failed=False) and not Stopping().out_of_time(failed=True)


def test_a_budget_that_is_spent_at_once_is_no_verdict() -> None:
    report = conform(MF, None, Settings(), Sampling(cases=100), budget_s=1e-9)
    assert (report.cases, report.vacuous) == (0, "no case ran")
    assert report.stopped.startswith("the time budget of")
