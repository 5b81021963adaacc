"""Lemmas, several inductions and several claims: what is to be proved for them, and what is not proved without it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.prove import proofs_by
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import SolverPool
from thence.proofs.theory.obligations import theorem_scheme
from thence.spec.verdict import Level, Result, Verdict

Specify = Callable[[str], ir.Specification]

THEORY = """
theory paths:
  sort node
  sort rank ordered
  function rank_of: node to rank
  relation edge, red: node, node
  relation marked: node
  inductive path(x, y):
    one: edge(x, y)
    more: exists z. path(x, z) and path(z, y)
  inductive far(x, y):
    ends: exists z. path(x, z) and path(z, y)
  property rising: forall a, b. edge(a, b) implies rank_of(a) < rank_of(b)
  property handed: forall a, b. edge(a, b) and marked(a) implies marked(b)
  property forward: forall a, b. path(a, b) implies rank_of(a) < rank_of(b)
  property no_loop: forall a. not path(a, a)
  property none_far: forall a. not far(a, a)
  property spread: forall a, b. far(a, b) and marked(a) implies marked(b)

theorem grows in paths:
  assume rising
  prove forward
  by induction on path(a, b) claim: rank_of(a) < rank_of(b)

theorem straight in paths:
  assume rising
  use grows
  prove no_loop

theorem wide in paths:
  assume rising
  use straight, grows
  prove none_far
  by induction on far(a, b) claim: rank_of(a) < rank_of(b)

theorem marks in paths:
  assume handed
  prove spread
  by induction on path(a, b) claim on_paths: marked(a) implies marked(b)
  by induction on far(c, d) claim at_ends: marked(c) implies marked(d)
"""


@pytest.fixture
def proved(specify: Specify, pool: SolverPool) -> Callable[..., Result]:
    def prove(name: str, *edits: tuple[str, str]) -> Result:
        text = THEORY
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        [proof] = proofs_by(pool, specify(text), (name,), Options(timeout_ms=2_000))
        return proof.result

    return prove


def obligations(specify: Specify, name: str) -> list[str]:
    theorem = next(each for each in specify(THEORY).theorems if each.name == name)
    return [each.name for each in theorem_scheme(theorem).obligations]


def test_the_obligations_of_lemmas_are_those_of_the_theorem_each_once(specify: Specify) -> None:
    lemma = ["lemma grows: base one", "lemma grows: step one", "lemma grows: claim gives forward"]
    assert obligations(specify, "straight") == [*lemma, "no_loop follows"]
    assert obligations(specify, "wide") == [
        *lemma,
        "lemma straight: no_loop follows",
        "rule ends",
        "claim gives none_far",
    ]


def test_a_theorem_is_proved_by_its_lemmas_and_not_without_them(proved: Callable[..., Result]) -> None:
    for name, count in (("straight", 4), ("wide", 6)):
        found = proved(name)
        assert (found.verdict, found.level, found.facts["obligations"]) == (Verdict.PROVED, Level.L3, count)
    alone = proved("straight", ("  use grows\n", ""))
    assert alone.verdict is Verdict.UNKNOWN


def test_what_no_lemma_proves_is_not_proved_by_its_name(proved: Callable[..., Result]) -> None:
    wrong = (
        "by induction on path(a, b) claim: rank_of(a)",
        "by induction on path(a, b) claim: marked(a) and rank_of(a)",
    )
    assert proved("grows", wrong).verdict is Verdict.UNKNOWN
    found = proved("straight", wrong)
    assert found.verdict is Verdict.UNKNOWN
    assert "lemma grows: base one" in found.explanation


def test_a_lemma_says_nothing_where_its_assumption_is_not_made(proved: Callable[..., Result]) -> None:
    lemma = "theorem straight in paths:\n  assume rising\n"
    assert proved("straight", (lemma, "theorem straight in paths:\n")).verdict is Verdict.REFUTED
    assert proved("straight", (lemma, "theorem straight in paths:\n  assume handed\n")).verdict is Verdict.REFUTED


def test_an_assumption_is_needed_though_only_a_lemma_uses_it(proved: Callable[..., Result]) -> None:
    [assumption] = proved("straight", ("  prove no_loop", "  prove no_loop\n  needs rising")).facts["assumptions"]
    assert assumption["needed"] is True


def test_a_later_induction_uses_an_earlier_one(proved: Callable[..., Result], specify: Specify) -> None:
    assert proved("marks").verdict is Verdict.PROVED
    first, second = (line + "\n" for line in THEORY.splitlines() if "claim on_paths" in line or "claim at_ends" in line)
    assert proved("marks", (first + second, second + first)).verdict is Verdict.UNKNOWN
    assert obligations(specify, "marks") == [
        "induction 1, base one",
        "induction 1, step one",
        "induction 2, rule ends",
        "the claims give spread",
    ]


def test_claims_of_one_induction_are_proved_together(proved: Callable[..., Result]) -> None:
    old = "  by induction on path(a, b) claim: rank_of(a) < rank_of(b)\n"
    both = "  by induction on path(a, b):\n    claim {}: {}\n    claim {}: {}\n"
    one, other = ("below", "rank_of(a) < rank_of(b)"), ("open", "edge(a, b) or exists c. path(a, c) and edge(c, b)")
    found = proved("grows", (old, both.format(*one, *other)))
    assert found.verdict is Verdict.PROVED
    assert found.facts["obligations"] == 5
    false = ("red_too", "red(a, b)")
    assert proved("grows", (old, both.format(*one, *false))).verdict is Verdict.UNKNOWN


TOGETHER = """
theory tokens:
  sort process
  relation first, red: process
  relation passes: process, process
  inductive even(p):
    start: first(p)
    late:  exists q. odd(q) and passes(q, p)
  inductive odd(p):
    late: exists q. even(q) and passes(q, p)
  property colours: forall p, q. passes(p, q) implies (red(p) iff not red(q))
  property red_first: forall p. first(p) implies red(p)
  property never_both: forall p. not (even(p) and odd(p))
  property only_red: forall p. even(p) implies red(p)
  property no_odd: forall p. not odd(p)

