"""Several subjects beside each other, each in a process of its own that judges one mutant after the other.

To get ready to judge (to explore a protocol, to prove a machine) takes one process a while; so the processors are kept
busy by different subjects. Interrupting the caller ends all of them, each with the fates so far.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from thence.conformance.mutation.run import Limits, Progress, Score, mutants_of, mutate
from thence.conformance.mutation.subjects import Subject
from thence.conformance.tasks.running import INTERRUPTED
from thence.spec.parent_process import end_with


def mutate_all(
    subjects: Sequence[Subject], limits: Limits, progress: Progress, folder: Path | None = None
) -> tuple[list[Score], str]:
    """The scores, in the subjects' order, and why some are not there: the caller is interrupted. Empty: all are.

    Raises: as `mutate`.
    """
    lanes = max(1, min(limits.jobs, len(subjects)))
    each = replace(limits, jobs=max(1, limits.jobs // lanes))
    if len(subjects) == 1:
        score = mutate(subjects[0], each, progress, folder)
        return [score], INTERRUPTED if score.why_incomplete == INTERRUPTED else ""
    waiting = sorted(range(len(subjects)), key=lambda number: len(mutants_of(subjects[number])[0]))
    done: dict[int, Score] = {}
    busy: dict[Connection, Any] = {}
    interrupted = False
    try:
        while waiting or busy:
            try:
                while waiting and len(busy) < lanes and not interrupted:
                    pipe, process = _started(subjects, waiting.pop(), each, folder, list(busy))
                    busy[pipe] = process
                for ready in connection.wait(list(busy), timeout=0.2):
                    assert isinstance(ready, Connection)
                    _take(ready, busy, done, progress)
            except KeyboardInterrupt:
                interrupted = True
                waiting.clear()
                for process in busy.values():
                    with suppress(ProcessLookupError):
                        os.kill(process.pid, signal.SIGINT)
    finally:
        for process in busy.values():
            process.kill()
            process.join()
    interrupted |= any(score.why_incomplete == INTERRUPTED for score in done.values())
    return [done[number] for number in sorted(done)], INTERRUPTED if interrupted else ""


def _take(pipe: Connection, busy: dict[Connection, Any], done: dict[int, Score], progress: Progress) -> None:
    """A lane's report: its progress, its score, or its error."""
    try:
        said = pipe.recv()
    except (EOFError, OSError):
        said = RuntimeError("a process that judges mutants ended by itself")
    match said:
        case str() as subject, int() as judged, int() as wanted:
            progress(subject, judged, wanted)
            return
        case int() as number, Score() as score:
            done[number] = score
        case Exception():
            raise said
        case _:
            assert said is None, "interrupted before it began"
    busy.pop(pipe).join()
    pipe.close()


def _started(
    subjects: Sequence[Subject], number: int, limits: Limits, folder: Path | None, others: Sequence[Connection]
) -> tuple[Connection, Any]:
    context = get_context("fork")
    ours, theirs = context.Pipe()
    arguments = (theirs, [ours, *others], subjects[number], number, limits, folder, os.getpid())
    process = context.Process(target=_lane, args=arguments, daemon=False)
    process.start()
    theirs.close()
    return ours, process


def _lane(
    pipe: Connection,
    inherited: list[Connection],
    subject: Subject,
    number: int,
    limits: Limits,
    folder: Path | None,
    parent: int,
) -> None:
    """Judges one subject. The first SIGINT or SIGTERM interrupts it; later ones are ignored."""
    over = False

    def interrupted(_signal: int, _frame: object) -> None:
        nonlocal over
        if not over:
            over = True
            raise KeyboardInterrupt

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, interrupted)
    end_with(parent)
    for other in inherited:
        other.close()
    said: Any = None
    try:
        said = number, mutate(subject, limits, lambda *told: pipe.send(told), folder)
    except KeyboardInterrupt:
        said = None
    except Exception as error:
        said = error
    with suppress(OSError):
        pipe.send(said)
