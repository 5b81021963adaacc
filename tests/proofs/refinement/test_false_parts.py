"""The part of a claim that is said to be false, held against the interpreter and against the machine's own meaning."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from tests.proofs.refinement.link_invariants import true_of
from tests.proofs.refinement.test_execution import NETWORKS, Drawn, drawn_link

from thence.dsl import ir
from thence.proofs.logic.formula import TRUE
from thence.proofs.logic.structure import elements
from thence.proofs.machine.transitions import actions, enabled
from thence.proofs.refinement.drawing import reader_of
from thence.proofs.refinement.false_parts import false_parts
from thence.proofs.refinement.following import Enabled, Kept, Taking
from thence.proofs.refinement.states import any_state
from thence.proofs.solving.finite_models import Model


@pytest.mark.parametrize(("seed", "network"), [*product(range(2), NETWORKS)])
def test_a_part_of_an_invariant_is_false_exactly_where_the_interpreter_says_so(seed: int, network: str) -> None:
    link = drawn_link(seed, network)
    state = any_state(link)
    happened: Counter[tuple[str, bool]] = Counter()
    for number in range(40):
        one = Random(1000 * seed + number)
        drawn = Drawn(link, one.choice((2, 3)), one)
        reader = reader_of(Model(drawn.structure, {}))
        true = true_of(link, drawn.locals, drawn.packets, drawn.structure, drawn.messages)
        for invariant in link.invariants:
            lines = false_parts(link, Kept(invariant, state), reader)
            assert bool(lines) != true[invariant.name], invariant.name
            happened[invariant.name, true[invariant.name]] += 1
    assert len(happened) >= len(link.invariants) + 2


@pytest.mark.parametrize("seed", range(3))
def test_guards_are_false_exactly_where_the_transition_is_not_enabled(seed: int) -> None:
    link = drawn_link(seed)
    state = any_state(link)
    happened: Counter[bool] = Counter()
    for number in range(20):
        drawn = Drawn(link, 2, Random(1000 * seed + number))
        reader = reader_of(Model(drawn.structure, {}))
        for action in actions(link.machine):
            types = [parameter.type for parameter in action.parameters]
            for values in product(*(elements(type_, drawn.structure.universe) for type_ in types)):
                terms = tuple(reader.term(value, type_) for value, type_ in zip(values, types, strict=True))
                lines = false_parts(link, Enabled((Taking(action, terms, (), TRUE),), state), reader)
                possible = enabled(action, values, drawn.structure)
                assert bool(lines) != possible
                happened[possible] += 1
    assert happened[True] and happened[False]


@pytest.mark.parametrize("seed", range(3))
def test_guards_are_named_that_are_false_of_all_arguments_that_could_be_found(seed: int) -> None:
    """Without such a guard nothing is said, even where no arguments enable the transition."""
    link = drawn_link(seed)
    state = any_state(link)
    said = 0
    for number in range(20):
        drawn = Drawn(link, 2, Random(1000 * seed + number))
        reader = reader_of(Model(drawn.structure, {}))
        for action in actions(link.machine):
            found = tuple(ir.Variable(f"#any {at}", each.type) for at, each in enumerate(action.parameters))
            terms = tuple(ir.Local(each.type, each.name) for each in found)
            lines = false_parts(link, Enabled((Taking(action, terms, found, TRUE),), state), reader)
            choices = product(*(elements(each.type, drawn.structure.universe) for each in found))
            if any(enabled(action, values, drawn.structure) for values in choices):
                assert not lines
            said += bool(lines)
            assert all(line.startswith(f"{action.name}({', '.join('any' for _ in found)}): `") for line in lines)
    assert said
