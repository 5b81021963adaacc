"""What there is once: what is proposed can be said, and of a token the clauses are those that its proof needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.check.link import link_formulas
from thence.dsl.load import load
from thence.proofs.infer.links.alone import alone
from thence.proofs.infer.links.sampling import LinkSamples

TOKEN = str(Path(__file__).parent / "small" / "token.thence")


def link_of(name: str) -> ir.Link:
    specification = load(name).specification
    assert specification is not None
    return specification.links[0]


@pytest.mark.parametrize("name", ["mf", "chandy_lamport", "two_phase_commit", "newtop", TOKEN])
def test_what_is_proposed_is_a_formula(name: str) -> None:
    link = link_of(name)
    texts = [each.text for each in alone(link)]
    assert texts and len(texts) == len(set(texts)) == len(link_formulas(link.protocol, link.machine, texts))


def test_a_token_is_in_flight_or_at_one_process() -> None:
    """Both may want it at once; that is not so of who has it, of who is busy, nor of the token on its way."""
    link = link_of(TOKEN)
    bodies = link_formulas(link.protocol, link.machine, [each.text for each in alone(link)])
    samples = LinkSamples(link)
    samples.collect(0, lambda: None)
    true = samples.true_of_all([ir.NamedFormula(text, body) for text, body in bodies.items()], lambda: None)
    needed = {
        "forall p, q: process. (p = q or not has@p or not has@q)",
        "(count TOKEN() from p to q in flight. true) <= 1",
        "forall TOKEN() from p to q in flight. (forall r: process. not has@r)",
    }
    false = {
        "forall p, q: process. (p = q or not wants@p or not wants@q)",
        "forall TOKEN() from p to q in flight. (forall r: process. not wants@r)",
    }
    assert needed <= true and false <= bodies.keys() and not false & true


def test_samples_have_more_messages_than_the_scopes_say() -> None:
    """In the scopes of the file no process holds messages of two senders."""
    link = link_of("ses")
    (body,) = link_formulas(
        link.protocol, link.machine, [text := "forall p: process. forall x in held@p. forall y ahead. before(y.m, x.m)"]
    ).values()
    samples = LinkSamples(link)
    samples.collect(0, lambda: None)
    assert samples.forbidden is None
    assert not samples.true_of_all([ir.NamedFormula(text, body)], lambda: None)
