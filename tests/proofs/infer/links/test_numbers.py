"""What numbers have to do with each other, held against the formulas, each evaluated in each sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import pytest

from thence.dsl import ir
from thence.dsl.check.link import link_formulas
from thence.dsl.load import load
from thence.proofs.infer.links.numbers import numbers_of_processes
from thence.proofs.infer.links.rows import IS_ZERO, Rows, rows_of
from thence.proofs.infer.links.sampling import LinkSamples
from thence.proofs.infer.links.wider import wider_facts


def link_of(name: str) -> ir.Link:
    specification = load(name).specification
    assert specification is not None
    return specification.links[0]


def told(link: ir.Link) -> tuple[LinkSamples, Callable[[str, Sequence[str], Sequence[str]], Rows]]:
    samples = LinkSamples(link)
    samples.collect(0, lambda: None)

    def rows(prefix: str, facts: Sequence[str], numbers: Sequence[str] = ()) -> Rows:
        said = [f"{prefix}false", *(prefix + each for each in facts), *(f"{prefix}{each}{IS_ZERO}" for each in numbers)]
        bodies = link_formulas(link.protocol, link.machine, said)
        return rows_of(prefix, facts, bodies, lambda body: samples.seen(body, lambda: None), numbers)

    return samples, rows


def true_of(link: ir.Link, samples: LinkSamples, texts: Sequence[str]) -> frozenset[str]:
    bodies = link_formulas(link.protocol, link.machine, list(dict.fromkeys(texts)))
    return samples.true_of_all([ir.NamedFormula(text, body) for text, body in bodies.items()], lambda: None)


def test_columns_are_the_numbers() -> None:
    """A number is equal to another one in all rows where the formula says so, and nowhere else."""
    link = link_of("ricart_agrawala")
    samples, rows = told(link)
    prefix, numbers = "forall p: process. ", ["number@p", "highest@p", "number(p)", "highest(p)", "outstanding@p"]
    table = rows(prefix, ["requesting@p"], numbers)
    assert set(table.column("requesting@p")) == {0, 1} and max(table.column("number@p")) > 1
    for one, other in combinations(numbers, 2):
        said = f"{prefix}{one} = {other}"
        assert (table.column(one) == table.column(other)) == bool(true_of(link, samples, [said])), said


@pytest.mark.parametrize("name", ["ricart_agrawala", "fifo", "mf_pipelined"])
def test_what_is_said_of_numbers_is_true_in_all_samples(name: str) -> None:
    link = link_of(name)
    samples, rows = told(link)
    texts = [each.text for each in numbers_of_processes(link, rows)]
    assert len(texts) == len(set(texts)) and true_of(link, samples, texts) == set(texts)


def test_a_number_counts_processes_of_which_one_of_two_facts_is_true() -> None:
    """Who waits for replies counts those who are still asked, and the replies on their way."""
    link = link_of("ricart_agrawala")
    found = [each.atom for each in numbers_of_processes(link, told(link)[1])]
    assert any(each.startswith("(outstanding@p = (count q: process. asked(p, q) or (exists REPLY()") for each in found)
    assert not any("= (count q: process. asked(p, q))" in each for each in found)


def test_a_message_is_at_a_place_until_the_process_has_it() -> None:
    """And what is said of two processes and a message is true in all samples."""
    link = link_of("newtop")
    samples, rows = told(link)
    texts = [each.text for each in wider_facts(link, rows)]
    assert len(texts) == len(set(texts)) and true_of(link, samples, texts) == set(texts)
    there = [each for each in texts if each.startswith("forall p: process. forall m: message. ")]
    assert any("received(m, p) or (exists MSG(" in each for each in there)
    assert any("(exists x in inbox@p[src(m)]. x.m = m)" in each for each in there)
