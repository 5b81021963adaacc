"""Compiled formulas mean what the evaluator says, in reachable states and in arbitrary structures."""

from __future__ import annotations

import random

import pytest

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.find import specification
from thence.dsl.ir.types import BOOL, NAT
from thence.dsl.load import library
from thence.proofs.infer.vocabulary import sorts_of, templates, vocabulary_of
from thence.proofs.logic.compiled import compiled, compiled_choices, compiled_row, value_in
from thence.proofs.logic.structure import Structure, evaluate, tuples
from thence.proofs.machine.step_statements import split
from thence.proofs.machine.transitions import actions, symbols
from thence.proofs.machine.universe import universe_of

UNIVERSE = {"process": 2, "message": 3}
QUORUMS = str(library()[0].parent / "benchmarks" / "paxos.thence")


def arbitrary(machine: ir.Machine, chance: random.Random) -> Structure:
    """Any structure at all, reachable or not."""
    tables, universe = {}, universe_of(machine, UNIVERSE)
    for symbol in symbols(machine):
        most = 2 if symbol.result in (BOOL,) else 4 if symbol.result == NAT else universe[str(symbol.result)]
        keys = tuples([parameter.type for parameter in symbol.parameters], universe)
        drawn = {key: chance.randrange(most) for key in keys}
        tables[symbol.name] = {key: bool(value) for key, value in drawn.items()} if symbol.result == BOOL else drawn
    return Structure(universe, tables)


@pytest.mark.parametrize("name", ["mf", "rst", "tree", "fifo", "client_server"])
def test_formulas_mean_the_same(name: str) -> None:
    machine = specification(name).machines[0]
    chance = random.Random(name)
    structures = [arbitrary(machine, chance) for _ in range(12)]
    closed = [*machine.invariants, *machine.axioms, *built_in.history_facts(machine.delivery)]
    for formula in closed:
        function = compiled(formula.body, ())
        for structure in structures:
            assert bool(value_in(function, structure)) == evaluate(formula.body, structure, {})
    for action in actions(machine):
        names = [parameter.name for parameter in action.parameters]
        function = compiled(action.guard, names)
        for structure in structures:
            for arguments in tuples([parameter.type for parameter in action.parameters], UNIVERSE):
                environment = dict(zip(names, arguments, strict=True))
                said = evaluate(action.guard, structure, environment)
                assert bool(value_in(function, structure, *arguments)) == said


@pytest.mark.parametrize("name", ["mf", "rst", "skeen", "client_server", QUORUMS])
def test_choices_are_the_arguments_of_which_the_guards_are_true(name: str) -> None:
    machine = specification(name).machines[0]
    chance = random.Random(name)
    for structure in [arbitrary(machine, chance) for _ in range(6)]:
        for action in actions(machine):
            conditions = [part for guard in action.guards for part in split(guard.body)]
            found = value_in(compiled_choices(conditions, action.parameters, 3), structure)
            names = [parameter.name for parameter in action.parameters]
            every = tuples([parameter.type for parameter in action.parameters], {**structure.universe, "nat": 3})
            assert found == [
                arguments
                for arguments in every
                if evaluate(action.guard, structure, dict(zip(names, arguments, strict=True)))
            ]


@pytest.mark.parametrize("reasons", [False, True])
@pytest.mark.parametrize("name", ["mf", "fifo", "tree", QUORUMS], ids=["mf", "fifo", "tree", "quorums"])
def test_rows_are_the_values_of_the_atoms(name: str, reasons: bool) -> None:
    machine = specification(name).machines[0]
    chance = random.Random(name)
    structure = arbitrary(machine, chance)
    vocabulary = vocabulary_of(machine, [], reasons=reasons)
    for template in (each for count in (1, 2) for each in templates(vocabulary, sorts_of(machine), count)):
        rows = value_in(compiled_row(template.atoms, template.variables), structure)
        assert rows
        for assignment, row in rows:
            names = [variable.name for variable in template.variables]
            environment = dict(zip(names, assignment, strict=True))
            for at, atom in enumerate(template.atoms):
                assert bool(row >> at & 1) == bool(evaluate(atom, structure, environment)), atom
