"""The limit on foreign code."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

import pytest

from thence.conformance.cases.time_limit import OutOfTime, limited, was_out_of_time


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


def stopping() -> subprocess.Popen[bytes]:
    """What stops this process soon for a while, as a machine that sleeps stops it."""
    return subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -STOP {os.getpid()}; sleep 0.6; kill -CONT {os.getpid()}"])


def work_until_it_ends(process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        sum(range(1000))


def test_a_process_that_was_stopped_has_its_time_afterwards() -> None:
    with stopping() as process, pytest.raises(OutOfTime), limited(0.4):
        work_until_it_ends(process)
    with stopping() as process, limited(0.4, 4):
        work_until_it_ends(process)


def test_a_block_that_waits_has_so_many_times_more() -> None:
    begun = time.monotonic()
    with pytest.raises(OutOfTime), limited(0.2, 2):
        while True:
            time.sleep(5)
    assert time.monotonic() - begun >= 0.6


def test_a_block_that_works_has_no_more_than_its_time() -> None:
    begun = time.process_time()
    with pytest.raises(OutOfTime), limited(0.4, 100):
        while True:
            pass
    assert 0.2 <= time.process_time() - begun < 0.8


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


def test_a_block_that_catches_everything_is_over_its_limit_all_the_same() -> None:
    reached = []
    with pytest.raises(OutOfTime), limited(0.02):
        try:
            time.sleep(5)
        except BaseException:
            reached.append(True)
    assert reached == [True] and signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_an_error_that_comes_of_the_limit_is_known() -> None:
    def raised(cause: BaseException, *, chained: bool) -> BaseException:
        try:
            try:
                raise cause
            except BaseException as error:
                if chained:
                    raise RuntimeError("broken") from error
                raise KeyError("nothing there") from None
        except Exception as error:
            return error

    assert was_out_of_time(OutOfTime())
    assert was_out_of_time(raised(OutOfTime(), chained=True)) and was_out_of_time(raised(OutOfTime(), chained=False))
    assert not was_out_of_time(raised(ValueError(), chained=True))
    circle = ValueError()
    circle.__context__ = circle
    assert not was_out_of_time(circle)


@pytest.mark.parametrize("seconds", [1e30, float("inf")])
def test_a_limit_that_no_timer_takes_is_none(seconds: float) -> None:
    """Before, `recheck --limit inf` ended in a traceback."""
    with limited(seconds):
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
