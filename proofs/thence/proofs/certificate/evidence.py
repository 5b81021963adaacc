"""Finite evidence in a certificate: executions of theories and runs of machines, written down and evaluated again.

No solver takes part in the evaluation: see `logic.structure` and `machine.transitions`. Evidence from a certificate is
accepted only after it was evaluated against the formulas and transitions of the sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.structure import CrossCheckError, Structure, Table, Value, evaluate
from thence.proofs.machine.reachability import Change, Falsification, Firing, Goal, TransitionRun, reaches
from thence.proofs.machine.transitions import actions, free_at_first, initial, symbols
from thence.proofs.solving import assessment
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION
from thence.proofs.solving.finite_models import Model, checked
from thence.proofs.theory.obligations import possibility_problem, refutation_problem


class FalseEvidence(Exception):
    """A model or run that does not show its claim; the message says where it fails."""


# --- written -----------------------------------------------------------------------------------


def model_json(model: Model) -> dict[str, Any]:
    """A model as a JSON value."""
    return {"kind": "model", **_structure_json(model.structure), "environment": dict(sorted(model.environment.items()))}


def run_json(run: assessment.RunEvidence) -> dict[str, Any]:
    """A run as a JSON value: where it starts, and its transitions."""
    steps = [{"transition": action.name, "arguments": list(arguments)} for action, arguments in run.steps]
    return {"kind": "run", **_structure_json(run.start), "steps": steps}


def _structure_json(structure: Structure) -> dict[str, Any]:
    tables = {
        name: [[*key, value] for key, value in sorted(table.items())]
        for name, table in sorted(structure.tables.items())
    }
    return {"universe": dict(sorted(structure.universe.items())), "tables": tables}


# --- read --------------------------------------------------------------------------------------


def model_of(value: Mapping[str, Any]) -> Model:
    """The model that a JSON value describes; the manifest's schema has been held against the value."""
    return Model(_structure(value), dict(value["environment"]))


def run_of(machine: ir.Machine, value: Mapping[str, Any]) -> TransitionRun:
    """The run of this machine that a JSON value describes. Raises: FalseEvidence."""
    known = {action.name: action for action in actions(machine)}
    steps = []
    for number, told in enumerate(value["steps"], 1):
        action = known.get(told["transition"])
        if action is None or len(action.parameters) != len(told["arguments"]):
            raise FalseEvidence(f"step {number} is no transition of {machine.name}")
        steps.append((action, tuple(told["arguments"])))
    return TransitionRun(_structure(value), tuple(steps))


def _structure(value: Mapping[str, Any]) -> Structure:
    tables: dict[str, Table] = {
        name: {tuple(row[:-1]): row[-1] for row in rows} for name, rows in value["tables"].items()
    }
    return Structure(dict(value["universe"]), tables)


# --- evaluated ---------------------------------------------------------------------------------


def check_theorem_model(theorem: ir.Theorem, about: str, model: Model) -> None:
    """A model refutes the theorem, or, where `about` names an assumption, the theorem without that assumption.

    Where it is `POSSIBLE`, the model is one of the axioms and assumptions, with deliveries: see `possibility_problem`.

    Raises: FalseEvidence.
    """
    names = [formula.name for formula in theorem.assume]
    if about not in (REFUTATION, POSSIBLE, *names):
        raise FalseEvidence(f"{theorem.name} has no assumption {about}")
    kept = tuple(formula for formula in theorem.assume if formula.name != about)
    problem = possibility_problem(theorem) if about == POSSIBLE else refutation_problem(theorem, kept)
    try:
        _check_shape(model.structure, problem.signature.symbols)
        checked(problem, model)
    except (CrossCheckError, Unsupported, LookupError, TypeError) as fault:
        raise FalseEvidence(f"the execution does not show it: {_said(fault)}") from fault


def check_machine_run(machine: ir.Machine, goals: Sequence[Goal], run: TransitionRun) -> None:
    """A run of the machine ends with one of the goals. Raises: FalseEvidence."""
    try:
        _check_run(machine, run)
        if not any(reaches(goal, run) for goal in goals):
            raise FalseEvidence(f"the run does not end with {' or '.join(map(_described, goals)) or 'anything said'}")
    except (CrossCheckError, Unsupported, LookupError, TypeError) as fault:
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


def _check_run(machine: ir.Machine, run: TransitionRun) -> None:
    """The run begins in an initial state, and its steps have elements of the universe. `reaches` checks the guards."""
    declared = symbols(machine)
    _check_shape(run.start, declared)
    free = free_at_first(machine)
    given = {name: table for name, table in run.start.tables.items() if name in free}
    start = initial(machine, run.start.universe, given)
    if {name: dict(table) for name, table in start.tables.items()} != {
        name: dict(table) for name, table in run.start.tables.items()
    }:
        raise FalseEvidence(f"the run does not begin in an initial state of {machine.name}")
    for axiom in machine.axioms:
        if not evaluate(axiom.body, run.start, {}):
            raise FalseEvidence(f"axiom {axiom.name} is false where the run begins")
    for action, arguments in run.steps:
        for parameter, value in zip(action.parameters, arguments, strict=True):
            if parameter.type != NAT and not 0 <= value < run.start.universe[str(parameter.type)]:
                raise FalseEvidence(f"{action.name} is given an element that there is not")


def _check_shape(structure: Structure, declared: tuple[ir.Symbol, ...]) -> None:
    """Every symbol has a table with exactly the tuples of the universe, and values of its result."""
    if set(structure.tables) != {symbol.name for symbol in declared}:
        raise FalseEvidence("it does not have exactly the symbols of the sources")
    for symbol in declared:
        table = structure.tables[symbol.name]
        sizes = [structure.universe[str(parameter.type)] for parameter in symbol.parameters]
        count = 1
        for size in sizes:
            count *= size
        inside = all(
            len(key) == len(sizes) and all(0 <= item < size for item, size in zip(key, sizes, strict=True))
            for key in table
        )
        if len(table) != count or not inside:
            raise FalseEvidence(f"{symbol.name} does not have a value for exactly the tuples of the universe")
        if not all(_fits(value, symbol, structure.universe) for value in table.values()):
            raise FalseEvidence(f"{symbol.name} has a value that is not a {symbol.result}")


def _fits(value: Value, symbol: ir.Symbol, universe: Mapping[str, int]) -> bool:
    if symbol.result == BOOL:
        return isinstance(value, bool)
    if isinstance(value, bool) or value < 0:
        return False
    return symbol.result == NAT or value < universe[str(symbol.result)]


def _said(fault: BaseException) -> str:
    return str(fault) or type(fault).__name__
