"""Obligations of links that are made one by one, and what many of them share."""

from __future__ import annotations

import random

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.logic.formula import free_locals, symbols_of
from thence.proofs.refinement.obligations import claims, due, signature

LINKS = ["fifo", "tree", "two_phase_commit", "chandy_lamport", "client_server"]


def links_of(name: str) -> tuple[ir.Link, ...]:
    specification = load(name).specification
    assert specification is not None
    return specification.links


@pytest.mark.parametrize("name", LINKS)
def test_an_obligation_has_the_symbols_and_constants_of_its_formulas(name: str) -> None:
    """What is known of the state is looked through once for all obligations; here, for each of them."""
    for link in links_of(name):
        for one_due in due(link, link.machine.invariants):
            each = one_due.claimed()
            said = [*(one.body for one in each.obligation.hypotheses), each.obligation.goal.body]
            mentioned = frozenset[str]().union(*map(symbols_of, said))
            whole = {one.name for one in signature(link, one_due.symbols).symbols}
            assert {one.name for one in each.obligation.signature.symbols} == mentioned & whole
            free = {label: type_ for body in said for label, type_ in free_locals(body).items()}
            assert [(one.name, one.type) for one in each.obligation.constants] == list(free.items())


@pytest.mark.parametrize("name", LINKS)
def test_the_order_in_which_obligations_are_made_does_not_matter(name: str) -> None:
    for link in links_of(name):
        whole = claims(link, link.machine.invariants)
        asked = due(link, link.machine.invariants)
        order = [*range(len(asked))]
        random.Random(3).shuffle(order)
        made = {at: asked[at].claimed().obligation for at in order}
        assert [made[at] for at in range(len(asked))] == [each.obligation for each in whole]
        names = [each.obligation.name for each in whole]
        assert len(names) == len(set(names))
