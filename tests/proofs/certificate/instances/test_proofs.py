"""Proofs by instances: of random obligations, with each lemma evaluated in structures, and forged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from random import Random
from typing import Any

import pytest

from thence.proofs.certificate.forms.obligation_form import obligation_fault
from thence.proofs.certificate.forms.proof_form import in_form
from thence.proofs.certificate.instances.ground import Ground, Term, ground, text_of
from thence.proofs.certificate.instances.proofs import proofs_by_instances
from thence.proofs.certificate.instances.search import instances
from thence.proofs.certificate.instances.worker import instances_used
from thence.proofs.certificate.smtinterpol import Smtinterpol
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import Check, SolverPool

HEADER = (
    "; n\n(set-logic ALL)\n(declare-sort S0 0)\n(declare-fun f0 (S0) Bool)\n(declare-fun f1 (S0 S0) Bool)\n"
    "(declare-fun f2 (S0) Int)\n(assert (forall ((x0 S0)) (! (<= 0 (f2 x0)) :pattern ((f2 x0)))))\n"
    "(declare-fun f3 (S0) S0)\n(declare-const k0 S0)\n(declare-const k1 S0)\n"
)

OPTIONS = Options(workers=1, timeout_ms=1_000)


def formula(random: Random, names: tuple[str, ...], depth: int) -> Term:
    """A formula over variables and constants."""
    kind = random.choice(("atom", "not", "and", "or", "=>", "=", "ite", "forall", "exists")[: 9 if depth else 1])
    match kind:
        case "atom":
            return atom(random, names)
        case "not":
            return "not", formula(random, names, depth - 1)
        case "forall" | "exists":
            own = tuple(f"x{len(names) - 2 + number}" for number in range(random.randint(1, 2)))
            return kind, tuple((name, "S0") for name in own), formula(random, (*names, *own), depth - 1)
        case _:
            parts = 3 if kind == "ite" else 2
            return kind, *(formula(random, names, depth - 1) for _ in range(parts))


def atom(random: Random, names: tuple[str, ...]) -> Term:
    def term() -> Term:
        name = random.choice(names)
        return random.choice((name, name, name, ("f3", name), ("ite", ("=", name, "k0"), random.choice(names), "k1")))

    return random.choice(
        (
            ("f0", term()),
            ("f1", term(), term()),
            ("=", term(), term()),
            ("<", ("f2", term()), ("+", ("f2", term()), "1")),
        )
    )


def obligation(random: Random) -> str:
    """Hypotheses, and the negation of a goal that may follow from them."""
    stated = [formula(random, ("k0", "k1"), random.randint(1, 4)) for _ in range(random.randint(1, 3))]
    goal = random.choice((stated[-1], formula(random, ("k0", "k1"), 3), ("or", atom(random, ("k0", "k1")), stated[0])))
    lines = [f"(assert {text_of(each)})" for each in (*stated, ("not", goal))]
    text = "\n".join([HEADER.rstrip("\n"), *lines, "(check-sat)", ""])
    assert obligation_fault(text) is None, text
    return text


class Structure:
    """Tables for the functions of an obligation, and the meaning of formulas in them."""

    def __init__(self, random: Random, size: int) -> None:
        self.elements = range(size)
        pairs = list(product(self.elements, self.elements))
        self.tables: dict[str, Any] = {
            "f0": {(a,): random.random() < 0.5 for a in self.elements},
            "f1": {pair: random.random() < 0.5 for pair in pairs},
            "f2": {(a,): random.randrange(3) for a in self.elements},
            "f3": {(a,): random.randrange(size) for a in self.elements},
        }
        self.constants = {name: random.randrange(size) for name in ("k0", "k1")}

    def value(self, term: Term, given: Mapping[str, Any]) -> Any:
        if isinstance(term, str):
            return int(term) if term.isdigit() else given[term]
        match term:
            case ("forall" | "exists" as kind, binders, body):
                names = [name for name, _ in binders]
                every = product(self.elements, repeat=len(names))
                found = (self.value(body, {**given, **dict(zip(names, each, strict=True))}) for each in every)
                return all(found) if kind == "forall" else any(found)
            case ("choose", (name, _), body):
                return next((each for each in self.elements if self.value(body, {**given, name: each})), 0)
            case ("!", body, *_):
                return self.value(body, given)
        values = [self.value(part, given) for part in term[1:]]
        match term[0]:
            case "not":
                return not values[0]
            case "and":
                return all(values)
            case "or":
                return any(values)
            case "=>":
                return not values[0] or values[1]
            case "=":
                return values[0] == values[1]
            case "ite":
                return values[1] if values[0] else values[2]
            case "+":
                return sum(values)
            case "<" | "<=" as order:
                return values[0] < values[1] or (order == "<=" and values[0] == values[1])
        return self.tables[str(term[0])][tuple(values)]

    def names(self, found: Ground) -> dict[str, Any]:
        """The meaning of the obligation's constants, and of all that stands for a formula or a chosen term."""
        given: dict[str, Any] = dict(self.constants)
        for name, meaning in found.defined.items():
            given[name] = self.value(meaning, given)
        return given


