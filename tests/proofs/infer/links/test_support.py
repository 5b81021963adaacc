"""What a link rests on, held against the prover of links."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.check.link import link_formulas
from thence.dsl.load import load
from thence.proofs.infer.links.support import implied_clauses, support
from thence.proofs.machine.inductive_set import InductiveSet, proved_conjuncts
from thence.proofs.machine.prover import proved_set
from thence.proofs.prove import solver_pool
from thence.proofs.refinement.prover import prove_link
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.spec.verdict import Verdict

DECOYS = (
    "forall MSG(m, n) from p to q in flight. not delivered(m)",
    "forall p, q: process. arrived@q[p] = 0",
    "forall MSG(m, n) from p to q in flight. n = 1",
    "forall p, q: process. numbered@p[q] <= arrived(q, p)",
    "forall p, q: process. arrived(q, p) <= numbered@p[q]",
)
"""Formulas of which the last only is an invariant of `fifo`; of the others most are not true in a run."""


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=2_000)
    with solver_pool(options) as pool:
        yield ProofSession(pool, options)


def fifo() -> ir.Link:
    specification = load("fifo").specification
    assert specification is not None
    return specification.links[0]


def inductive_of(session: ProofSession, link: ir.Link) -> tuple[InductiveSet, tuple[ir.NamedFormula, ...]]:
    inductive = proved_set(session, link.machine)
    assert inductive is not None
    return inductive, tuple(each.formula for each in proved_conjuncts(link.machine, inductive))


def test_what_is_used_proves_the_link_and_nothing_does_where_something_is_open(session: ProofSession) -> None:
    """Some of the link's invariants, with formulas that are none. The link needs all four."""
    link, chance = fifo(), random.Random(7)
    inductive, known = inductive_of(session, link)
    decoys = [ir.NamedFormula(text, body) for text, body in link_formulas(link.protocol, link.machine, DECOYS).items()]
    bare, outcomes = replace(link, invariants=()), set[bool]()
    for left_out in (0, 1, 0, 2):
        own = chance.sample(link.invariants, len(link.invariants) - left_out)
        clauses = [*own, *chance.sample(decoys, 3)]
        chance.shuffle(clauses)
        found = support(session, bare, known, clauses, {})
        used = [each for each in clauses if each.name in found.used]
        verdict = prove_link(session, replace(bare, invariants=tuple(used)), inductive).verdict
        assert (verdict is Verdict.PROVED) == (not found.open) == (not left_out), (left_out, found.open, found.used)
        outcomes.add(verdict is Verdict.PROVED)
    assert outcomes == {True, False}


def test_what_follows_is_not_needed_until_what_it_follows_from_is_dropped(session: ProofSession) -> None:
    """Of two formulas, the first is no invariant; the second follows from it, and is one."""
    link = fifo()
    _, known = inductive_of(session, link)
    whole = "forall MSG(m, n) from p to q in flight. sent(m) and src(m) = p and dst(m) = q and number(m) = n"
    weak, strong = link_formulas(link.protocol, link.machine, (whole, f"{whole} and n = 1")).values()
    clauses = (ir.NamedFormula("strong", strong), *link.invariants)
    bare = replace(link, invariants=())
    asked = [clauses[0], ir.NamedFormula("weak", weak)]
    assert implied_clauses(session, bare, known, asked, ["strong", "weak"]) == {"weak": frozenset({"strong"})}
    assert implied_clauses(session, bare, known, asked, ["strong"]) == {}
    found = support(session, bare, known, clauses, {"on_its_way": frozenset({"strong"})})
    assert not found.open and "on_its_way" in found.used and "strong" not in found.used


def test_a_clause_that_the_link_needs_is_not_left_out(session: ProofSession) -> None:
    link = fifo()
    _, known = inductive_of(session, link)
    found = support(session, replace(link, invariants=()), known, link.invariants, {})
    names = {each.name for each in link.invariants}
    assert found.used == names
    assert not any(found.do_without(name) for name in sorted(names)) and found.used == names


def test_proofs_rest_on_the_clauses_that_come_first(session: ProofSession) -> None:
    """Each invariant is there twice. One of the two is used, and it is the one that was named."""
    link = fifo()
    _, known = inductive_of(session, link)
    again = [replace(each, name=f"{each.name} again") for each in link.invariants]
    for wanted in (link.invariants, again):
        first = frozenset(each.name for each in wanted)
        found = support(session, replace(link, invariants=()), known, (*link.invariants, *again), {}, first)
        assert not found.open and found.used == first
