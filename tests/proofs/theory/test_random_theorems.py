"""Random theorems against all small structures: nothing false is proved, and every model that is shown is one.

Structures are enumerated and formulas are evaluated here, by plain Python: nothing of Thence is used for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any, TypeAlias

import pytest

from thence.dsl import ir
from thence.proofs.prove import proofs_by
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Pairs: TypeAlias = frozenset[tuple[int, int]]
Environment: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class World:
    """A structure: `reach` is the closure of `edge`."""

    processes: int
    messages: int
    src: tuple[int, ...]
    sent: frozenset[int]
    delivered: frozenset[int]
    edge: Pairs

    @property
    def reach(self) -> Pairs:
        closed = set(self.edge)
        while more := {(a, d) for a, b in closed for c, d in closed if b == c} - closed:
            closed |= more
        return frozenset(closed)


@dataclass(frozen=True)
class Formula:
    text: str
    holds: Callable[[World, Environment], bool]


def atoms(names: str) -> list[Formula]:
    found: list[Formula] = []
    for a in names:
        found += [
            Formula(f"sent({a})", lambda w, e, a=a: e[a] in w.sent),
            Formula(f"delivered({a})", lambda w, e, a=a: e[a] in w.delivered),
        ]
        for b in names:
            found += [
                Formula(f"edge({a}, {b})", lambda w, e, a=a, b=b: (e[a], e[b]) in w.edge),
                Formula(f"reach({a}, {b})", lambda w, e, a=a, b=b: (e[a], e[b]) in w.reach),
                Formula(f"src({a}) = src({b})", lambda w, e, a=a, b=b: w.src[e[a]] == w.src[e[b]]),
                Formula(f"{a} = {b}", lambda w, e, a=a, b=b: e[a] == e[b]),
            ]
    return found


def drawn(chance: Random) -> Formula:
    """`forall a, b. literal [and literal] implies literal`, or `exists` with `and`."""

    def literal(names: str) -> Formula:
        atom = chance.choice(atoms(names))
        if chance.random() < 0.35:
            return Formula(f"not {atom.text}", lambda w, e: not atom.holds(w, e))
        return atom

    names = chance.choice(["a", "ab", "ab", "abc"])
    left, more, right = literal(names), literal(names), literal(names)
    bound = ", ".join(f"{name}: message" for name in names)

    def instances(world: World) -> Iterator[Environment]:
        for values in product(range(world.messages), repeat=len(names)):
            yield dict(zip(names, values, strict=True))

    if chance.random() < 0.2:
        return Formula(
            f"exists {bound}. {left.text} and {right.text}",
            lambda w, e: any(left.holds(w, i) and right.holds(w, i) for i in instances(w)),
        )
    return Formula(
        f"forall {bound}. {left.text} and {more.text} implies {right.text}",
        lambda w, e: all(not (left.holds(w, i) and more.holds(w, i)) or right.holds(w, i) for i in instances(w)),
    )


def subsets(items: list[Any]) -> Iterator[frozenset[Any]]:
    for chosen in product((False, True), repeat=len(items)):
        yield frozenset(item for item, kept in zip(items, chosen, strict=True) if kept)


def every_world(processes: int, messages: int) -> Iterator[World]:
    numbers = list(range(messages))
    for src in product(range(processes), repeat=messages):
        for sent, delivered in product(subsets(numbers), repeat=2):
            for edge in subsets(list(product(numbers, repeat=2))):
                yield World(processes, messages, src, sent, delivered, edge)


WORLDS = (*every_world(1, 1), *every_world(2, 1), *every_world(2, 2))


def world_of(structure: Any) -> World:
    """A model of the tool; `reach` of the tool must be the closure."""
    tables, messages = structure.tables, structure.universe["message"]

    def true(name: str) -> list[Any]:
        return [key for key, value in tables[name].items() if value]

    sent, delivered = (frozenset(key[0] for key in true(name)) for name in ("sent", "delivered"))
    src = tuple(tables["src"][(m,)] for m in range(messages))
    world = World(structure.universe["process"], messages, src, sent, delivered, frozenset(true("edge")))
    assert world.reach == frozenset(true("reach"))
    return world


SHORT = range(1, 7)


@pytest.mark.long(but=tuple(map(str, SHORT)))
@pytest.mark.parametrize("seed", range(1, 201))
def test_no_random_theorem_is_judged_wrongly(
    seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool
) -> None:
    chance = Random(seed)
    axiom, goal = drawn(chance), drawn(chance)
    assumed = [drawn(chance) for _ in range(chance.randrange(1, 3))]
    lines = [
        "theory random:", "  sort process, message", "  function src: message to process",
        "  relation sent, delivered: message", "  relation edge: message, message", f"  axiom given: {axiom.text}",
        "  inductive reach(a, b):", "    base: edge(a, b)", "    step: exists x. reach(a, x) and reach(x, b)",
        *(f"  property a{number}: {each.text}" for number, each in enumerate(assumed)),
        f"  property goal: {goal.text}",
        "theorem it in random:", f"  assume {', '.join(f'a{number}' for number in range(len(assumed)))}",
        "  prove goal",
    ]  # fmt: skip
    text = "\n".join(lines) + "\n"
    (proof,) = proofs_by(pool, specify(text), (), Options(timeout_ms=2_000))

    def allowed(world: World) -> bool:
        return all(each.holds(world, {}) for each in (axiom, *assumed))

    if proof.assessment.verdict is Verdict.PROVED:
        witness = world_of(proof.assessment.models[POSSIBLE].structure)
        moved = witness.sent & witness.delivered
        assert allowed(witness) and len({witness.src[m] for m in moved}) > 1, text
        assert not [world for world in WORLDS if allowed(world) and not goal.holds(world, {})], text
    elif proof.assessment.verdict is Verdict.REFUTED:
        shown = world_of(proof.assessment.models[REFUTATION].structure)
        assert allowed(shown) and not goal.holds(shown, {}), text
