"""A recording that is still being written, judged line by line: each wrong delivery is told when it is written.

Nobody knows yet what is still to come. So a delivery over an undelivered predecessor is a violation at once, and a
message that is not delivered yet is on its way. Memory is that of `thence.spec.oracle`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from thence.spec.events import Deliver, Send
from thence.spec.judgement import why_no_verdict
from thence.spec.oracle import Finding, Oracle
from thence.spec.trace import STANDARD_INPUT, Bytes, TraceError, read_lines
from thence.spec.verdict import Level, Result, Verdict

PAUSE_S: Final = 0.1
"""The time between two looks at a file that has nothing new."""

KEPT: Final = 1_000
"""So many findings are kept for the result, the first ones."""


class Growing:
    """A file that somebody is still writing: a line is read when its end is there.

    After its first line it comes to its end where `wait` raises KeyboardInterrupt. A last line without an end is then
    read if it is a whole JSON object, which nothing that may still come can change.

    Attributes:
        left_bytes: of a last line that was not read.

    Raises:
        TraceError: from `readline`: the file has become shorter, so what was read is no longer there.
    """

    def __init__(self, path: Path, file: IO[bytes], wait: Callable[[], None]) -> None:
        self._path = path
        self._file = file
        self._wait = wait
        self._begun = b""
        self._headed = self._ended = False
        self.left_bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        """As `readline`: there are never more lines than one."""
        return self.readline(size)

    def readline(self, size: int = -1, /) -> bytes:
        """The next line, however long it takes; at most `size` bytes of it."""
        while not self._ended:
            self._begun += self._file.readline(size - len(self._begun) if size >= 0 else -1)
            if self._begun.endswith(b"\n") or 0 <= size <= len(self._begun):
                line, self._begun = self._begun, b""
                self._headed = True
                return line
            if os.fstat(self._file.fileno()).st_size < self._file.tell():
                advice = "Follow a file that is only added to, or judge it when it is whole"
                raise TraceError(self._path, None, "has become shorter while it was followed", advice)
            try:
                self._wait()
            except KeyboardInterrupt:
                self._ended = True
                if _is_object(self._begun):
                    return self._begun
                self.left_bytes = len(self._begun)
                if not self._headed:
                    raise
        return b""


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _pause() -> None:
    time.sleep(PAUSE_S)


class Following:
    """The judgement of one recording while it grows.

    Attributes:
        events, sends, deliveries: how many there were.
        found: of each kind of finding, how many there were.
        findings: the first ones, `KEPT` at most.
        unread_bytes: of a last line without an end, which is not judged.
    """

    def __init__(self, path: str | Path, wait: Callable[[], None] = _pause) -> None:
        self._path = Path(path)
        self._wait = wait
        self._oracle: Oracle | None = None
        self._header: Mapping[str, Any] = {}
        self.events = self.sends = self.deliveries = self.unread_bytes = 0
        self.found: dict[str, int] = {}
        self.findings: list[Finding] = []

    def run(self) -> Iterator[Finding | None]:
        """Each finding as it is written, and None for each event without one.

        A pipe ends where its writer ends it; a file is followed until the caller stops, or `wait` is interrupted.

        Raises:
            TraceError: the file cannot be read, or a line is no part of a trace.
        """
        with self._lines() as file:
            processes, self._header, events = read_lines(self._path, file)
            self._oracle = Oracle(processes)
            for event in events:
                self.events += 1
                self.sends += isinstance(event, Send)
                self.deliveries += isinstance(event, Deliver)
                found = self._oracle.observe(event)
                for finding in found:
                    self.found[finding.kind] = self.found.get(finding.kind, 0) + 1
                    if len(self.findings) < KEPT:
                        self.findings.append(finding)
                    yield finding
                if not found:
                    yield None

    @contextmanager
    def _lines(self) -> Iterator[Bytes]:
        if str(self._path) == STANDARD_INPUT:
            yield sys.stdin.buffer
            return
        try:
            with self._path.open("rb") as file:
                if not self._path.is_file():
                    yield file
                    return
                growing = Growing(self._path, file, self._wait)
                try:
                    yield growing
                finally:
                    self.unread_bytes = growing.left_bytes
        except OSError as error:
            problem = f"cannot be read: {error.strerror or error}"
            raise TraceError(self._path, None, problem, "Check the name and the permissions") from error

    @property
    def undelivered(self) -> int:
        """How many deliveries are still to come."""
        return 0 if self._oracle is None else len(self._oracle.at_quiescence())

    def result(self, seconds: float) -> Result:
        """The verdict so far. Where nothing is wrong, `why_no_verdict` says whether there is one."""
        first = next((finding for finding in self.findings if finding.kind == "causal"), None)
        unknown = why_no_verdict(self._header, happened=self.deliveries > 0)
        verdict = Verdict.REFUTED if self.found else Verdict.TESTED if unknown is None else Verdict.UNKNOWN
        facts: dict[str, Any] = {
            "causal": "causal" not in self.found,
            "fifo": "fifo" not in self.found,
            "stuck": False,
            "duplicate": "duplicate" in self.found,
            "first_violation": None
            if first is None
            else {"message": first.message, "process": first.process, "missing": first.missing[0]},
            "detail": {
                "events": self.events,
                "sends": self.sends,
                "deliveries": self.deliveries,
                "under_way": self.undelivered,
                "unread_bytes": self.unread_bytes,
                "findings": dict(sorted(self.found.items())),
            },
        }
        if verdict is Verdict.UNKNOWN:
            facts["unknown"] = unknown
        return Result(
            name="causal delivery so far",
            kind="trace",
            subject=str(self._path),
            verdict=verdict,
            level=Level.L0,
            expected=verdict is Verdict.TESTED,
            seconds=seconds,
            facts=facts,
            explanation="\n".join(map(str, self.findings)),
        )
