"""A growing propositional problem in a solver process of its own, which can be killed."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from thence.proofs.bounded.circuit import Circuit, Literal

GRACE_S = 5.0
"""How long after its own time limit the process may still answer before it is killed."""


class SolverLost(Exception):
    """The solver process died, or was killed because it did not answer; the message says which."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The inputs that are true in a model."""

    true: frozenset[Literal]


@dataclass(frozen=True, slots=True)
class Undecided:
    """No answer within the limit, and why."""

    reason: str


class SatSolver:
    """Decides about the literals of one circuit. Use as a context manager."""

    def __init__(self, circuit: Circuit) -> None:
        self._circuit = circuit
        self._process = subprocess.Popen(
            [sys.executable, "-m", "thence.proofs.bounded.sat_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self._buffer = b""
        self._number = 0

    def __enter__(self) -> SatSolver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue

    @property
    def process_id(self) -> int:
        """Of the solver process."""
        return self._process.pid

    def solve(
        self, literals: Sequence[Literal], wanted: Sequence[Literal], timeout_ms: int
    ) -> Solution | Undecided | None:
        """A model in which all the literals are true, with the `wanted` inputs that are; None if there is none.

        Raises: SolverLost.
        """
        self._tell()
        reply = self._ask({"solve": list(literals), "wanted": list(wanted), "timeout_ms": timeout_ms}, timeout_ms)
        match reply["status"]:
            case "sat":
                return Solution(frozenset(reply["true"]))
            case "unsat":
                return None
            case _:
                return Undecided(reply["reason"])

    def impossible(self, literals: Sequence[Literal], timeout_ms: int) -> frozenset[Literal]:
        """Literals of these that are false in every model; none of them where the limit is too short.

        Raises: SolverLost.
        """
        self._tell()
        reply = self._ask({"possible": list(literals), "timeout_ms": timeout_ms}, timeout_ms)
        if reply["status"] != "done":
            return frozenset()
        return frozenset(literals) - frozenset(reply["found"])

    def _tell(self) -> None:
        self._ask({"text": self._circuit.take_text()}, 60_000)

    def _ask(self, request: dict[str, Any], timeout_ms: int) -> dict[str, Any]:
        self._number += 1
        assert self._process.stdin is not None
        try:
            self._process.stdin.write((json.dumps({"id": self._number, **request}) + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise SolverLost(f"the solver process died (exit code {self._process.poll()})") from error
        return self._reply(time.monotonic() + timeout_ms / 1000 + GRACE_S)

    def _reply(self, deadline: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise SolverLost("the solver process did not answer in time and was killed")
                chunk = os.read(self._process.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise SolverLost(f"the solver process died (exit code {self._process.poll()})")
                self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        assert reply["id"] == self._number
        return reply
