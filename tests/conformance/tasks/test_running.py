"""Tasks in processes: every task has its result or its error, and an interrupt gives up the rest."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.tasks.pool import PoolLost
from thence.conformance.tasks.processes import open_processes
from thence.conformance.tasks.running import INTERRUPTED, run_tasks


def halved(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    if number == 4:
        os._exit(3)
    return number // 2


def slow(number: int) -> int:
    time.sleep(number)
    return number


def test_every_task_has_its_result_or_what_it_raised() -> None:
    found: dict[int, Any] = {}

    def done(task: int, future: Future[int]) -> None:
        found[task] = future.exception() or future.result()

    with open_processes(2) as pool:
        assert not run_tasks(pool, halved, [0, 1, 2, 3, 6], done)
    assert (found[0], found[2], found[6]) == (0, 1, 3)
    assert [str(found[odd]) for odd in (1, 3)] == ["1 is odd", "3 is odd"]


def test_a_process_that_dies_is_no_result() -> None:
    died: list[BaseException | None] = []
    with open_processes(1) as pool:
        assert not run_tasks(pool, halved, [4], lambda _task, future: died.append(future.exception()))
    assert "terminated abruptly" in str(died[0])


def brief(number: int) -> int:
    time.sleep(0.3)
    return number


def test_as_many_tasks_as_processes_are_told_of_as_running() -> None:
    """A third task waits at hand for two processes, and the pool calls its future running, too."""
    told: list[list[int]] = []
    with open_processes(2) as pool:
        assert not run_tasks(pool, brief, list(range(6)), lambda *_: None, lambda running: told.append([*running]))
    assert max(map(len, told)) == 2


def dying(task: tuple[int, str]) -> int:
    """Kills its process where it has not been begun so often before; the file counts."""
    times, path = task
    with Path(path).open("a", encoding="ascii") as file:
        file.write("x")
    if Path(path).stat().st_size <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return times


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_the_task_that_a_process_dies_of_is_lost_and_no_other(processes: int) -> None:
    tasks = [0, 2, 8, 4, 10, 12, 4, 14, 1, 16, 18, 4]
    found: list[tuple[int, Any]] = []

    def done(task: int, future: Future[int]) -> None:
        error = future.exception()
        found.append((task, type(error).__name__ if error else future.result()))

    with open_processes(processes) as pool:
        assert not run_tasks(pool, halved, tasks, done)
    wanted = {4: "BrokenProcessPool", 1: "ValueError"}
    assert sorted(found, key=str) == sorted(((task, wanted.get(task, task // 2)) for task in tasks), key=str)


def test_a_task_whose_process_was_killed_from_outside_is_done_again(tmp_path: Path) -> None:
    found: dict[tuple[int, str], Any] = {}
    tasks = [(times, str(tmp_path / f"{number}")) for number, times in enumerate((0, 0, 1, 0, 2, 0))]

    def done(task: tuple[int, str], future: Future[int]) -> None:
        found[task] = type(error).__name__ if (error := future.exception()) else "done"

    with open_processes(2) as pool:
        assert not run_tasks(pool, dying, tasks, done)
    assert [found[task] for task in tasks] == ["done", "done", "done", "done", "BrokenProcessPool", "done"]


def test_an_interrupt_keeps_what_is_done_and_gives_up_the_rest() -> None:
    found: list[int] = []

    def done(task: int, _future: Future[int]) -> None:
        found.append(task)
        os.kill(os.getpid(), signal.SIGINT)

    with open_processes(2) as pool:
        assert run_tasks(pool, slow, [0, 600, 600], done) == INTERRUPTED
    assert found == [0]


def test_an_error_of_the_receiver_gives_up_the_rest() -> None:
    def done(_task: int, _future: Future[int]) -> None:
        raise KeyError("full")

    with open_processes(2) as pool, pytest.raises(KeyError):
        run_tasks(pool, slow, [0, 600], done)


def test_nothing_stays_of_the_temporary_files_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even of one that is ended in the middle of a task."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with open_processes(1) as pool:
        made = Path(pool.submit(tempfile.mkdtemp, "").result())
        assert made.is_dir() and tmp_path in made.parents
        pool.submit(slow, 100)
        pool.abandon()
    assert list(tmp_path.iterdir()) == []


class Breaking:
    """A pool that is lost with its third task."""

    at_once = 1

    def __init__(self) -> None:
        self.given, self.abandoned = 0, False

    def submit(self, work: Callable[[int], int], task: int, /) -> Future[int]:
        self.given += 1
        future: Future[int] = Future()
        if self.given < 3:
            future.set_result(work(task))
        elif self.given == 3:
            future.set_exception(PoolLost("no worker is left"))
        return future

    def repair(self) -> int:
        raise AssertionError("a pool that is lost is not repaired")

    def abandon(self) -> None:
        self.abandoned = True


def test_a_pool_that_is_lost_ends_it_with_the_reason() -> None:
    found: list[int] = []
    pool = Breaking()
    why = run_tasks(pool, halved, [0, 2, 6, 8, 10], lambda task, _future: found.append(task))
    assert (why, pool.abandoned) == ("no worker is left", True)
    assert set(found) == {0, 2}
