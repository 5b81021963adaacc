"""Tasks beside each other, each in a process of its own that says how far it is.

A task that is interrupted hands over what it has by then, if it makes a result of KeyboardInterrupt. What is done in a
pool is given up instead.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from thence.spec.parent_process import end_with

T = TypeVar("T")
M = TypeVar("M")
R = TypeVar("R")


class LaneLost(RuntimeError):
    """The process of a task ended without a result: it was killed, or a library of it crashed."""


@dataclass(frozen=True, slots=True)
class _Told(Generic[M]):
    """How far a task is."""

    message: M


@dataclass(frozen=True, slots=True)
class _Over(Generic[R]):
    """What a task came to; None where it was interrupted without a result."""

    outcome: R | Exception | None


def run_lanes(
    tasks: Sequence[T],
    work: Callable[[T, Callable[[M], None]], R],
    at_once: int,
    told: Callable[[T, M], None],
    done: Callable[[T, R | Exception], None],
) -> bool:
    """Begins the tasks in this order, so many at once; whether Ctrl-C came. Then no other task begins, and those that
    have begun get a KeyboardInterrupt.

    Args:
        work: does a task, and gives its second argument what `told` is to get. Messages and results are pickled.
        told: is given each message, with its task.
        done: is given each task with its result, or with its error, which is LaneLost where its process ended. A task
            without a result, since it was interrupted, is never given.

    Raises: whatever `told` and `done` raise; the tasks that have begun are given up.
    """
    waiting = list(reversed(tasks))
    busy: dict[Connection, tuple[T, Any]] = {}
    passed_on = False
    with _noted() as interrupt:
        try:
            while waiting or busy:
                while waiting and len(busy) < at_once and not interrupt.came:
                    task = waiting.pop()
                    pipe, process = _started(task, work, list(busy))
                    busy[pipe] = task, process
                for ready in connection.wait(list(busy), timeout=0.2):
                    assert isinstance(ready, Connection)
                    _take(ready, busy, told, done)
                if interrupt.came and not passed_on:
                    passed_on = True
                    waiting.clear()
                    for _, process in busy.values():
                        with suppress(ProcessLookupError):
                            os.kill(process.pid, signal.SIGINT)
        finally:
            for _, process in busy.values():
                process.kill()
                process.join()
    return interrupt.came


@dataclass(slots=True)
class _Interrupt:
    """Whether one came."""

    came: bool = False


@contextmanager
def _noted() -> Iterator[_Interrupt]:
    """Meanwhile, Ctrl-C and SIGTERM are noted where they would raise an exception: within a lane's message, that would
    lose the message."""
    interrupt = _Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def note(_signal: int, _frame: object) -> None:
        interrupt.came = True

    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each, handler in before.items():
        if callable(handler):
            signal.signal(each, note)
    try:
        yield interrupt
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _take(
    pipe: Connection,
    busy: dict[Connection, tuple[T, Any]],
    told: Callable[[T, M], None],
    done: Callable[[T, R | Exception], None],
) -> None:
    """Takes what a lane says."""
    task, process = busy[pipe]
    try:
        said = pipe.recv()
    except (EOFError, OSError):
        said = _Over(LaneLost("its process ended by itself"))
    if isinstance(said, _Told):
        told(task, said.message)
        return
    assert isinstance(said, _Over)
    del busy[pipe]
    process.join()
    pipe.close()
    if said.outcome is not None:
        done(task, said.outcome)


def _started(
    task: T, work: Callable[[T, Callable[[M], None]], R], others: Sequence[Connection]
) -> tuple[Connection, Any]:
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_lane, args=(theirs, [ours, *others], task, work, os.getpid()), daemon=False)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the lane handles it
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return ours, process


def _lane(
    pipe: Connection,
    inherited: list[Connection],
    task: T,
    work: Callable[[T, Callable[[M], None]], R],
    parent: int,
) -> None:
    """Does one task. The first SIGINT or SIGTERM interrupts it; later ones are ignored."""
    over = False

    def interrupted(_signal: int, _frame: object) -> None:
        nonlocal over
        if not over:
            over = True
            raise KeyboardInterrupt

    outcome: R | Exception | None = None
    try:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, interrupted)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        end_with(parent)
        for other in inherited:
            other.close()
        outcome = work(task, lambda message: pipe.send(_Told(message)))
    except KeyboardInterrupt:
        outcome = None
    except Exception as error:
        outcome = error
    with suppress(OSError):
        pipe.send(_Over(outcome))
