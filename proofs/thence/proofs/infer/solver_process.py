"""The process that keeps the solvers of finite problems, asked from here."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from thence.proofs.logic.structure import Value
from thence.proofs.solving.worker_process import WorkerDied, WorkerLate, WorkerProcess

GRACE_S = 2.0
"""How long after its own time limit the process may still answer."""

EFFORT_A_MS = 4_000
"""The effort that Z3 spends in a millisecond on a finite problem, about, on an idle machine of ours. Limits are
efforts, so that the same clauses are found however busy the machine is."""

PATIENCE = 3
"""So many times as long as a limit says a question may take by the clock."""


class OutOfTime(Exception):
    """The time limit is over, or a solver does not answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Names that are assumed to be true, and names whose values are wanted."""

    assume: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FiniteAnswer:
    """Values of a model; or None, and the names that contradict each other."""

    values: Mapping[str, Value] | None
    core: tuple[str, ...]


class SolverProcess:
    """One process for many solvers. `deadline` is a time of `time.monotonic`."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self._process = WorkerProcess("thence.proofs.infer.finite_worker")
        self._solvers = 0
        self.checks = 0

    def __enter__(self) -> SolverProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def kill(self) -> None:
        """Ends the process; another thread may be waiting for it."""
        self._process.kill()

    def close(self) -> None:
        self._process.close()

    def new_solver(self) -> int:
        self._solvers += 1
        return self._solvers

    def tell(self, solver: int, constants: Mapping[str, str], assertions: Sequence[str]) -> None:
        """Declares constants and asserts formulas. Raises: OutOfTime."""
        if constants or assertions:
            self._ask({"solver": solver, "constants": dict(constants), "assertions": list(assertions)})

    def check(self, solver: int, asked: Asked) -> FiniteAnswer:
        """Whether the assumptions can be true together. Raises: OutOfTime."""
        found = self._check(solver, asked, self.deadline - time.monotonic(), {})
        if found is None:
            raise OutOfTime("the time limit is over")
        return found

    def try_check(self, solver: int, asked: Asked, seconds: float) -> FiniteAnswer | None:
        """As `check`, or None where the solver does not say it with the effort of so many seconds.

        Raises: OutOfTime.
        """
        return self._check(solver, asked, seconds * PATIENCE, {"effort": int(seconds * 1000 * EFFORT_A_MS)})

    def _check(self, solver: int, asked: Asked, seconds: float, limits: Mapping[str, int]) -> FiniteAnswer | None:
        self.checks += 1
        limit = max(1, int(min(seconds, self.deadline - time.monotonic()) * 1000))
        question = {"solver": solver, "assume": asked.assume, "values": asked.values}
        answer = self._ask({**question, "timeout_ms": limit, **limits})
        if answer["status"] == "unknown":
            return None
        values = answer.get("values")
        core = answer.get("core", ())
        assert isinstance(core, list | tuple)
        return FiniteAnswer(values if isinstance(values, dict) else None, tuple(core))

    def _ask(self, request: Mapping[str, object]) -> dict[str, object]:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise OutOfTime("the time limit is over")
        try:
            answer = self._process.ask(request, left + GRACE_S)
        except (WorkerDied, WorkerLate) as lost:
            raise OutOfTime(str(lost) or "a solver did not answer in time") from lost
        return answer
