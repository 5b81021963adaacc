"""What a run of a machine is looked for: a state, a transition, or a change; and whether a run has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.proofs.logic.formula import free_locals, negation
from thence.proofs.logic.structure import CrossCheckError, Structure, evaluate, tuples
from thence.proofs.machine.transitions import (
    Action,
    enabled,
    environment_of,
    step,
)


@dataclass(frozen=True, slots=True)
class Falsification:
    """Goal: a reachable state in which the formula is false; with free names, a state before a `deliver` of them."""

    formula: ir.NamedFormula


def reaching(formula: ir.NamedFormula) -> Falsification:
    """A reachable state in which the formula is true."""
    return Falsification(ir.NamedFormula(f"never {formula.name}", negation(formula.body)))


@dataclass(frozen=True, slots=True)
class Firing:
    """Goal: the transition of this name happens."""

    action: str


@dataclass(frozen=True, slots=True)
class Change:
    """Goal: a step before which `before` is true and after which `after` is true, for some values of the parameters.

    `exempt` (name, n): no step by the transition of this name whose arguments are the values of the first n parameters.
    """

    parameters: tuple[ir.Variable, ...]
    before: ir.Expr
    after: ir.Expr
    exempt: tuple[str, int] | None = None


Goal: TypeAlias = Falsification | Firing | Change


@dataclass(frozen=True, slots=True)
class TransitionRun:
    """An initial structure and the transitions from it, each with its arguments; replayed by evaluation."""

    start: Structure
    steps: tuple[tuple[Action, tuple[int, ...]], ...]

    def states(self) -> tuple[Structure, ...]:
        """The structures before the first and after each step. Raises: CrossCheckError where a guard is false."""
        states = [self.start]
        for action, arguments in self.steps:
            if not enabled(action, arguments, states[-1]):
                raise CrossCheckError(f"`{action.name}` is not enabled where the solver takes it")
            states.append(step(action, arguments, states[-1]))
        return tuple(states)


def changed_values(goal: Change, run: TransitionRun) -> dict[str, int] | None:
    """Values of the goal's parameters for which the last step of the run is such a change, by evaluation."""
    before, after = run.states()[-2:]
    action, arguments = run.steps[-1]
    for values in tuples([parameter.type for parameter in goal.parameters], before.universe):
        environment = {parameter.name: value for parameter, value in zip(goal.parameters, values, strict=True)}
        exempted = goal.exempt is not None and (action.name, arguments) == (goal.exempt[0], values[: goal.exempt[1]])
        if not exempted and evaluate(goal.before, before, environment) and evaluate(goal.after, after, environment):
            return environment
    return None


def reaches(goal: Goal, run: TransitionRun) -> bool:
    """Whether the run ends with the goal, by evaluation. Raises: CrossCheckError where it is no run."""
    states = run.states()
    match goal:
        case Firing():
            return bool(run.steps) and run.steps[-1][0].name == goal.action
        case Change():
            return bool(run.steps) and changed_values(goal, run) is not None
        case Falsification() if free_locals(goal.formula.body):
            if not run.steps or run.steps[-1][0].name != "deliver":
                return False
            action, arguments = run.steps[-1]
            return not evaluate(goal.formula.body, states[-2], environment_of(action, arguments))
        case Falsification():
            return not evaluate(goal.formula.body, states[-1], {})
        case _ as never:
            assert_never(never)
