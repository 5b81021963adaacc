"""Questions that are under way, each in a worker process that can be ended, with limits of time and memory."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from thence.lsp.outcomes import Outcome, judged_from
from thence.lsp.tasks import Task

_LONGEST_LINE = 1 << 28
"""Bytes of a line of the worker: all verdicts with their counterexamples."""

_ENDING_S = 5.0
"""How long a worker may take to end after its input has ended; it sees to that itself, sooner."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one question may take: seconds, and bytes for the states of an exploration."""

    seconds: float = 300.0
    memory: int = 2 << 30


async def ask(task: Task, file: str, text: str, limits: Limits, tell: Callable[[str], None]) -> Outcome:
    """The outcome of a task about a text; `tell` gets its progress in words. Cancelled, it ends the worker."""
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "thence.lsp.worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LONGEST_LINE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )  # fmt: skip
    question = {"task": task.to_json(), "file": file, "text": text, "memory": limits.memory}
    try:
        outcome = await asyncio.wait_for(_answer(process, question, tell), limits.seconds)
    except TimeoutError:
        outcome = Outcome(failed=f"the time limit of {limits.seconds:g} s is reached")
    finally:
        await asyncio.shield(_ended(process))
    return Outcome(outcome.judged, outcome.failed, time.monotonic() - started)


async def _answer(
    process: asyncio.subprocess.Process, question: dict[str, Any], tell: Callable[[str], None]
) -> Outcome:
    assert process.stdin is not None and process.stdout is not None
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write((json.dumps(question) + "\n").encode())
        await process.stdin.drain()
    async for line in process.stdout:
        match json.loads(line):
            case {"progress": str(said)}:
                tell(said)
            case {"failed": str(why)}:
                return Outcome(failed=why)
            case {"results": list(results)}:
                return Outcome(tuple(judged_from(result) for result in results))
            case other:
                raise AssertionError(other)
    return Outcome(failed=f"the process that works on it ended (exit code {await process.wait()})")


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Ends the worker and waits for it."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _ENDING_S)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
