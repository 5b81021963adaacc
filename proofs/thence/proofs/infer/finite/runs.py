"""Runs of bounded length in a small universe that make a formula false: what no random run met may still be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from thence.dsl import ir
from thence.dsl.ir.types import NAT
from thence.proofs.infer.finite.solver_process import Asked, SolverProcess
from thence.proofs.logic.ground import Grounding, any_of, negated, quoted
from thence.proofs.logic.number_window import NUMBERS_BELOW
from thence.proofs.machine.goals import Falsification, TransitionRun
from thence.proofs.machine.transitions import actions, symbols
from thence.proofs.machine.universe import universe_of
from thence.proofs.machine.unrolling import Unrolling, replayed

SECONDS = 2.5
"""Time limit of the search for a run against a clause, which may be needless."""

MOST_TEXT = 16_000_000
"""Limit on the text that describes the runs, in characters: they are no longer than it allows."""

GOAL_SECONDS = 12.0
"""Time limit of the search for a run against what is to be proved."""


@dataclass(slots=True)
class FiniteRuns:
    """All runs of up to `depth` steps in one universe, or of fewer where their text would be too long; the solver keeps
    them between questions.

    `late`: a search did not end in time.
    """

    machine: ir.Machine
    universe: Mapping[str, int]
    depth: int
    process: SolverProcess
    _unrolling: Unrolling = field(init=False)
    _solver: int = field(init=False)
    late: bool = False
    _asked: int = 0
    _sent: int = 0
    _declared: int = 0

    def __post_init__(self) -> None:
        whole = universe_of(self.machine, self.universe)
        if any(each.type == NAT for action in actions(self.machine) for each in action.parameters):
            whole.setdefault("nat", NUMBERS_BELOW - 1)
        self._unrolling = Unrolling(
            self.machine, Grounding(whole), symbols(self.machine), actions(self.machine), may_end=True
        )
        self._solver = self.process.new_solver()
        self._unrolling.start()
        length, counted = 0, 0
        for _ in range(self.depth):
            self.process.budget.check()
            self._unrolling.advance()
            new = self._unrolling.grounding.assertions[counted:]
            length, counted = length + sum(map(len, new)), counted + len(new)
            if length > MOST_TEXT:
                break

    @property
    def steps(self) -> int:
        """The length of the longest of these runs."""
        return len(self._unrolling.states) - 1

    def anew(self) -> FiniteRuns:
        """The same runs, with a solver that has not been asked anything: what it answers depends on that."""
        return FiniteRuns(self.machine, self.universe, self.steps, self.process)

    def violation(self, formula: ir.Expr, seconds: float = SECONDS) -> TransitionRun | None:
        """A run that ends where the closed formula is false; None where there is none, or none is found in time.

        Raises: Unsupported; OutOfTime; CrossCheckError.
        """
        grounding = self._unrolling.grounding
        ends: list[str] = []
        for number, state in enumerate(self._unrolling.states):
            self.process.budget.check()
            name = f"asked~{self._asked}@{number}"
            grounding.constants[name] = "Bool"
            false_there = negated(grounding.formula(formula, state, {}))
            grounding.assertions.append(f"(= {quoted(name)} {false_there})")
            ends.append(name)
        asked = f"asked~{self._asked}"
        grounding.constants[asked] = "Bool"
        grounding.assertions.append(any_of((negated(quoted(asked)), *map(quoted, ends))))
        self._asked += 1
        self._tell()
        answer = self.process.try_check(self._solver, Asked((asked,), None), seconds)
        if answer is None or answer.values is None:
            self.late = self.late or answer is None
            return None
        length = next(number for number, name in enumerate(ends) if answer.values[name])
        goal = Falsification(ir.NamedFormula("a clause", formula))
        return replayed(self._unrolling, goal, length, answer.values)

    def _tell(self) -> None:
        grounding = self._unrolling.grounding
        new = dict(list(grounding.constants.items())[self._declared :])
        constants = {name: sort if sort == "Bool" else str(NUMBERS_BELOW) for name, sort in new.items()}
        self.process.tell(self._solver, constants, grounding.assertions[self._sent :])
        self._declared, self._sent = len(grounding.constants), len(grounding.assertions)
