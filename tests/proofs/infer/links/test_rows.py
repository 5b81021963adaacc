"""Rows of facts, held against formulas: what follows from the rows is what is true in all samples."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from thence.dsl import ir
from thence.dsl.check.link import link_formulas
from thence.dsl.load import load
from thence.proofs.infer.links.rows import Rows, rows_of
from thence.proofs.infer.links.sampling import LinkSamples

SCENES = {
    "forall MSG(m, n) from p to q in flight. ": (
        "delivered(m)", "n = 1", "number(m) = n", "src(m) = p", "dst(m) = p", "n <= arrived@q[p]", "p < q",
    ),
    "forall p, q: process. p != q implies ": (
        "arrived@p[q] = 0", "arrived(p, q) = 0", "numbered@p[q] <= arrived(q, p)", "p < q", "numbered@p[q] = 1",
    ),
}  # fmt: skip


def samples_of(name: str) -> tuple[ir.Link, LinkSamples]:
    specification = load(name).specification
    assert specification is not None
    link = specification.links[0]
    samples = LinkSamples(link)
    samples.collect(0, lambda: None)
    return link, samples


def clause_of(rows: Rows, literals: tuple[tuple[str, bool], ...]) -> str:
    return " or ".join(f"not ({fact})" if denied else f"({fact})" for fact, denied in literals)


@pytest.mark.parametrize("prefix", SCENES)
def test_clauses_from_rows_are_those_that_are_true_in_all_samples(prefix: str) -> None:
    link, samples = samples_of("fifo")
    facts = SCENES[prefix]
    formulas = link_formulas(link.protocol, link.machine, [f"{prefix}false", *(prefix + each for each in facts)])
    rows = rows_of(prefix, facts, formulas, lambda body: samples.seen(body, lambda: None))
    assert rows.facts == facts and len(rows.rows) > 3

    texts: dict[tuple[tuple[str, bool], ...], str] = {}
    for size in (1, 2, 3):
        for some in combinations(facts, size):
            for signs in product((False, True), repeat=size):
                literals = tuple(zip(some, signs, strict=True))
                texts[literals] = f"{prefix}{clause_of(rows, literals)}"
    bodies = link_formulas(link.protocol, link.machine, list(texts.values()))
    named = [ir.NamedFormula(text, body) for text, body in bodies.items()]
    true = samples.true_of_all(named, lambda: None)
    slow = {frozenset(literals) for literals, text in texts.items() if text in true}
    shortest = {each for each in slow if len(each) > 1 and not any(other < each for other in slow)}
    found = {frozenset((rows.facts[one.fact], one.denied) for one in some) for some in rows.clauses(3, facts)}
    assert found == shortest
    assert {frozenset({(each, False)}) for each in rows.always} == {
        each for each in slow if len(each) == 1 and not next(iter(each))[1]
    }


def test_a_fact_without_a_value_makes_no_row() -> None:
    """Before a message comes nothing is held; the first of none has no value."""
    link, samples = samples_of("mf")
    prefix = "forall p: process. "
    facts = ("OB@p is empty", "sent(OB@p.first)")
    formulas = link_formulas(link.protocol, link.machine, [f"{prefix}false", *(prefix + each for each in facts)])
    assert len(formulas) == 3
    rows = rows_of(prefix, facts, formulas, lambda body: samples.seen(body, lambda: None))
    assert rows.facts == ("OB@p is empty",) and set(rows.rows) == {(False,), (True,)}


def test_random_rows_against_every_clause() -> None:
    """Of random truth values: the shortest true clauses, what is alike, and how many rows speak for a clause."""
    chance = random.Random(5)
    for _ in range(60):
        number = chance.randint(2, 5)
        facts = tuple("abcde"[:number])
        drawn = {tuple(chance.random() < 0.5 for _ in facts) for _ in range(chance.randint(1, 7))}
        rows = Rows(facts, tuple(sorted(drawn)))

        def is_true(literals: frozenset[tuple[int, bool]], among: tuple[tuple[bool, ...], ...] = rows.rows) -> bool:
            return all(any(row[at] != denied for at, denied in literals) for row in among)

        every = [
            frozenset(zip(some, signs, strict=True))
            for size in (1, 2, 3)
            for some in combinations(range(number), size)
            for signs in product((False, True), repeat=size)
        ]
        true = {each for each in every if is_true(each)}
        shortest = {each for each in true if len(each) > 1 and not any(other < each for other in true)}
        found = {frozenset((one.fact, one.denied) for one in some): some for some in rows.clauses(3, facts)}
        assert set(found) == shortest
        for literals, some in found.items():
            alone = [sum(not is_true(literals - {one}, (row,)) for row in rows.rows) for one in literals]
            assert rows.support(some) == min(alone) > 0
        kept = rows.apart(facts)
        varying = [fact for fact in facts if fact not in (*rows.always, *rows.never)]
        assert {*kept, *(other for others in kept.values() for other in others)} <= set(varying)
        for one, others in kept.items():
            assert all(rows.are_alike(one, other) for other in others)
