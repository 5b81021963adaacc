"""Who checks the checker: each obligation of a machine, evaluated as a formula, says what executing the machine does.

In a structure, with values for the constants, the premise of an obligation (axioms, what is known, guards) must be true
exactly where it is of the executed machine, and where the step is possible its goal must be true exactly where the
state that the step leads to has what the goal is about. A sample is asked of a solver, too, as the text that proofs are
made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.proofs.machine.drawn_structures import NUMBERS_BELOW, drawn_structures
from tests.proofs.machine.executed import same, stepped
from tests.proofs.machine.obligation_cases import Case, Cases, Step, conjunct_names

from thence.dsl import ir
from thence.dsl.ir.types import NAT, Type
from thence.dsl.load import library, load
from thence.proofs.logic.formula import Unsupported, free_locals
from thence.proofs.logic.structure import Structure, evaluate, tuples
from thence.proofs.machine.obligations import conjuncts
from thence.proofs.machine.transitions import actions, enabled, initial, rigid, step
from thence.proofs.solving.solver import SolverPool


class Evaluated:
    """Formulas in one structure; of closed ones the values are kept."""

    def __init__(self, state: Structure) -> None:
        self.state = state
        self._closed: dict[int, tuple[ir.Expr, Any]] = {}

    def __call__(self, body: ir.Expr, environment: dict[str, Any]) -> bool:
        if id(body) not in self._closed:
            self._closed[id(body)] = (body, None if free_locals(body) else evaluate(body, self.state, {}))
        _, closed = self._closed[id(body)]
        return bool(evaluate(body, self.state, environment) if closed is None else closed)


def compared(pool: SolverPool, machine: ir.Machine, seed: int, structures: int, each: int) -> Counter[str]:
    """Compares `each` obligations in each of some structures; returns what was met."""
    happened: Counter[str] = Counter()
    chance = Random(seed)
    everything = conjuncts(machine)
    assert [conjunct.name for conjunct in everything] == conjunct_names(machine)
    some = tuple(conjunct for conjunct in everything if chance.random() < 0.6)
    suites = [tuple(Cases(machine, known).every()) for known in (everything, some, ())]
    formulas = [*(conjunct.formula for conjunct in everything)]
    for kind, state in drawn_structures(pool, machine, formulas, seed, structures):
        evaluated = Evaluated(state)
        possible = list(moves(machine, state, chance))
        fitting = {None, *(transition for transition, _, _ in possible)}
        for transition, arguments, then in possible:
            compare_step(machine, transition, arguments, state, then)
        for _ in range(each):
            case = next(case for case in drawn_cases(suites, chance) if case.transition in fitting or chance.random() < 0.1)
            environment = drawn_environment(case, state, possible, chance)
            result = compare(machine, case, state, environment, evaluated)
            happened[result] += 1
            happened[f"{kind} {result}"] += 1
    return happened


def drawn_cases(suites: Sequence[Sequence[Case]], chance: Random) -> Iterator[Case]:
    """Cases without end."""
    while True:
        yield chance.choice(chance.choice(suites))


def moves(
    machine: ir.Machine, state: Structure, chance: Random
) -> Iterator[tuple[ir.Transition, tuple[Any, ...], Structure]]:
    """Steps that are possible in the state."""
    bounded = {**state.universe, "nat": NUMBERS_BELOW}
    for transition in machine.transitions:
        every = list(tuples([parameter.type for parameter in transition.parameters], bounded))
        for arguments in chance.sample(every, min(len(every), 24)):
            then = stepped(machine, transition, arguments, state)
            if then is not None:
                yield transition, arguments, then


def compare_step(
    machine: ir.Machine, transition: ir.Transition, arguments: tuple[Any, ...], state: Structure, then: Structure
) -> None:
    """The prover's own step leads to the same state."""
    action = next(action for action in actions(machine) if action.name == transition.name)
    assert enabled(action, arguments, state), (machine.name, transition.name, arguments)
    try:
        assert same(step(action, arguments, state), then), (machine.name, transition.name, arguments, state)
    except Unsupported as reason:
        assert "infinitely many" in str(reason)


def drawn_environment(
    case: Case, state: Structure, possible: list[tuple[ir.Transition, tuple[Any, ...], Structure]], chance: Random
) -> dict[str, Any]:
    """Values of an obligation's constants; often such that its step is possible."""
    found = {constant.name: _element(constant.type, state, chance) for constant in case.obligation.constants}
    fitting = [arguments for transition, arguments, _ in possible if transition == case.transition]
    if case.transition is not None and fitting and chance.random() < 0.85:
        names = (parameter.name for parameter in case.transition.parameters)
        found |= zip(names, chance.choice(fitting), strict=True)
    return found


def _element(type_: Type, state: Structure, chance: Random) -> int:
    return chance.randrange(NUMBERS_BELOW if type_ == NAT else state.universe[str(type_)])


def compare(
    machine: ir.Machine, case: Case, state: Structure, environment: dict[str, Any], evaluated: Evaluated
) -> str:
    """Holds the obligation against its meaning; returns what it is: not premised, kept or lost."""
    obligation, executed = case.obligation, case.step(machine, state, environment)
    told = f"{machine.name}: {obligation.name} at {environment} in {state}"
    try:
        premise = all(evaluated(hypothesis.body, environment) for hypothesis in obligation.hypotheses)
        goal = evaluated(obligation.goal.body, environment)
    except Unsupported:
        return "unsupported"
    assert premise == case.premise(executed), f"the premise is {premise} of {told}"
    if executed.then is None:
        return "not enabled"
    assert goal == case.goal(executed), f"the goal is {goal} of {told}"
    if not premise:
        return "not premised"
    return "kept" if goal else "lost"


FOLDER = library()[0].parent
FILES = {
    str(path.relative_to(FOLDER).with_suffix("")): path
    for path in (*library(), *sorted((FOLDER / "benchmarks").glob("*.thence")))
    if "\nmachine " in path.read_text(encoding="utf-8")
}


def machines_of(path: Path) -> list[ir.Machine]:
    """The machines of a file, and those of its mutants."""
    found = load(path).specification
    assert found is not None
    mutants = (mutant.mutated for mutant in found.mutants)
    return [*found.machines, *(mutant for mutant in mutants if isinstance(mutant, ir.Machine))]


@pytest.mark.parametrize("name", FILES)
def test_library(name: str, pool: SolverPool) -> None:
    for machine in machines_of(FILES[name]):
        happened = compared(pool, machine, 1, 12, 40)
        print(machine.name, dict(happened))
