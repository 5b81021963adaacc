"""The limit on foreign code."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from whence.conformance.time_limit import OutOfTime, limited


def test_a_loop_ends_although_it_catches_exceptions() -> None:
    begun = time.monotonic()
    with pytest.raises(OutOfTime), limited(0.05):
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                continue
    assert time.monotonic() - begun < 2


def test_afterwards_there_is_no_alarm() -> None:
    with limited(5):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_limit_in_force_stays() -> None:
    with pytest.raises(OutOfTime), limited(0.05), limited(60):
        time.sleep(5)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_none_is_no_limit() -> None:
    with limited(None):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_other_threads_have_no_limit() -> None:
    reached = []

    def work() -> None:
        with limited(0.01):
            time.sleep(0.05)
            reached.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert reached == [True]
