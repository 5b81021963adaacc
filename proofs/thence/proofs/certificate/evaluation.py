"""Evidence evaluated: whether an execution or a run shows what a certificate says that it shows. No solver takes part.

Before anything is evaluated, its cost is bounded from the formulas and the sizes of the structure. The evidence of a
certificate shares one budget: what would exceed it is not evaluated, and its statement stays open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from operator import mul
from typing import Final, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.proofs.certificate.evidence import HIGHEST, FalseEvidence
from thence.proofs.logic.formula import Unsupported, children
from thence.proofs.logic.number_window import instances_of_numbers
from thence.proofs.logic.structure import CrossCheckError, Structure, Value, evaluate
from thence.proofs.machine.goals import Change, Falsification, Firing, Goal, TransitionRun, reaches
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.transitions import actions, axiom_faults, enabled, free_at_first, initial, step, symbols
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION
from thence.proofs.solving.finite_models import Model, Problem, checked, full_universe
from thence.proofs.theory.obligations import possibility_problem, refutation_problem

BUDGET: Final = 50_000_000
"""Parts of formulas that are evaluated for one certificate, at most; about a minute. A bound, not a count: formulas
that are decided by their first instances take less."""

FAULTS: Final = (CrossCheckError, Unsupported, LookupError, TypeError, ValueError, OverflowError)
"""What evaluation raises for evidence that has another shape than its sources."""


class TooCostly(Exception):
    """Evidence that would exceed the budget."""


@dataclass(slots=True)
class Budget:
    """What may still be evaluated."""

    left: int = BUDGET

    def charge(self, cost: int) -> None:
        """Raises: TooCostly."""
        if cost > self.left:
            raise TooCostly("it is too large to be evaluated within the limits of a recheck")
        self.left -= cost


# --- executions --------------------------------------------------------------------------------


def check_theorem_model(theorem: ir.Theorem, about: str, model: Model, budget: Budget) -> None:
    """A model refutes the theorem, or, where `about` names an assumption, the theorem without that assumption.

    Where it is `POSSIBLE`, the model is one of the axioms and assumptions, with deliveries: see `possibility_problem`.

    Raises: FalseEvidence, TooCostly.
    """
    names = [formula.name for formula in theorem.assume]
    if about not in (REFUTATION, POSSIBLE, *names):
        raise FalseEvidence(f"{theorem.name} has no assumption {about}")
    kept = tuple(formula for formula in theorem.assume if formula.name != about)
    problem = possibility_problem(theorem) if about == POSSIBLE else refutation_problem(theorem, kept)
    try:
        due = set(full_universe(problem.signature, {}))
        _check_shape(model.structure, problem.signature.symbols, due)
        _check_environment(problem, model)
        budget.charge(_model_cost(problem, model.structure))
        checked(problem, model)
    except FAULTS as fault:
        raise FalseEvidence(f"the execution does not show it: {_said(fault)}") from fault


def _check_environment(problem: Problem, model: Model) -> None:
    if set(model.environment) != {constant.name for constant in problem.constants}:
        raise FalseEvidence("it does not have exactly the constants of the sources")
    for constant in problem.constants:
        if not _is_of(model.environment[constant.name], constant.type, model.structure.universe):
            raise FalseEvidence(f"{constant.name} is not a {constant.type}")


def _model_cost(problem: Problem, structure: Structure) -> int:
    highest = structure.highest_number({})
    cost = _together((formula.body for formula in problem.formulas), structure, highest)
    for together in ir.built_together(problem.inductives):
        keys = [prod(structure.universe[str(each.type)] for each in inductive.parameters) for inductive in together]
        rules = [_together((rule.body for rule in inductive.rules), structure, highest) for inductive in together]
        cost += (sum(keys) + 1) * sum(map(mul, keys, rules))
    return cost


# --- runs --------------------------------------------------------------------------------------


def check_machine_run(machine: ir.Machine, goals: Sequence[Goal], run: TransitionRun, budget: Budget) -> None:
    """A run of the machine ends with one of the goals. Raises: FalseEvidence, TooCostly."""
    try:
        last = _check_run(machine, run, budget, 1 + len(goals))
        for goal in goals:
            budget.charge(_goal_cost(goal, last))
        if not any(reaches(goal, run) for goal in goals):
            raise FalseEvidence(f"the run does not end with {' or '.join(map(_described, goals)) or 'anything said'}")
    except FAULTS as fault:
        raise FalseEvidence(f"it is no run of {machine.name}: {_said(fault)}") from fault


def _described(goal: Goal) -> str:
    match goal:
        case Firing():
            return goal.action
        case Falsification():
            return f"a violation of {goal.formula.name}"
        case Change():
            return "such a step"
        case _ as never:
            assert_never(never)


def _check_run(machine: ir.Machine, run: TransitionRun, budget: Budget, times: int) -> Structure:
    """The last state of a run that begins in an initial state, and whose steps are enabled. It is replayed `times`."""
    declared = symbols(machine)
    due = {PROCESS.name, MESSAGE.name, *full_universe(signature_of(machine), {})}
    if any(parameter.type == NAT for action in actions(machine) for parameter in action.parameters):
        due.add("nat")
    _check_shape(run.start, declared, due)
    for fault in axiom_faults(machine):
        raise FalseEvidence(fault)
    free = free_at_first(machine)
    given = {name: table for name, table in run.start.tables.items() if name in free}
    budget.charge(_updating(machine.initial, run.start, run.start.highest_number({})))
    start = initial(machine, run.start.universe, given)
    if {name: dict(table) for name, table in start.tables.items()} != {
        name: dict(table) for name, table in run.start.tables.items()
    }:
        raise FalseEvidence(f"the run does not begin in an initial state of {machine.name}")
    budget.charge(_together((axiom.body for axiom in machine.axioms), run.start, run.start.highest_number({})))
    for axiom in machine.axioms:
        if not evaluate(axiom.body, run.start, {}):
            raise FalseEvidence(f"axiom {axiom.name} is false where the run begins")
    return _replayed(run, budget, times)


def _replayed(run: TransitionRun, budget: Budget, times: int) -> Structure:
    """The state after the steps, each within the budget. Raises: FalseEvidence, TooCostly."""
    state = run.start
    for action, arguments in run.steps:
        for parameter, value in zip(action.parameters, arguments, strict=True):
            if not _is_of(value, parameter.type, run.start.universe):
                raise FalseEvidence(f"{action.name} is given an element that there is not")
        highest = state.highest_number(dict(zip(map(str, range(len(arguments))), arguments, strict=True)))
        guards = _together((guard.body for guard in action.guards), state, highest)
        budget.charge(times * (guards + _updating(action.updates, state, highest)))
        if not enabled(action, arguments, state):
            raise FalseEvidence(f"`{action.name}` is not enabled where the run takes it")
        state = step(action, arguments, state)
        if state.highest_number({}) > HIGHEST:
            raise TooCostly(f"it counts beyond {HIGHEST}")
    return state


def _updating(updates: Sequence[ir.Update], state: Structure, highest: int) -> int:
    """A bound on the evaluation of updates."""
    cost = 0
    for update in updates:
        binders = tuple(ir.Bound(binder.type, binder.name) for binder in update.binders)
        cells = _together((*update.arguments, update.value), state, highest)
        cost += cells if not binders else _instances(binders, update.value, state, highest) * cells
    return cost


def _goal_cost(goal: Goal, last: Structure) -> int:
    """A bound on the evaluation of a goal where the run ends."""
    highest = last.highest_number({})
    match goal:
        case Firing():
            return 1
        case Falsification():
            return _cost(goal.formula.body, last, highest)
        case Change():
            instances = prod(last.universe[str(parameter.type)] for parameter in goal.parameters)
            return instances * _together((goal.before, goal.after), last, highest)
        case _ as never:
            assert_never(never)


# --- shapes ------------------------------------------------------------------------------------


def _check_shape(structure: Structure, declared: tuple[ir.Symbol, ...], sorts: set[str]) -> None:
    """The universe has exactly the sorts, and every symbol a value of its type for exactly the tuples of the universe.

    The window of numbers may be left out.
    """
    if not sorts - {"nat"} <= set(structure.universe) <= sorts:
        raise FalseEvidence("it does not have exactly the sorts of the sources")
    if set(structure.tables) != {symbol.name for symbol in declared}:
        raise FalseEvidence("it does not have exactly the symbols of the sources")
    for symbol in declared:
        table = structure.tables[symbol.name]
        sizes = [structure.universe[str(parameter.type)] for parameter in symbol.parameters]
        inside = all(
            len(key) == len(sizes) and all(0 <= item < size for item, size in zip(key, sizes, strict=True))
            for key in table
        )
        if len(table) != prod(sizes) or not inside:
            raise FalseEvidence(f"{symbol.name} does not have a value for exactly the tuples of the universe")
        if not all(_is_of(value, symbol.result, structure.universe) for value in table.values()):
            raise FalseEvidence(f"{symbol.name} has a value that is not a {symbol.result}")


def _is_of(value: Value, type_: ir.types.Type, universe: Mapping[str, int]) -> bool:
    if type_ == BOOL:
        return isinstance(value, bool)
    if isinstance(value, bool) or not 0 <= value <= HIGHEST:
        return False
    return type_ == NAT or value < universe[str(type_)]


def _said(fault: BaseException) -> str:
    return str(fault) or type(fault).__name__


# --- costs -------------------------------------------------------------------------------------


def _together(expressions: Iterable[ir.Expr], structure: Structure, highest: int) -> int:
    return sum(_cost(expression, structure, highest) for expression in expressions)


def _cost(expr: ir.Expr, structure: Structure, highest: int) -> int:
    """A bound on the parts that an evaluation visits, where no number is above `highest`."""
    if isinstance(expr, ir.Quantified):
        number = _instances(expr.variables, expr.body, structure, highest)
        if any(variable.type == NAT for variable in expr.variables):
            highest += number
        return 1 + min(BUDGET + 1, number * _cost(expr.body, structure, highest))
    return min(BUDGET + 1, 1 + sum(_cost(part, structure, highest) for part in children(expr)))


def _instances(variables: Sequence[ir.Bound], body: ir.Expr, structure: Structure, highest: int) -> int:
    """The instances of bound variables, and the search for the highest number where numbers are bound."""
    universe: Mapping[str, int] = structure.universe
    if any(variable.type == NAT for variable in variables):
        value = body if body.type == BOOL else ir.Comparison(BOOL, "=", body, ir.Literal_(NAT, 0))
        every = ir.Quantified(BOOL, "forall", tuple(variables), value)
        universe = {**universe, "nat": min(BUDGET + 1, instances_of_numbers(every, highest).stop)}
    return min(BUDGET + 1, prod(universe[str(variable.type)] for variable in variables))
