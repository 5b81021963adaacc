"""The threads of a search, with functions of Python in the place of native code."""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable
from threading import Event

import pytest

from thence.proofs.native.code.kernel import Kernel
from thence.proofs.native.memory import Array
from thence.proofs.native.workers import Team, Worker

SHARED = 1 << 11
"""So many states are shared among threads."""


class Stopped(Exception):
    """What ends the calling thread's work."""


def worker() -> Worker:
    small = Array(8)
    return Worker(Array(128), small, Array(8, 4), small, (small, small, small))


def team(expand: Callable[[int, int], None], helpers: int = 1) -> Team:
    def nothing(*_numbers: int) -> None:
        pass

    return Team(Kernel(expand, nothing, nothing, None, "", {}), Array(64), [worker() for _ in range(helpers + 1)])


def test_an_interrupt_waits_until_helpers_are_done() -> None:
    """It comes while the calling thread waits for a helper since its own work failed, and so it is not lost, either."""
    begun, ended = Event(), Event()

    def expand(_shared: int, _own: int) -> None:
        begun.set()
        for _ in range(3):
            time.sleep(0.05)
            _thread.interrupt_main()
        time.sleep(0.05)
        ended.set()

    def meanwhile() -> None:
        begun.wait()
        raise Stopped

    with pytest.raises(KeyboardInterrupt):
        team(expand).expand(SHARED, meanwhile)
    assert ended.is_set()


def test_failed_work_waits_until_helpers_are_done() -> None:
    begun, ended = Event(), Event()

    def expand(_shared: int, _own: int) -> None:
        begun.set()
        time.sleep(0.05)
        ended.set()

    def meanwhile() -> None:
        begun.wait()
        raise Stopped

    with pytest.raises(Stopped):
        team(expand).expand(SHARED, meanwhile)
    assert ended.is_set()


def test_a_team_that_was_interrupted_works_on() -> None:
    calls: list[int] = []

    def expand(_shared: int, own: int) -> None:
        calls.append(own)
        if len(calls) == 1:
            _thread.interrupt_main()
            time.sleep(0.05)

    def meanwhile() -> None:
        Event().wait(60)

    both = team(expand)
    with pytest.raises(KeyboardInterrupt):
        both.expand(SHARED, meanwhile)
    calls.clear()
    calls.append(0)
    both.expand(SHARED)
    assert sorted(calls[1:]) == sorted(each.cells.address for each in both.workers)
