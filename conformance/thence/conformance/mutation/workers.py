"""Judging mutants beside each other, each judge in a process of its own.

A mutant may loop, eat memory or crash its judge: such a process is killed, with everything that it started, and a new
one takes its place. What happened to it is the mutant's fate. Interrupting the caller ends all of them, and so does
killing it.
"""

from __future__ import annotations

import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, TypeAlias

from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.mutants import Mutant
from thence.spec.parent_process import end_with

Judge: TypeAlias = Callable[[Mutant], Fate]
MakeJudge: TypeAlias = Callable[[], AbstractContextManager[Judge]]
"""Opens a judge in the process that is to use it."""

MEMORY: Final = 1 << 30
"""Bytes of address space that a judge may have beyond its initial ones."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant, its fate, and the seconds that took."""

    mutant: Mutant
    fate: Fate
    seconds: float


@dataclass(slots=True)
class _Worker:
    process: Any
    pipe: Connection
    task: int = -1
    since: float = field(default_factory=time.monotonic)

    def end(self) -> None:
        """Ends the process with its descendants; its session is its own."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.pipe.close()


def judged(
    mutants: Sequence[Mutant], make_judge: MakeJudge, *, jobs: int, limit_s: float, deadline: float | None = None
) -> Iterator[Judged]:
    """The fates, as they come. A mutant that takes its judge longer than `limit_s` is undecided.

    After `deadline` (of `time.monotonic`) nothing more is judged, and mutants that are being judged are given up.
    """
    context = get_context("fork")
    waiting = list(range(len(mutants)))[::-1]
    workers: list[_Worker] = []
    try:
        while waiting or any(worker.task >= 0 for worker in workers):
            if deadline is not None and time.monotonic() > deadline:
                return
            while waiting and len(workers) < min(jobs, len(mutants)):
                workers.append(_started(context, mutants, make_judge, workers))
            for worker in workers:
                if worker.task < 0 and waiting:
                    worker.task, worker.since = waiting.pop(), time.monotonic()
                    worker.pipe.send(worker.task)
            busy = [worker for worker in workers if worker.task >= 0]
            ready = connection.wait([worker.pipe for worker in busy], timeout=0.2)
            for worker in busy:
                took = time.monotonic() - worker.since
                fate = _answer(worker) if worker.pipe in ready else None
                if fate is None and worker.pipe in ready:
                    fate = Fate("undecided", "its judge died: out of memory, or a crash")
                elif fate is None and took > limit_s:
                    fate = Fate("undecided", f"no fate after {limit_s:g} s")
                elif fate is not None:
                    yield Judged(mutants[worker.task], fate, took)
                    worker.task = -1
                    continue
                if fate is not None:
                    workers.remove(worker)
                    worker.end()
                    yield Judged(mutants[worker.task], fate, took)
    finally:
        for worker in workers:
            worker.end()


def _answer(worker: _Worker) -> Fate | None:
    """The judge's fate; None where the judge is dead."""
    try:
        outcome, reason = worker.pipe.recv()
    except (EOFError, OSError):
        return None
    return Fate(outcome, reason)


def _started(context: Any, mutants: Sequence[Mutant], make_judge: MakeJudge, others: Sequence[_Worker]) -> _Worker:
    ours, theirs = context.Pipe()
    inherited = [ours, *(other.pipe for other in others)]
    arguments = (theirs, inherited, mutants, make_judge, os.getpid())
    process = context.Process(target=_work, args=arguments, daemon=False)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _work(
    pipe: Connection, inherited: list[Connection], mutants: Sequence[Mutant], make_judge: MakeJudge, parent: int
) -> None:
    """One judge: a number comes in, a fate goes out, until the other end closes."""
    os.setsid()
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with make_judge() as judge, suppress(EOFError, BrokenPipeError):
        while True:
            mutant = mutants[pipe.recv()]
            try:
                fate = judge(mutant)
            except MemoryError:
                raise
            except Exception as error:
                traceback.print_exc()
                said = f"a defect of thence itself, please report it: {type(error).__name__}: {error}"
                fate = Fate("undecided", said)
            pipe.send((fate.outcome, fate.reason))


def limit_memory(bytes_: int = MEMORY) -> None:
    """Limits the address space of this process to its present size and `bytes_` more. For judges of mutated code."""
    now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + bytes_, now + bytes_))
