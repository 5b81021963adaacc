"""Compiled formulas mean what the evaluator says, in reachable states and in arbitrary structures."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.find import specification
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Type
from thence.dsl.load import library
from thence.proofs.infer.candidates.vocabulary import sorts_of, templates, vocabulary_of
from thence.proofs.logic.compiled import compiled, compiled_choices, compiled_denial, compiled_row, value_in
from thence.proofs.logic.formula import conj, disj, forall, free_locals, implies, negation
from thence.proofs.logic.structure import Structure, Table, evaluate, tuples
from thence.proofs.machine.steps.statements import split
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
        function, denial = compiled(formula.body, ()), compiled_denial(formula.body)
        for structure in structures:
            said = evaluate(formula.body, structure, {})
            assert (bool(value_in(function, structure)), bool(value_in(denial, structure))) == (said, not said)
    for action in actions(machine):
        names = [parameter.name for parameter in action.parameters]
        function = compiled(action.guard, names)
        for structure in structures:
            for arguments in tuples([parameter.type for parameter in action.parameters], UNIVERSE):
                environment = dict(zip(names, arguments, strict=True))
                said = evaluate(action.guard, structure, environment)
                assert bool(value_in(function, structure, *arguments)) == said


def drawn_structure(chance: random.Random) -> Structure:
    """Of the symbols of `DRAWN`; perhaps without messages."""
    universe = {"process": chance.randrange(1, 4), "message": chance.randrange(3), "nat": chance.randrange(1, 5)}
    tables: dict[str, Table] = {}
    for symbol in DRAWN:
        most = 2 if symbol.result == BOOL else 3 if symbol.result == NAT else universe["process"]
        drawn = {key: chance.randrange(most) for key in tuples([each.type for each in symbol.parameters], universe)}
        tables[symbol.name] = {k: bool(v) for k, v in drawn.items()} if symbol.result == BOOL else dict(drawn)
    return Structure(universe, tables)


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


DRAWN = (
    ir.Symbol("open", (), BOOL),
    ir.Symbol("first", (), PROCESS),
    ir.Symbol("ready", (ir.Variable("p", PROCESS),), BOOL),
    ir.Symbol("knows", (ir.Variable("p", PROCESS), ir.Variable("q", PROCESS)), BOOL),
    ir.Symbol("src", (ir.Variable("m", MESSAGE),), PROCESS),
    ir.Symbol("want", (ir.Variable("p", PROCESS),), NAT),
    ir.Symbol("told", (ir.Variable("p", PROCESS), ir.Variable("n", NAT)), BOOL),
)


def drawn_term(chance: random.Random, type_: Type, variables: list[ir.Variable], depth: int) -> ir.Expr:
    """A term over some of the variables, be they many or none."""
    known: list[ir.Expr] = [ir.Local(each.type, each.name) for each in variables if each.type == type_]
    symbols = [each for each in DRAWN if each.result == type_ and (depth or not each.parameters)]
    if type_ == MESSAGE or (known and chance.random() < 0.7) or not symbols:
        return chance.choice(known) if known else ir.Literal_(NAT, chance.randrange(4))
    symbol = chance.choice(symbols)
    types = [each.type for each in symbol.parameters]
    if MESSAGE in types and not any(each.type == MESSAGE for each in variables):
        return ir.Apply(PROCESS, "first", ())
    return ir.Apply(type_, symbol.name, tuple(drawn_term(chance, each, variables, depth - 1) for each in types))


def drawn_condition(chance: random.Random, variables: list[ir.Variable]) -> ir.Expr:
    form = chance.random()
    if form < 0.3:
        type_ = chance.choice((PROCESS, NAT))
        sides = (drawn_term(chance, type_, variables, 1) for _ in range(2))
        return ir.Comparison(BOOL, chance.choice(("=", "<=", "<")) if type_ == NAT else "=", *sides)
    if form < 0.5:
        sides = (drawn_condition(chance, variables) for _ in range(2))
        return ir.Connective(BOOL, chance.choice(("or", "implies")), *sides)
    atom = drawn_term(chance, BOOL, variables, 2)
    return ir.Not(BOOL, atom) if form < 0.6 else atom


def test_choices_are_those_of_which_drawn_conditions_are_true() -> None:
    """With numbers among the variables, and with conditions of none, one and several of them, in any order.

    Guards of `mf`, say, have one variable each, so that all orders of loops and conditions do there.
    """
    seen: Counter[tuple[int, bool]] = Counter()
    for seed in range(600):
        chance = random.Random(seed)
        every = [ir.Variable(name, chance.choice((PROCESS, PROCESS, MESSAGE, NAT))) for name in "wxyz"]
        variables = every[: chance.randrange(5)]
        chosen = (chance.sample(variables, chance.randint(0, len(variables))) for _ in range(chance.randrange(4)))
        conditions = [drawn_condition(chance, each) for each in chosen]
        structure, below = drawn_structure(chance), chance.randrange(1, 5)
        universe = structure.universe
        names = [each.name for each in variables]
        possible = tuples([each.type for each in variables], {**universe, "nat": below})
        expected = [
            arguments
            for arguments in possible
            if all(evaluate(each, structure, dict(zip(names, arguments, strict=True))) for each in conditions)
        ]
        assert value_in(compiled_choices(conditions, variables, below), structure) == expected, seed
        for condition in conditions:
            seen[len(free_locals(condition)), bool(expected)] += 1
    assert all(seen[number, some] > 20 for number in range(3) for some in (False, True)), seen


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


@pytest.mark.parametrize("name", ["mf", QUORUMS], ids=["mf", "quorums"])
def test_rows_that_share_what_formulas_say_are_the_same(name: str) -> None:
    """Of each of several states, the templates in any order."""
    machine = specification(name).machines[0]
    vocabulary = vocabulary_of(machine, [], reasons=True)
    made = [
        compiled_row(template.atoms, template.variables)
        for count in (1, 2, 3)
        for template in templates(vocabulary, sorts_of(machine), count)
    ]
    used = 0
    for seed in range(8):
        chance = random.Random(seed)
        structure = arbitrary(machine, chance)
        shared: dict[str, object] = {}
        for function in chance.sample(made, len(made)):
            before = len(shared)
            assert function(structure.universe, structure.tables, shared) == value_in(function, structure)
            used += before > 0 and len(shared) == before
    assert used > 8


def test_a_denial_is_true_where_the_formula_is_false() -> None:
    """With numbers among the variables, and with premises, alternatives and other bodies, of any of the variables."""
    seen: Counter[tuple[str, bool]] = Counter()
    for seed in range(600):
        chance = random.Random(seed)
        variables = [ir.Variable(name, chance.choice((PROCESS, PROCESS, MESSAGE, NAT))) for name in "wxyz"]
        variables = variables[: chance.randrange(1, 5)]
        drawn = [drawn_condition(chance, chance.sample(variables, chance.randint(0, len(variables)))) for _ in range(3)]
        forms = {
            "premises": implies(conj(drawn[:2]), drawn[2]),
            "alternatives": implies(drawn[0], disj(drawn[1:])),
            "denied": negation(conj(drawn)),
            "any": drawn[0],
        }
        structure = drawn_structure(chance)
        for form, body in forms.items():
            formula = forall(variables, body)
            expected = not evaluate(formula, structure, {})
            assert bool(value_in(compiled_denial(formula), structure)) == expected
            seen[form, expected] += 1
    assert all(seen[form, denied] > 50 for form in forms for denied in (False, True)), seen
