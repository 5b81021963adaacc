"""Random theorems by induction against all small structures: nothing false is proved, whatever the rules and the claim.

A second relation, `back`, may be built together with the first; the induction is then on both, or on one of them.

The relation is least under one to four rules of every shape that a theory may have: with transitivity (which gives the
linear form of induction) or without, with one use of the relation in a rule or two, with alternatives, and with bound
names that meet those of the claim. The proof has one claim, several claims in one induction, several inductions, or a
theorem that stands before, whose assumption is made or not. Structures, least relations and formulas are computed here,
by plain Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, product
from random import Random
from typing import Any, TypeAlias

import pytest

from thence.dsl import ir
from thence.proofs.prove import proofs_by
from thence.proofs.solving.assessment import REFUTATION
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

Pairs: TypeAlias = frozenset[tuple[int, int]]
Environment: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class World:
    """Messages 0 to n - 1, a relation between two, marks, and numbers."""

    messages: int
    edge: Pairs
    marked: frozenset[int]
    number: tuple[int, ...]
    reach: Pairs = frozenset()
    back: Pairs = frozenset()


@dataclass(frozen=True)
class Formula:
    text: str
    holds: Callable[[World, Environment], bool]


def atom(text: str, holds: Callable[[World, Environment], bool]) -> Formula:
    return Formula(text, holds)


def reach(a: str, b: str) -> Formula:
    return Formula(f"reach({a}, {b})", lambda w, e: (e[a], e[b]) in w.reach)


def back(a: str, b: str) -> Formula:
    return Formula(f"back({a}, {b})", lambda w, e: (e[a], e[b]) in w.back)


def edge(a: str, b: str) -> Formula:
    return Formula(f"edge({a}, {b})", lambda w, e: (e[a], e[b]) in w.edge)


def marked(a: str) -> Formula:
    return Formula(f"marked({a})", lambda w, e: e[a] in w.marked)


def same(a: str, b: str) -> Formula:
    return Formula(f"{a} = {b}", lambda w, e: e[a] == e[b])


def at_most(a: str, b: str) -> Formula:
    return Formula(f"number({a}) <= number({b})", lambda w, e: w.number[e[a]] <= w.number[e[b]])


def below(a: str, b: str) -> Formula:
    return Formula(f"number({a}) < number({b})", lambda w, e: w.number[e[a]] < w.number[e[b]])


def both(left: Formula, right: Formula) -> Formula:
    return Formula(f"({left.text} and {right.text})", lambda w, e: left.holds(w, e) and right.holds(w, e))


def either(left: Formula, right: Formula) -> Formula:
    return Formula(f"({left.text} or {right.text})", lambda w, e: left.holds(w, e) or right.holds(w, e))


def follows(left: Formula, right: Formula) -> Formula:
    return Formula(f"({left.text} implies {right.text})", lambda w, e: not left.holds(w, e) or right.holds(w, e))


def denied(inner: Formula) -> Formula:
    return Formula(f"not {inner.text}", lambda w, e: not inner.holds(w, e))


def some(name: str, body: Formula) -> Formula:
    return Formula(
        f"(exists {name}: message. {body.text})",
        lambda w, e: any(body.holds(w, {**e, name: value}) for value in range(w.messages)),
    )


def every(name: str, body: Formula) -> Formula:
    return Formula(
        f"(forall {name}: message. {body.text})",
        lambda w, e: all(body.holds(w, {**e, name: value}) for value in range(w.messages)),
    )


TRANSITIVITY = some("x", both(reach("a", "x"), reach("x", "b")))
BASE = (
    edge("a", "b"), edge("b", "a"), both(marked("a"), same("a", "b")), both(edge("a", "b"), marked("b")),
    some("x", both(edge("a", "x"), edge("x", "b"))), both(marked("a"), marked("b")), below("a", "b"),
)  # fmt: skip
STEPS = (
    some("x", both(reach("a", "x"), edge("x", "b"))), some("y", both(edge("a", "y"), reach("y", "b"))),
    both(reach("b", "a"), marked("a")), some("x", both(both(reach("a", "x"), reach("x", "b")), marked("x"))),
    either(both(reach("b", "a"), edge("a", "b")), some("y", both(reach("y", "a"), reach("y", "b")))),
    both(marked("b"), some("a2", reach("a2", "b"))),
    every("x", either(denied(edge("x", "b")), reach("x", "b"))), both(reach("a", "a"), marked("b")),
)  # fmt: skip
# Rules of `reach`, and of `back`, where the two are built together.
FROM_BACK = (
    both(back("b", "a"), marked("a")), some("x", both(back("a", "x"), edge("x", "b"))),
    some("y", both(edge("a", "y"), back("b", "y"))), both(back("a", "b"), either(marked("b"), reach("b", "a"))),
)  # fmt: skip
FROM_REACH = (
    both(reach("b", "a"), edge("a", "b")), some("x", both(reach("a", "x"), edge("b", "x"))), reach("b", "a"),
    some("y", both(reach("a", "y"), back("y", "b"))), both(marked("a"), both(reach("a", "b"), back("a", "a"))),
)  # fmt: skip
BOTH_WAYS = (
    (at_most("a", "b"), at_most("b", "a")), (either(marked("a"), marked("b")), either(marked("a"), marked("b"))),
    (marked("a"), marked("b")), (follows(marked("a"), marked("b")), follows(marked("b"), marked("a"))),
    (denied(same("a", "b")), denied(same("a", "b"))), (either(edge("a", "b"), marked("b")), marked("a")),
)  # fmt: skip
"""What may be claimed of `reach`, and of `back`."""


def rules(chance: Random) -> tuple[list[Formula], list[Formula]]:
    """The transitive closure of something, or the least relation under rules of any shape; and what begins it."""
    base = chance.sample(BASE, chance.choice((1, 1, 2)))
    if chance.random() < 0.4:
        return [*base, TRANSITIVITY], base
    steps = chance.sample(STEPS, chance.choice((1, 1, 2)))
    found = [*base, *steps, *([TRANSITIVITY] if chance.random() < 0.2 else [])]
    if chance.random() < 0.3:
        chance.shuffle(found)
    return found, base


def literal(chance: Random, names: str) -> Formula:
    a, b = chance.choice(names), chance.choice(names)
    found = chance.choice(
        (edge(a, b), reach(a, b), marked(a), marked(b), same(a, b), at_most(a, b), at_most(a, b), below(a, b))
    )
    return denied(found) if chance.random() < 0.3 else found


def claim(chance: Random) -> Formula:
    """Something about `a` and `b`; its bound names are those of the rules, too."""
    shape = chance.randrange(5)
    if shape == 0:
        return literal(chance, "ab")
    if shape == 1:
        return either(literal(chance, "ab"), literal(chance, "ab"))
    if shape == 2:
        return both(literal(chance, "ab"), literal(chance, "ab"))
    name = chance.choice("xy")
    joined = both(literal(chance, "a" + name), literal(chance, name + "b"))
    return some(name, joined) if shape == 3 else every(name, denied(joined))


def closed(body: Formula) -> Formula:
    """For all `a` and `b`."""
    return every("a", every("b", body))


def subsets(items: list[Any]) -> Iterator[frozenset[Any]]:
    for chosen in product((False, True), repeat=len(items)):
        yield frozenset(item for item, kept in zip(items, chosen, strict=True) if kept)


def every_world(messages: int) -> Iterator[World]:
    numbers = list(range(messages))
    for number in product(range(messages + 1), repeat=messages):
        for edges, marks in product(subsets(list(product(numbers, repeat=2))), subsets(numbers)):
            yield World(messages, edges, marks, number)


def some_worlds(messages: int, how_many: int, chance: Random) -> Iterator[World]:
    pairs = list(product(range(messages), repeat=2))
    for _ in range(how_many):
        density = chance.choice((0.15, 0.3, 0.6))
        edges = frozenset(pair for pair in pairs if chance.random() < density)
        marks = frozenset(m for m in range(messages) if chance.random() < 0.5)
        yield World(messages, edges, marks, tuple(chance.randrange(3) for _ in range(messages)))


WORLDS = (*every_world(1), *every_world(2), *some_worlds(3, 600, Random(0)), *some_worlds(4, 200, Random(1)))


def with_least(world: World, of_reach: list[Formula], of_back: list[Formula]) -> World:
    """The world with the least relations that are closed under the rules of both."""
    now = replace(world, reach=frozenset(), back=frozenset())
    while True:
        after = replace(now, reach=now.reach | derived(now, of_reach), back=now.back | derived(now, of_back))
        if after == now:
            return now
        now = after


def derived(world: World, some_rules: list[Formula]) -> Pairs:
    pairs = product(range(world.messages), repeat=2)
    return frozenset((a, b) for a, b in pairs if any(rule.holds(world, {"a": a, "b": b}) for rule in some_rules))


def world_of(structure: Any) -> World:
    tables, messages = structure.tables, structure.universe["message"]

    def true(name: str) -> list[Any]:
        return [key for key, value in tables[name].items() if value]

    number = tuple(tables["number"][(m,)] for m in range(messages))
    marks = frozenset(key[0] for key in true("marked"))
    back_pairs = frozenset(true("back")) if "back" in tables else frozenset()
    return World(messages, frozenset(true("edge")), marks, number, frozenset(true("reach")), back_pairs)


def proof(chance: Random, claimed: Formula) -> tuple[list[str], bool]:
    """The theorem `it` as a text, perhaps with one before it; and whether it assumes `side`."""
    first = f"by induction on reach(a, b) claim: {claimed.text}"
    more = (claimed if chance.random() < 0.3 else claim(chance)).text
    opening = ["theorem it in random:", "  prove goal"]
    shape = chance.randrange(5)
    if shape < 2:
        return [*opening, f"  {first}"], False
    if shape == 2:
        both_claims = [claimed.text, more] if chance.random() < 0.5 else [more, claimed.text]
        block = [f"    claim c{number}: {text}" for number, text in enumerate(both_claims)]
        return [*opening, "  by induction on reach(a, b):", *block], False
    if shape == 3:
        return [*opening, f"  by induction on reach(a, b) claim: {more}", f"  {first}"], False
    lemma = ["theorem before in random:", "  assume side", "  prove middle", f"  {first}"]
    assumed = chance.random() < 0.5
    return [*lemma, opening[0], *(["  assume side"] if assumed else []), "  use before", opening[1]], assumed


def joint_proof(chance: Random, claimed: Formula, mirrored: Formula) -> list[str]:
    """A theorem by induction on both relations, or on one of them alone."""
    shape = chance.randrange(5)
    opening = ["theorem it in random:", "  prove goal"]
    if shape == 0:
        return [*opening, f"  by induction on reach(a, b) claim: {claimed.text}"]
    more = [f"    on back(a, b) claim: {mirrored.text if chance.random() < 0.8 else claim(chance).text}"]
    if shape == 1:
        more = ["    on back(a, b):", f"      claim c1: {mirrored.text}", f"      claim c2: {claim(chance).text}"]
    parts = [[f"    on reach(a, b) claim: {claimed.text}"], more]
    chance.shuffle(parts)
    return [*opening, "  by induction:", *parts[0], *parts[1]]


SEEDS = range(1, 13)
THEOREMS_A_SEED = 12
THEORY = """theory random:
  sort message
  sort rank ordered
  function number: message to rank
  relation edge: message, message
  relation marked: message
  axiom given: {axiom}
{relations}
  property goal: {goal}
  property side: {side}
  property middle: {middle}
