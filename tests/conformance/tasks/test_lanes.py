"""Lanes: every task has its result, its error or nothing, whatever order they end in; an interrupt loses no result."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Timer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.tasks.lanes import run_lanes

Tell = Callable[[int], None]


def halved(task: int, tell: Tell) -> int:
    """Says each number up to its own. An odd number is an error, and 6 the death of the process."""
    for each in range(task):
        tell(each)
    if task == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    if task % 2:
        raise ValueError(task)
    return task // 2


@settings(max_examples=15, deadline=None)  # processes are started
@given(st.lists(st.integers(0, 9), unique=True), st.integers(1, 3))
def test_each_task_has_what_it_came_to(tasks: list[int], at_once: int) -> None:
    told: dict[int, list[int]] = {task: [] for task in tasks}
    done: dict[int, int | Exception] = {}
    assert not run_lanes(tasks, halved, at_once, lambda task, said: told[task].append(said), done.__setitem__)
    assert told == {task: list(range(task)) for task in tasks} and done.keys() == set(tasks)
    for task, outcome in done.items():
        if task == 6:
            assert isinstance(outcome, RuntimeError)
        elif task % 2:
            assert isinstance(outcome, ValueError) and outcome.args == (task,)
        else:
            assert outcome == task // 2


def patient(task: int, tell: Tell) -> int:
    """Says its process. An interrupted one has -1; the third one has no result then."""
    try:
        tell(os.getpid())
        time.sleep(60 if task else 0)
    except KeyboardInterrupt:
        if task == 3:
            raise
        return -1
    return task


@pytest.mark.parametrize("everybody", [False, True])
def test_an_interrupt_takes_what_there_is_and_begins_nothing(everybody: bool) -> None:
    """`everybody`: as from a terminal, the tasks get the signal, too."""
    begun: dict[int, int] = {}
    done: dict[int, int | Exception] = {}

    def interrupt() -> None:
        for number in (*(begun.values() if everybody else ()), os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGINT)

    def told(task: int, process: int) -> None:
        begun[task] = process
        if begun.keys() >= {1, 2, 3}:
            Timer(0.1, interrupt).start()

    assert run_lanes([0, 1, 2, 3, 4, 5], patient, 3, told, done.__setitem__)
    assert begun.keys() == {0, 1, 2, 3} and done == {0: 0, 1: -1, 2: -1}


def test_what_a_caller_raises_ends_all() -> None:
    def done(task: int, _outcome: object) -> None:
        raise KeyError(task)

    started = time.monotonic()
    with pytest.raises(KeyError):
        run_lanes([0, 1], patient, 2, lambda *_: None, done)
    assert time.monotonic() - started < 30
