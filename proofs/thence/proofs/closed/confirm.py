"""Checks a folder, in one process or several. Each of them holds all states, and takes the steps from its share."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from thence.dsl.run.system import System
from thence.proofs.certificate.directory import shown
from thence.proofs.closed.check import Checked, Checker, Rejected
from thence.proofs.closed.reading import Reading, read
from thence.proofs.closed.written import Malformed
from thence.spec.parent_process import end_with

WORTH_PROCESSES = 20_000
"""States from which on processes beside this one pay."""

PARTS_EACH = 8
"""Shares of a process: after each, progress is told."""

Note: TypeAlias = Callable[[str, int, int], None]
"""Is told what is done now, how much of it is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The result of a check: nothing was wrong, or the fault. `why_open`: it did not come to its end.

    `about`: the system that the claim is about, where there is one.
    """

    reading: Reading | None = None
    about: System | None = None
    checked: Checked = field(default_factory=Checked)
    fault: str | None = None
    why_open: str | None = None


def confirm(directory: Path, jobs: int = 1, note: Note = lambda what, done, of: None) -> Confirmed:
    """Checks the closed set in the directory. Raises: NotAClosedSet, where there is none."""
    found = Confirmed()
    try:
        reading = read(directory)
        found = Confirmed(reading)
        checker = reading.checker()
        found = Confirmed(reading, checker.system)
        found = replace(found, checked=_checked(reading, checker, jobs, note))
        return replace(found, why_open=reading.notes[0] if reading.notes else None)
    except (Malformed, Rejected) as fault:
        return replace(found, fault=shown(str(fault)))
    except (MemoryError, RecursionError) as fault:
        return replace(found, why_open=f"it is too large to be checked here ({type(fault).__name__})")
    except BrokenProcessPool:
        return replace(found, why_open="a process of the check ended, perhaps for lack of memory")


def _checked(reading: Reading, checker: Checker, jobs: int, note: Note) -> Checked:
    states = reading.claim.states
    if jobs > 1 and states * len(reading.claim.renamings) >= WORTH_PROCESSES:
        found = _side_by_side(reading, jobs, note)
    else:
        checker.collect(lambda done: note("reading states", done, states))
        found = checker.part(0, 1, lambda done: note("taking steps", done, states))
    checker.conclude()
    return found


def _side_by_side(reading: Reading, jobs: int, note: Note) -> Checked:
    found, parts = Checked(), jobs * PARTS_EACH
    with _processes(reading, jobs) as pool:
        with _undisturbed():
            waiting = [pool.submit(_part, number, parts) for number in range(parts)]
        note("taking steps", 0, parts)
        for done, each in enumerate(as_completed(waiting), 1):
            found += each.result()
            note("taking steps", done, parts)
    return found


@contextmanager
def _processes(reading: Reading, jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that have collected the states; whatever happens, they end with the block."""
    others = {child.pid for child in multiprocessing.active_children()}
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_start, initargs=(reading, os.getpid()))
    try:
        yield pool
    finally:
        for child in multiprocessing.active_children():
            if child.pid not in others:
                child.kill()
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Meanwhile, interrupts and alarms wait; processes that are started meanwhile never see any, and are killed."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGALRM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_checker: list[Checker] = []
"""The checker of this process, where it is one of several."""


def _start(reading: Reading, parent: int) -> None:
    end_with(parent)
    _checker.append(reading.checker())


def _part(number: int, of: int) -> Checked:
    """A share of the steps. Raises: as `Checker`."""
    checker = _checker[0]
    checker.collect()
    return checker.part(number, of)
