"""Drawn machines explored state by state: what is true of the states and steps of small universes, as `executed` says.

Numbers that are parameters stay below a bound, and a search ends after a number of states. So an exploration is a part
of what the machine can do: what is false in it is false.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any, TypeAlias

from tests.proofs.machine.against_execution.drawn_structures import MOST, arbitrary
from tests.proofs.machine.against_execution.executed import began, goes_everywhere, has_property, same, stepped, value

from thence.dsl import ir
from thence.proofs.logic.structure import Structure, elements
from thence.proofs.machine.obligations import signature_of
from thence.proofs.solving.finite_models import full_universe

PARAMETERS_BELOW = 3
"""Numbers that are parameters of transitions are below it."""

Key: TypeAlias = frozenset[tuple[str, tuple[Any, ...], Any]]


@dataclass
class Explored:
    """States that runs reach, and steps between them."""

    machine: ir.Machine
    states: list[Structure] = field(default_factory=list)
    steps: list[tuple[Structure, ir.Transition, tuple[Any, ...], Structure]] = field(default_factory=list)

    def violates(self, formula: ir.Expr) -> bool:
        return any(not value(formula, state, {}) for state in self.states)

    def is_false(self, name: str) -> bool:
        """Whether the statement is false in what was explored, by its definition."""
        machine = self.machine
        for formula in machine.invariants:
            if formula.name == name:
                return self.violates(formula.body)
        for formula in machine.reachable:
            if formula.name == name:
                return any(value(formula.body, state, {}) for state in self.states)  # of its denial
        for stable in machine.stable:
            if stable.formula.name == name:
                return any(loses(stable, state, then) for state, _, _, then in self.steps)
        if name == "at_most_once":
            return any(repeats(machine, state, step, arguments) for state, step, arguments, _ in self.steps)
        return any(not has_property(name, machine, state) for state in self.states)


def loses(stable: ir.Stable, state: Structure, then: Structure) -> bool:
    """Whether the formula is true before the step and false after it, for some values of its parameters."""
    names = [parameter.name for parameter in stable.parameters]
    for values in product(*(elements(parameter.type, _bounded(state)) for parameter in stable.parameters)):
        at = dict(zip(names, values, strict=True))
        if value(stable.formula.body, state, at) and not value(stable.formula.body, then, at):
            return True
    return False


def repeats(machine: ir.Machine, state: Structure, step: ir.Transition, arguments: tuple[Any, ...]) -> bool:
    """Whether the step delivers what has been delivered there."""
    return step.name == "deliver" and machine.delivery != "off" and bool(state.tables["delivered"][arguments])


def _bounded(state: Structure) -> dict[str, int]:
    return {**state.universe, "nat": PARAMETERS_BELOW}


def begins(machine: ir.Machine, state: Structure) -> bool:
    """Whether runs may begin in the state."""
    axioms = all(value(axiom.body, state, {}) for axiom in machine.axioms)
    return axioms and same(state, began(machine, state)) and goes_everywhere(machine, state)


def starts(machine: ir.Machine, sizes: dict[str, int], chance: Random) -> Iterator[Structure]:
    """Initial states, drawn until none comes for a while."""
    universe = {**sizes, **full_universe(signature_of(machine), sizes)}
    misses = 0
    while misses < 30:
        state = began(machine, arbitrary(machine, universe, chance))
        misses += 1
        if begins(machine, state):
            misses = 0
            yield state


def moves(machine: ir.Machine, state: Structure) -> Iterator[tuple[ir.Transition, tuple[Any, ...], Structure]]:
    """The steps that are possible in a state."""
    for transition in machine.transitions:
        ranges = [elements(parameter.type, _bounded(state)) for parameter in transition.parameters]
        for arguments in product(*ranges):
            then = stepped(machine, transition, arguments, state)
            if then is not None:
                yield transition, arguments, then


def explored(machine: ir.Machine, seed: int, universes: int = 4, begun: int = 4, limit: int = 60) -> Explored:
    """Searches breadth first from some initial states of some universes; `limit` states from each."""
    chance, found = Random(seed), Explored(machine)
    sorts = ["process", "message", *(sort.name for sort in machine.sorts)]
    for _ in range(universes):
        sizes = {sort: chance.choice((1, 2, 2, 3)) for sort in sorts}
        for start, _ in zip(starts(machine, sizes, chance), range(begun), strict=False):
            _search(found, start, limit, chance)
    return found


def _search(found: Explored, start: Structure, limit: int, chance: Random) -> None:
    known, waiting = {_key(start)}, [start]
    for _ in range(limit):
        if not waiting:
            return
        state = waiting.pop(0 if chance.random() < 0.7 else -1)
        found.states.append(state)
        for transition, arguments, then in moves(found.machine, state):
            if then.universe.get("nat", 0) >= MOST:
                continue
            found.steps.append((state, transition, arguments, then))
            key = _key(then)
            if key not in known:
                known.add(key)
                waiting.append(then)
    found.states += waiting


def _key(state: Structure) -> Key:
    return frozenset((name, key, told) for name, table in state.tables.items() for key, told in table.items() if told)


def replayed(machine: ir.Machine, run: Any) -> list[tuple[Structure, ir.Transition, tuple[Any, ...], Structure]]:
    """The steps of a run of the tool; an assertion fails where it is no run."""
    assert begins(machine, run.start), run.start
    by_name, state, steps = {each.name: each for each in machine.transitions}, run.start, []
    for action, arguments in run.steps:
        then = stepped(machine, by_name[action.name], arguments, state)
        assert then is not None, f"{action.name}{arguments} is not enabled"
        steps.append((state, by_name[action.name], tuple(arguments), then))
        state = then
    return steps


def shown_by(machine: ir.Machine, run: Any) -> Explored:
    """The last state and the last step of a run."""
    steps = replayed(machine, run)
    return Explored(machine, [steps[-1][3] if steps else run.start], steps[-1:])