theorem told in tokens:
  assume colours, red_first
  prove never_both, only_red
  by induction:
    on even(p) claim: red(p)
    on odd(q) claim: not red(q)

theorem alone in tokens:
  assume colours, red_first
  prove only_red
  by induction on even(p) claim: red(p)

theorem wrong in tokens:
  assume colours, red_first
  prove no_odd
  by induction:
    on even(p) claim: red(p)
    on odd(p) claim: not red(p)

theorem two_steps in tokens:
  assume colours
  prove only_red
  by induction:
    on even(p) claim: red(p)
    on odd(p) claim: not red(p)
"""


def test_relations_that_are_built_together_have_one_induction(pool: SolverPool, specify: Specify) -> None:
    specification = specify(TOGETHER)
    options = Options(timeout_ms=5_000)
    found = {
        proof.result.name: proof.assessment.verdict
        for proof in proofs_by(pool, specification, [each.name for each in specification.theorems], options)
    }
    assert found == {
        "told": Verdict.PROVED,
        "alone": Verdict.UNKNOWN,  # nothing is claimed of `odd`, from which `even` is built
        "wrong": Verdict.REFUTED,
        "two_steps": Verdict.REFUTED,
    }
    told = theorem_scheme(specification.theorems[0])
    assert [each.name for each in told.obligations[:3]] == [
        "even, rule start: claim_1",
        "even, rule late: claim_1",
        "odd, rule late: claim_2",
    ]
    assert "even and odd together" in told.principle


def test_the_order_of_inductive_relations_does_not_matter(specify: Specify) -> None:
    before, even, odd, after = re.split("(?=  inductive|  property colours)", TOGETHER)
    there, back = specify(TOGETHER), specify(before + odd + even + after)
    groups = [{each.name for each in group} for group in ir.built_together(back.theories[0].inductives)]
    assert groups == [{"even", "odd"}]
    assert theorem_scheme(there.theorems[0]).obligations[0].goal == theorem_scheme(back.theorems[0]).obligations[0].goal
    last_first = specify(
        "theory t:\n  sort process\n  relation next: process, process\n"
        "  inductive far(p, q):\n    two: exists r. near(p, r) and not near(r, q)\n"
        "  inductive near(p, q):\n    one: next(p, q)\n    more: exists r. near(p, r) and next(r, q)\n"
    )
    ordered = ir.built_together(last_first.theories[0].inductives)
    assert [[each.name for each in group] for group in ordered] == [["near"], ["far"]]
