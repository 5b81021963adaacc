"""The process that keeps the solvers of finite problems, asked from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from thence.proofs.infer.budget import Budget, OutOfTime
from thence.proofs.logic.structure import Value
from thence.proofs.solving.worker_process import WorkerDied, WorkerLate, WorkerProcess

GRACE_S = 10.0
"""How much longer than its limits the process may work before it is lost."""

LATE = ("timeout", "canceled", "interrupted")
"""The reasons that Z3 gives where its time limit was over."""

EFFORT_A_MS = 4_000
"""The effort that Z3 spends in a millisecond on a finite problem, about, on an idle machine of ours. Limits are
efforts, so that the same clauses are found however busy the machine is."""

PATIENCE = 8
"""So many times as long as a limit says a question may take, of processor time, where its effort counts little."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Names that are assumed to be true, and names whose values are wanted; None: those of all constants."""

    assume: tuple[str, ...]
    values: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class FiniteAnswer:
    """Values of a model; or None, and the names that contradict each other."""

    values: Mapping[str, Value] | None
    core: tuple[str, ...]


class SolverProcess:
    """One process for many solvers. Each question that is asked once the budget is spent raises `OutOfTime`."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._process = WorkerProcess("thence.proofs.infer.finite.worker")
        self._of_others_s = 0.0
        self._lost = False
        self._solvers = 0
        self.checks = 0
        budget.count(lambda: self._of_others_s + self._process.processor_s)

    def __enter__(self) -> SolverProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def processor_s(self) -> float:
        """What its process has spent, as of the last answer."""
        return self._process.processor_s

    def kill(self) -> None:
        """Ends the process, and the time that there is; another thread may be waiting for it, or be about to ask."""
        self.budget.seconds = 0.0
        self._process.kill()

    def close(self) -> None:
        self._process.close()

    def renew(self) -> None:
        """Starts another process where one was lost. It knows no solver of the one before."""
        if self._lost:
            self._of_others_s += self._process.processor_s
            self._process.close()
            self._process = WorkerProcess("thence.proofs.infer.finite.worker")
            self._lost = False

    def new_solver(self) -> int:
        self._solvers += 1
        return self._solvers

    def tell(self, solver: int, constants: Mapping[str, str], assertions: Sequence[str]) -> None:
        """Declares constants and asserts formulas. Raises: OutOfTime."""
        if constants or assertions:
            request = {"solver": solver, "constants": dict(constants), "assertions": list(assertions)}
            self._ask(request, self.budget.left)

    def check(self, solver: int, asked: Asked) -> FiniteAnswer:
        """Whether the assumptions can be true together. Raises: OutOfTime."""
        while True:
            answer = self._check(solver, asked, self.budget.left, {})
            if answer["status"] != "unknown":
                return _read(answer)
            self.budget.check()
            if answer["reason"] not in LATE:  # a limit that is over a little early leaves a little time
                raise OutOfTime(f"a solver gives up: {answer['reason']}")

    def try_check(self, solver: int, asked: Asked, seconds: float) -> FiniteAnswer | None:
        """As `check`, or None where the solver does not say it with the effort of so many seconds.

        Raises: OutOfTime.
        """
        least = min(seconds, self.budget.left)
        answer = self._check(solver, asked, least * PATIENCE, {"effort": max(1, int(least * 1000 * EFFORT_A_MS))})
        if answer["status"] != "unknown":
            return _read(answer)
        if least < seconds:  # it had less time than it was to have
            raise self.budget.over()
        return None

    def _check(self, solver: int, asked: Asked, seconds: float, limits: Mapping[str, int]) -> dict[str, Any]:
        """The answer within so many seconds of processor time, and within other limits. Raises: OutOfTime."""
        self.checks += 1
        question = {"solver": solver, "assume": asked.assume, "values": asked.values}
        return self._ask({**question, "timeout_ms": max(1, int(seconds * 1000)), **limits}, seconds)

    def _ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """The answer; the process is lost where it works twice as many seconds without one, and some more, or once the
        whole time of the search is over."""
        self.budget.check()
        try:
            return self._process.ask(request, 2 * seconds + GRACE_S, lambda: self.budget.is_overrun)
        except (WorkerDied, WorkerLate) as lost:
            self._lost = True
            self._process.kill()
            raise OutOfTime(str(lost) or "a solver did not answer in time") from lost


def _read(answer: Mapping[str, Any]) -> FiniteAnswer:
    values = answer.get("values")
    core = answer.get("core", ())
    assert isinstance(core, list | tuple)
    return FiniteAnswer(values if isinstance(values, dict) else None, tuple(core))
