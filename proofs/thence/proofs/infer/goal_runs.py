"""Runs that violate what is to be proved, looked for in a process of their own while the search for clauses begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

from thence.dsl import ir
from thence.proofs.infer.budget import Budget
from thence.proofs.infer.finite_runs import GOAL_SECONDS, FiniteRuns
from thence.proofs.infer.solver_process import SolverProcess
from thence.proofs.machine.reachability import TransitionRun
from thence.proofs.machine.universe import Fitting

REACHED: Mapping[str, int] = {"process": 3, "message": 3}
TWO: Mapping[str, int] = {"process": 2, "message": 2}
DEPTHS = {12: GOAL_SECONDS, 8: GOAL_SECONDS / 2, 5: GOAL_SECONDS / 4}
"""The universes and lengths of the runs that refute goals, and clauses: the longest that a solver can search in time.

With many sorts these are short, so a machine with sorts of its own is first searched with two elements of each. Where
the longer ones take too long, less time is given to the shorter ones: the search for clauses waits.
"""

SHARE = 0.25
"""So much of the time that is left one question gets at most: its effort may take several times as long."""


class GoalRuns:
    """The search; it begins at once, and the process is for questions about other runs when it has ended.

    Args:
        goals: closed formulas.
        budget: of this process alone.
        fitting: sizes that the axioms allow.
    """

    def __init__(self, machine: ir.Machine, goals: Sequence[ir.Expr], budget: Budget, fitting: Fitting) -> None:
        self.process = SolverProcess(budget)
        self._machine = machine
        self._goals = goals
        self._two, self._reached = fitting(TWO), fitting(REACHED)  # solvers are asked here, not in the thread
        self._executor = ThreadPoolExecutor(1)
        self._found = self._executor.submit(self._search)

    def __enter__(self) -> GoalRuns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self._executor.shutdown()
        self.process.close()

    @property
    def is_done(self) -> bool:
        return self._found.done()

    def wait(self) -> tuple[FiniteRuns, tuple[int, TransitionRun] | None]:
        """The longest runs that a solver can search in time; and the number of a goal with a run that violates it.

        Raises: Unsupported; OutOfTime; CrossCheckError.
        """
        return self._found.result()

    def _search(self) -> tuple[FiniteRuns, tuple[int, TransitionRun] | None]:
        first = [(self._two, max(DEPTHS))] if self._machine.sorts else []
        for universe, depth in (*first, *((self._reached, depth) for depth in DEPTHS)):
            runs = FiniteRuns(self._machine, universe, depth, self.process)
            for number, goal in enumerate(self._goals):
                seconds = min(DEPTHS[depth], SHARE * self.process.budget.left)
                run = None if runs.late else runs.violation(goal, seconds)
                if run is not None:
                    return runs, (number, run)
            if not runs.late and universe is self._reached:
                break
        return runs, None
