"""What is proposed for links of the library can be said, and is true where the link's own invariants are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.check.link import link_formulas
from thence.dsl.load import load
from thence.proofs.infer.links.candidates import Candidate, candidates, pairs_of_scenes
from thence.proofs.infer.links.rows import Rows, rows_of
from thence.proofs.infer.links.sampling import LinkSamples
from thence.proofs.infer.links.several import several_facts, steering

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
    plain = Candidate("", "", "c <= quiet(p)")
    assert not strong.says_more_than(plain) and not few.says_more_than(plain) and not plain.says_more_than(strong)


def told(link: ir.Link) -> tuple[LinkSamples, Callable[[str, Sequence[str]], Rows]]:
    """Samples of a link, and the rows of facts in them."""
    samples = LinkSamples(link)
    samples.collect(0, lambda: None)

    def rows(prefix: str, facts: Sequence[str]) -> Rows:
        bodies = link_formulas(link.protocol, link.machine, [f"{prefix}false", *(prefix + each for each in facts)])
        return rows_of(prefix, facts, bodies, lambda body: samples.seen(body, lambda: None))

    return samples, rows


def true_of(link: ir.Link, samples: LinkSamples, texts: Sequence[str]) -> frozenset[str]:
    """The texts that are formulas which are true in all samples."""
    bodies = link_formulas(link.protocol, link.machine, list(dict.fromkeys(texts)))
    return samples.true_of_all([ir.NamedFormula(text, body) for text, body in bodies.items()], lambda: None)


@pytest.mark.parametrize("name", ["two_phase_commit", "ricart_agrawala"])
def test_pairs_are_of_facts_that_vary(name: str) -> None:
    """What is true, or false, of all that a scene is about makes no pair. All pairs are true in all samples."""
    link = link_of(name)
    samples, rows = told(link)
    pairs = pairs_of_scenes(link, rows)
    assert pairs and all(len(each.choices) == 2 for each in pairs)
    assert not true_of(link, samples, [each.prefix + fact for each in pairs for fact in each.choices])
    texts = [each.text for each in pairs]
    assert len(texts) == len(set(texts)) and true_of(link, samples, texts) == set(texts)


def test_a_pair_says_nothing_again_of_a_name_that_is_always_equal() -> None:
    """All acknowledgements go to the coordinator, which has a verdict, and so has who sends one."""
    link = link_of("two_phase_commit")
    pairs = [each for each in pairs_of_scenes(link, told(link)[1]) if each.label == "ACK_in_flight_or"]
    assert {"(committed@p or aborted@p)", "(committed@q or aborted@q)"} <= {each.atom for each in pairs}
    assert not any("coordinator" in each.atom or "committed(" in each.atom for each in pairs)


@pytest.mark.long
@pytest.mark.parametrize("name", ["lamport_mutex", "two_phase_commit"])
def test_clauses_of_several_facts_are_true_in_all_samples(name: str) -> None:
    """No fact of theirs can be left out, and none says that one of two numbers is not larger than the other."""
    link = link_of(name)
    samples, rows = told(link)
    clauses = several_facts(link, rows)
    assert {len(each.choices) for each in clauses} >= {0, 2, 3}
    texts = [each.text for each in clauses]
    assert len(texts) == len(set(texts)) and true_of(link, samples, texts) == set(texts)
    for each in [one for one in clauses if len(one.choices) > 2][:40]:
        for left_out in each.choices:
            fewer = " or ".join(sorted(each.choices - {left_out}))
            assert not true_of(link, samples, [f"{each.prefix}({fewer})"]), (each.text, left_out)


def test_what_only_records_something_is_in_no_clause_of_several_facts() -> None:
    """`knows` and `since` say which requests are known; no guard depends on them."""
    link = link_of("lamport_mutex")
    wanted = steering(link.machine)
    assert {"requesting", "queued", "number", "clock", "heard", "below"} <= wanted
    assert not {"knows", "since"} & wanted


def test_what_a_role_says_is_said_of_it_alone() -> None:
    """Nobody else commits, so what is committed at the primary is what the machine knows of no process."""
    link = link_of(str(Path(__file__).parent / "small" / "backup.thence"))
    texts = [each.text for each in candidates(link, 0)]
    samples, _ = told(link)
    true = true_of(link, samples, texts)
    assert "committed@primary = safe()" in true
    assert "forall p: process. committed@p = safe()" in set(texts) - true