"""


def declared(name: str, found: list[Formula]) -> list[str]:
    return [f"  inductive {name}(a, b: message):", *(f"    rule{n}: {rule.text}" for n, rule in enumerate(found))]


@pytest.mark.long(but=tuple(map(str, range(1, 4))))
@pytest.mark.parametrize("seed", SEEDS)
def test_no_random_induction_is_judged_wrongly(
    seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool
) -> None:
    chance = Random(seed)
    seen: Counter[Verdict] = Counter()
    for _ in range(THEOREMS_A_SEED):
        found, base = rules(chance)
        axiom, claimed = closed(claim(chance)), chance.choice(base) if chance.random() < 0.25 else claim(chance)
        reached = follows(reach("a", "b"), claimed if chance.random() < 0.8 else claim(chance))
        if chance.random() < 0.5:
            axiom = closed(follows(edge("a", "b"), claimed))
        goal, side = closed(reached), closed(claim(chance))
        theorem, assumed = proof(chance, claimed)
        text = THEORY.format(
            axiom=axiom.text,
            relations="\n".join(declared("reach", found)),
            goal=goal.text,
            side=side.text,
            middle=closed(follows(reach("a", "b"), claimed)).text,
        )
        text += "\n".join(theorem) + "\n"
        given = both(axiom, side) if assumed else axiom
        seen[judged(pool, specify(text), text, (found, []), (given, goal))] += 1
    assert seen[Verdict.PROVED] and seen[Verdict.REFUTED], seen


@pytest.mark.long(but=tuple(map(str, range(1, 4))))
@pytest.mark.parametrize("seed", SEEDS)
def test_no_random_induction_on_relations_that_are_built_together_is_judged_wrongly(
    seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool
) -> None:
    chance = Random(seed)
    seen: Counter[Verdict] = Counter()
    for _ in range(THEOREMS_A_SEED):
        base = [edge("a", "b")] if chance.random() < 0.5 else chance.sample(BASE, 1)
        steps = chance.sample(FROM_BACK, chance.choice((1, 1, 2)))
        of_reach = [*base, *steps, *([TRANSITIVITY] if chance.random() < 0.3 else [])]
        of_back = [*chance.sample(FROM_REACH, chance.choice((1, 1, 2))), *chance.sample(BASE, chance.choice((0, 0, 1)))]
        chance.shuffle(of_back)
        claimed, mirrored = chance.choice(BOTH_WAYS) if chance.random() < 0.85 else (claim(chance), claim(chance))
        axiom = closed(follows(edge("a", "b"), claimed)) if chance.random() < 0.8 else closed(claim(chance))
        goal = closed(follows(reach("a", "b"), claimed) if chance.random() < 0.5 else follows(back("a", "b"), mirrored))
        relations = [declared("reach", of_reach), declared("back", of_back)]
        chance.shuffle(relations)
        side = closed(claim(chance)).text
        text = THEORY.format(
            axiom=axiom.text, relations="\n".join(chain(*relations)), goal=goal.text, side=side, middle=side
        )
        text += "\n".join(joint_proof(chance, claimed, mirrored)) + "\n"
        seen[judged(pool, specify(text), text, (of_reach, of_back), (axiom, goal))] += 1
    assert seen[Verdict.PROVED] + seen[Verdict.REFUTED] > 2, seen


def judged(
    pool: SolverPool,
    specification: ir.Specification,
    text: str,
    of_both: tuple[list[Formula], list[Formula]],
    stated: tuple[Formula, Formula],
) -> Verdict:
    """The verdict, after small structures have been searched for one that contradicts it. `stated`: what is given, and
    the goal."""
    (found,) = proofs_by(pool, specification, ("it",), Options(timeout_ms=1_000))
    verdict, (given, goal) = found.assessment.verdict, stated
    if verdict is Verdict.PROVED:
        for world in WORLDS:
            whole = with_least(world, *of_both)
            assert not given.holds(whole, {}) or goal.holds(whole, {}), (text, whole)
    elif verdict is Verdict.REFUTED:
        shown = world_of(found.assessment.models[REFUTATION].structure)
        assert shown == with_least(shown, *of_both), text
        assert given.holds(shown, {}) and not goal.holds(shown, {}), text
    return verdict
