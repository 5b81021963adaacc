"""What is proposed for links of the library can be said, and is true where the link's own invariants are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from thence.dsl import ir
from thence.dsl.check.link import link_formulas
from thence.dsl.load import load
from thence.proofs.infer.links.candidates import Candidate, candidates, pairs_of_scenes
from thence.proofs.infer.links.sampling import LinkSamples

LINKS = ["fifo", "synchronous", "mf", "rst", "tree", "ricart_agrawala", "two_phase_commit", "skeen"]


def link_of(name: str) -> ir.Link:
    specification = load(name).specification
    assert specification is not None
    return specification.links[0]


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("rank", [0, 1])
def test_most_of_what_is_proposed_is_a_formula(name: str, rank: int) -> None:
    link = link_of(name)
    texts = [each.text for each in candidates(link, rank)]
    bodies = link_formulas(link.protocol, link.machine, texts)
    assert len(texts) == len(set(texts)) and len(bodies) > 0.9 * len(texts)


@pytest.mark.parametrize(
    ("atom", "bare"), [("(a or b)", "a or b"), ("(a) or (b)", "(a) or (b)"), ("f(x)", "f(x)"), ("x", "x")]
)
def test_only_brackets_around_the_whole_are_left_out(atom: str, bare: str) -> None:
    assert Candidate("", "", atom).bare == bare


@pytest.mark.parametrize("name", ["fifo", "synchronous", "mf"])
def test_samples_are_states_of_the_link(name: str) -> None:
    """Its own invariants are true in them; the denial of one is not."""
    link = link_of(name)
    samples = LinkSamples(link)
    samples.collect(0, lambda: None)
    assert samples.size > 100 and samples.forbidden is None

    def denials(formulas: Sequence[ir.NamedFormula]) -> list[ir.NamedFormula]:
        return [ir.NamedFormula(f"not {one.name}", ir.Not(one.body.type, one.body)) for one in formulas]

    said = [*link.invariants, *denials(link.invariants)]
    true = samples.true_of_all(said, lambda: None)
    never = samples.true_of_all(denials(said), lambda: None)
    some = {each.name for each in said if f"not {each.name}" not in never}
    assert true == {each.name for each in link.invariants} == some


def test_fewer_choices_say_more_and_more_facts_do() -> None:
    few, many = (Candidate("", "", "", choices=frozenset(each)) for each in ("a", "ab"))
    assert few.says_more_than(many) and not many.says_more_than(few) and not few.says_more_than(few)
    weak, strong = (Candidate("", "", "", facts=frozenset(each)) for each in ("a", "ab"))
    assert strong.says_more_than(weak) and not weak.says_more_than(strong) and not few.says_more_than(weak)


def true_in(link: ir.Link) -> Callable[[Sequence[str]], frozenset[str]]:
    """Which of some formulas are true in all samples."""
    samples = LinkSamples(link)
    samples.collect(0, lambda: None)

    def true(texts: Sequence[str]) -> frozenset[str]:
        bodies = link_formulas(link.protocol, link.machine, list(dict.fromkeys(texts)))
        named = [ir.NamedFormula(text, body) for text, body in bodies.items()]
        return samples.true_of_all(named, lambda: None)

    return true


@pytest.mark.parametrize("name", ["two_phase_commit", "ricart_agrawala"])
def test_pairs_are_of_facts_that_vary(name: str) -> None:
    """What is true, or false, of all that a scene is about makes no pair."""
    link = link_of(name)
    true = true_in(link)
    pairs = pairs_of_scenes(link, true)
    assert pairs and all(len(each.choices) == 2 for each in pairs)
    alone = {each.prefix + fact for each in pairs for fact in each.choices}
    assert not true([*alone])
    texts = [each.text for each in pairs]
    assert len(texts) == len(set(texts))


def test_a_pair_says_nothing_again_of_a_name_that_is_always_equal() -> None:
    """All acknowledgements go to the coordinator, which has a verdict, and so has who sends one."""
    link = link_of("two_phase_commit")
    pairs = [each for each in pairs_of_scenes(link, true_in(link)) if each.label == "ACK_in_flight_or"]
    assert {"(committed@p or aborted@p)", "(committed@q or aborted@q)"} <= {each.atom for each in pairs}
    assert not any("coordinator" in each.atom or "committed(" in each.atom for each in pairs)
