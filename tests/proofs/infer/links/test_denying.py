"""Clauses chosen by states in which an obligation fails, held against asking a solver about all clauses."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.infer.links.denying import denied
from thence.proofs.infer.links.support import OF_SELF
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.inductive_set import proved_conjuncts
from thence.proofs.machine.prover import proved_set
from thence.proofs.prove import solver_pool
from thence.proofs.refinement.obligations import due
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=2_000)
    with solver_pool(options) as pool:
        yield ProofSession(pool, options)


def link_of(name: str) -> ir.Link:
    specification = load(name).specification
    assert specification is not None
    return specification.links[0]


def obligations_of(session: ProofSession, link: ir.Link) -> list[Obligation]:
    inductive = proved_set(session, link.machine)
    assert inductive is not None
    known = tuple(each.formula for each in proved_conjuncts(link.machine, inductive))
    found = [each.claimed().obligation for each in due(link, known)]
    return [each for each in found if not each.by_frame]


def clauses_of(names: Collection[str]) -> Callable[[str], str]:
    """By hypothesis, the clause that it says, or nothing; also where it says it of the process of a step."""

    def clause(hypothesis: str) -> str:
        name = hypothesis.removesuffix(OF_SELF)
        return name if name in names else ""

    return clause


@pytest.mark.long(but=("ricart_agrawala",))
@pytest.mark.parametrize("name", ["fifo", "ricart_agrawala"])
def test_what_is_chosen_is_enough_where_all_clauses_are(session: ProofSession, name: str) -> None:
    """Some of the link's invariants are clauses, with some left out, so that some obligations are open.

    What is proved from a choice is proved from all clauses; what is open fails in a state with all of them.
    """
    link, chance = link_of(name), random.Random(11)
    outcomes: set[str] = set()
    for left_out in (0, 2):
        own = tuple(chance.sample(link.invariants, len(link.invariants) - left_out))
        names = {each.name for each in own}
        some = obligations_of(session, replace(link, invariants=own))
        for each in chance.sample(some, min(25, len(some))):
            found = denied(session, each, clauses_of(names), ())
            (whole,) = session.discharge([each])
            if found.done is not None and found.done.proved:
                assert whole.proved, each.name
                used = {clauses_of(names)(one.name) for one in found.done.obligation.hypotheses} - {""}
                assert used == found.chosen
                outcomes.add("proved")
            if found.is_open:
                assert not whole.proved, each.name
                outcomes.add("open")
    assert outcomes == {"proved", "open"}


def test_clauses_that_are_kept_are_not_chosen(session: ProofSession) -> None:
    link = link_of("fifo")
    names = frozenset(each.name for each in link.invariants)
    for each in obligations_of(session, link)[:10]:
        found = denied(session, each, clauses_of(names), names)
        assert not found.chosen and not found.is_open and found.done is not None and found.done.proved
