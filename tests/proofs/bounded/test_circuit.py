"""Circuits mean what they say: simplified as they are made, and decided by a solver."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.proofs.bounded.circuit import FALSE, TRUE, Circuit, Literal
from thence.proofs.bounded.sat import SatSolver, Solution

INPUTS = 3

Recipe = tuple[str, int, int, int]
recipes = st.lists(
    st.tuples(st.sampled_from(["conj", "disj", "ite", "iff", "implies"]), *[st.integers(-12, 12)] * 3),
    min_size=1,
    max_size=9,
)


def build(recipe: list[Recipe], circuit: Circuit, inputs: list[Literal]) -> Literal:
    """A gate made step by step from what there is so far."""
    made = [*inputs, TRUE]

    def pick(number: int) -> Literal:
        literal = made[abs(number) % len(made)]
        return literal if number >= 0 else -literal

    for operator, *numbers in recipe:
        one, two, three = (pick(number) for number in numbers)
        made.append(
            {
                "conj": lambda a, b, c: circuit.conj((a, b, c)),
                "disj": lambda a, b, c: circuit.disj((a, b, c)),
                "ite": circuit.ite,
                "iff": lambda a, b, c: circuit.iff(a, b),
                "implies": lambda a, b, c: circuit.implies(a, b),
            }[operator](one, two, three)
        )
    return made[-1]


def truth(recipe: list[Recipe], values: tuple[bool, ...]) -> bool:
    """The same, computed: with inputs that are constants every gate is one."""
    constants = [TRUE if value else FALSE for value in values]
    literal = build(recipe, Circuit(), constants)
    assert literal in (TRUE, FALSE)
    return literal == TRUE


@settings(derandomize=True, deadline=None, max_examples=200)
@given(recipes)
def test_simplification_keeps_the_meaning(recipe: list[Recipe]) -> None:
    circuit = Circuit()
    inputs = [circuit.fresh() for _ in range(INPUTS)]
    gate = build(recipe, circuit, inputs)
    for values in product((True, False), repeat=INPUTS):
        known = Circuit()
        again = [known.fresh() for _ in range(INPUTS)]
        known.learn([literal if value else -literal for literal, value in zip(again, values, strict=True)])
        assert build(recipe, known, again) == (TRUE if truth(recipe, values) else FALSE)
    if gate in (TRUE, FALSE):
        assert {truth(recipe, values) for values in product((True, False), repeat=INPUTS)} == {gate == TRUE}


def test_a_solver_agrees_with_computing() -> None:
    operators = ("conj", "disj", "ite", "iff", "implies")
    for seed in range(12):
        recipe = [
            (operators[(seed + at) % 5], (7 * seed + at) % 11 - 5, (3 * seed + 2 * at) % 13 - 6, seed - at)
            for at in range(7)
        ]
        circuit = Circuit()
        inputs = [circuit.fresh() for _ in range(INPUTS)]
        gate = build(recipe, circuit, inputs)
        with SatSolver(circuit) as solver:
            found = solver.solve([gate], inputs, 5_000)
        satisfying = [values for values in product((True, False), repeat=INPUTS) if truth(recipe, values)]
        assert (found is None) == (not satisfying)
        if isinstance(found, Solution):
            assert tuple(literal in found.true for literal in inputs) in satisfying


def test_what_is_impossible() -> None:
    circuit = Circuit()
    a, b, c = (circuit.fresh() for _ in range(3))
    both, either = circuit.conj((a, b)), circuit.disj((a, b))
    circuit.require(-both)
    circuit.require(circuit.implies(c, a))
    with SatSolver(circuit) as solver:
        never = solver.impossible([a, -a, b, c, either, circuit.conj((b, c))], 5_000)
        assert never == {circuit.conj((b, c))}
        circuit.learn(-literal for literal in never)
        assert circuit.conj((b, c)) == FALSE
        assert solver.solve([b], [a, b, c], 5_000) == Solution(frozenset({b}))
        assert solver.solve([b, c], [], 5_000) is None


@pytest.mark.parametrize("literal", [TRUE, FALSE])
def test_constants(literal: Literal) -> None:
    circuit = Circuit()
    with SatSolver(circuit) as solver:
        assert (solver.solve([circuit.conj((literal,))], [], 5_000) is not None) == (literal == TRUE)
    assert circuit.gates == 0