def structures(random: Random) -> Iterator[Structure]:
    for size in (1, 2, 2, 3):
        yield Structure(random, size)


def test_lemmas_are_true_in_every_structure() -> None:
    random = Random(0)
    lemmas = 0
    for _ in range(80):
        found = ground(obligation(random))
        for quantified in [*found.open, *found.open]:
            terms = ("k0", "k1", ("f3", "k0"), *(name for name in found.defined if name.startswith("c")))
            for _ in range(2):
                values = {f"x{number}": random.choice(terms) for number in range(12)}
                found.instantiate(quantified, values)
        for structure in structures(random):
            given = structure.names(found)
            for lemma in found.lemmas:
                assert structure.value(lemma.formula, given), (text_of(lemma.formula), found.defined)
        lemmas += len(found.lemmas)
    assert lemmas > 500


def statuses(texts: list[str]) -> list[str]:
    with SolverPool(1) as pool:
        checks = [Check("z3", text, OPTIONS.timeout_ms, 0) for text in texts]
        found = dict(pool.answers(checks))
    return [found[number].status for number in range(len(texts))]


@pytest.fixture(scope="module")
def proved(checker: Smtinterpol) -> list[tuple[str, str]]:
    """Random obligations with the proofs that were found."""
    random = Random(1)
    texts = [obligation(random) for _ in range(30)]
    said = statuses(texts)
    proofs = proofs_by_instances(texts, OPTIONS, checker)
    assert all(status == "unsat" for status, proof in zip(said, proofs, strict=True) if proof is not None)
    found = [(text, proof) for text, proof in zip(texts, proofs, strict=True) if proof is not None]
    missing = said.count("unsat") - len(found)
    assert len(found) >= 8 and missing <= 1, (len(found), missing)
    formed = [(text, in_form("resolute", proof)) for text, proof in found]
    return [(text, proof) for text, proof in formed if proof is not None]


def test_proofs_of_random_obligations_are_accepted(checker: Smtinterpol, proved: list[tuple[str, str]]) -> None:
    assert set(checker.check(proved)) == {"valid"}


GONE = f"{HEADER}(assert (forall ((x0 S0)) (f0 x0)))\n(assert (exists ((x0 S0)) (not (f0 (f3 x0)))))\n(check-sat)\n"

FORGED = {
    "another term": ("(forall- (", "(f3 .c0)", "k0"),
    "another rule": ("(exists- ", "exists- ", "forall+ "),
    "the reverse": ("(forall- (", "forall- (", "exists+ ("),
    "a chosen term of another formula": ("(choose (x0 S0) ", "(not (f0 (f3 x0)))", "(not (f0 x0))"),
    "a formula that is not asserted": (".q", "(forall ((x0 S0)) (f0 x0))", "(forall ((x0 S0)) (f0 (f3 x0)))"),
}


def test_a_forged_step_is_refused(checker: Smtinterpol) -> None:
    (made,) = proofs_by_instances([GONE], OPTIONS, checker)
    assert made is not None
    proof = in_form("resolute", made)
    assert proof is not None
    pairs = [(GONE, proof)]
    for at, old, new in FORGED.values():
        place = re.search(re.escape(at), proof)
        assert place is not None, (at, proof)
        before, rest = proof[: place.start()], proof[place.start() :]
        assert old in rest, (old, rest)
        pairs.append((GONE, before + rest.replace(old, new, 1)))
    assert checker.check(pairs) == ("valid", *("invalid" for _ in FORGED))


def test_nothing_is_found_where_nothing_follows() -> None:
    satisfiable = GONE.replace("(assert (forall ((x0 S0)) (f0 x0)))\n", "")
    nested = GONE.replace("(not (f0 (f3 x0)))", "(forall ((x1 S0)) (f1 x0 x1))")
    assert instances([satisfiable, nested], OPTIONS) == (None, None)


def test_a_variable_with_an_equation_keeps_its_term() -> None:
    """By itself Z3 replaces x0 by the term that it equals, and does not say which."""
    every = "(forall ((x0 S0) (x1 S0)) (! (=> (= (f3 x1) x0) (f1 x0 x1)) :qid q0))"
    text = f"{HEADER}(assert {every})\n(assert (not (f1 (f3 k0) k0)))\n"
    assert ("q0", {"x0": "(f3 k0)", "x1": "k0"}) in instances_used(text, 1_000, 0)
