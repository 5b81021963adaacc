"""Runs that violate what is to be proved, looked for in a process of their own while the search for clauses begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import TypeAlias

from thence.dsl import ir
from thence.proofs.infer.budget import Budget, OutOfTime
from thence.proofs.infer.finite.runs import GOAL_SECONDS, FiniteRuns
from thence.proofs.infer.finite.solver_process import SolverProcess
from thence.proofs.machine.goals import TransitionRun
from thence.proofs.machine.universe import Fitting

REACHED: Mapping[str, int] = {"process": 3, "message": 3}
TWO: Mapping[str, int] = {"process": 2, "message": 2}
DEPTHS = (12, 8, 5)
"""The universes and lengths of the runs that refute goals, and clauses: the longest that a solver can search in time.

With many sorts these are short, so a machine with sorts of its own is first searched with two elements of each.
"""

HASTY_S = 2.0
"""Time limit of the first search of runs of the first length, where a machine has sorts of its own; of shorter ones in
proportion. The search for clauses waits for it. A longer search for runs against goals goes on beside it."""

SHORTER = 0.5
"""Where long runs are not searched in time, the next shorter ones have this share of it."""

SHARE = 0.25
"""So much of the time that is left one question gets at most: its effort may take several times as long."""

Found: TypeAlias = tuple[int, TransitionRun] | None
"""The number of a goal with a run that violates it."""


class GoalRuns:
    """The search; it begins at once, and the process is for questions about other runs when `wait` has answered.

    Args:
        goals: closed formulas.
        budget: of this process alone.
        fitting: sizes that the axioms allow.
    """

    def __init__(self, machine: ir.Machine, goals: Sequence[ir.Expr], budget: Budget, fitting: Fitting) -> None:
        self._machine = machine
        self._goals = goals
        self._budget = budget
        self._two, self._reached = fitting(TWO), fitting(REACHED)  # solvers are asked here, not in the threads
        self._processes = [SolverProcess(budget)]
        self._executor = ThreadPoolExecutor(2)
        self._first = self._executor.submit(self._soon)
        self._patient: Future[Found] | None = None

    def __enter__(self) -> GoalRuns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
        self._executor.shutdown()
        for process in self._processes:
            process.close()

    @property
    def is_done(self) -> bool:
        """Whether `wait` answers at once; or else, whether `violation` does, once `wait` has answered."""
        return self._first.done() if self._patient is None else self._patient.done()

    @property
    def beside_s(self) -> float:
        """Processor time of the longer search, which goes on beside the search for clauses."""
        return sum(process.processor_s for process in self._processes[1:])

    def wait(self) -> tuple[FiniteRuns, Found]:
        """The longest runs that a solver can search in time; and the number of a goal with a run that violates it.

        Raises: Unsupported; OutOfTime; CrossCheckError.
        """
        runs, found, is_late = self._first.result()
        if is_late and self._patient is None:
            self._processes.append(SolverProcess(self._budget))
            self._patient = self._executor.submit(self._search, self._processes[-1])
        return runs, found

    def violation(self) -> Found:
        """What the longer search says, if there is one. Raises: as `wait`."""
        return None if self._patient is None else self._patient.result()

    def _soon(self) -> tuple[FiniteRuns, Found, bool]:
        """The runs for clauses; a run against a goal; and whether a longer search may find one."""
        process = self._processes[0]
        if not self._machine.sorts:
            return *self._longest(process, DEPTHS, GOAL_SECONDS), False
        two, found = self._of(process, self._two, DEPTHS[0], GOAL_SECONDS)
        if found is not None:
            return two, found, False
        runs, found = self._longest(process, DEPTHS, HASTY_S)
        is_short = runs.late or runs.depth < DEPTHS[0]
        return (two if runs.late and not two.late else runs), found, is_short and found is None

    def _search(self, process: SolverProcess) -> Found:
        with suppress(OutOfTime):
            return self._longest(process, DEPTHS[:2], GOAL_SECONDS)[1]
        return None

    def _longest(self, process: SolverProcess, depths: Sequence[int], seconds: float) -> tuple[FiniteRuns, Found]:
        """The longest runs of these lengths that are not late; the longest have so many seconds for a goal."""
        runs, found = self._of(process, self._reached, depths[0], seconds)
        for depth in depths[1:]:
            if found is not None or not runs.late:
                break
            seconds *= SHORTER if self._machine.sorts else 1.0
            runs, found = self._of(process, self._reached, depth, seconds)
        return runs, found

    def _of(
        self, process: SolverProcess, universe: Mapping[str, int], depth: int, seconds: float
    ) -> tuple[FiniteRuns, Found]:
        """The runs of a universe, and one that violates a goal."""
        runs = FiniteRuns(self._machine, universe, depth, process)
        for number, goal in enumerate(self._goals):
            run = None if runs.late else runs.violation(goal, min(seconds, SHARE * self._budget.left))
            if run is not None:
                return runs, (number, run)
        return runs, None
