"""A growing propositional problem in a solver process of its own, which can be killed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from thence.proofs.bounded.circuit import Circuit, Literal
from thence.proofs.solving.worker_process import WorkerDied, WorkerLate, WorkerProcess

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
        self._process = WorkerProcess("thence.proofs.bounded.sat_worker")

    def __enter__(self) -> SatSolver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.close()

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
        try:
            return self._process.ask(request, timeout_ms / 1000 + GRACE_S)
        except WorkerDied as lost:
            raise SolverLost(str(lost)) from lost
        except WorkerLate as late:
            raise SolverLost("the solver process did not answer in time and was killed") from late
