"""Proofs of kin: the choice held against its definition, what is proved by it, and what solvers are asked."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.proofs.solving.rules import X, fact, rule, signature_of

from thence.dsl import ir
from thence.proofs.logic.obligation import Obligation
from thence.proofs.solving.discharge import Options, discharge_all
from thence.proofs.solving.kin import Kin
from thence.proofs.solving.solver import Check, SolverPool
from thence.proofs.solving.solver_worker import EXHAUSTED

LENGTH = 8
"""Rules of a chain: more than the first choices of what concerns a goal take."""
OTHERS = 60
"""Rules that lead nowhere near the goal: with so many, kin are asked about before all hypotheses are."""


def chain(process: int, missing: int | None) -> Obligation:
    """A chain of rules to the goal of a process, without one of them, among others that lead from the goal."""
    names = [f"p{process}_{at}" for at in range(LENGTH + 1)]
    away = [f"p{process}_away_{at}" for at in range(OTHERS)]
    rules = [(f"step {at}", rule(names[at], names[at + 1])) for at in range(LENGTH) if at != missing]
    rules += [(f"away {at}", rule(names[at % LENGTH], name)) for at, name in enumerate(away)]
    stated = [replace(formula, name=name) for name, formula in rules]
    start, goal = (ir.NamedFormula(name, fact(names[at]).body) for name, at in (("start", 0), ("goal", LENGTH)))
    signature = signature_of((*names, *away))
    return Obligation(f"step of {process}", signature, (*stated, start), goal, (X,), about="arrives")


@pytest.mark.parametrize("seed", range(20))
def test_what_kin_choose(seed: int) -> None:
    """A hypothesis is chosen if a proof of the same claim used its name, or no such obligation has its name."""
    random = Random(seed)
    names = [f"r{at}" for at in range(8)]
    learnt: list[tuple[Obligation, list[int]]] = []
    kin = Kin()
    for claim in random.choices(["one", "other"], k=4):
        hypotheses = tuple(ir.NamedFormula(name, fact(name).body) for name in random.sample(names, 4))
        obligation = Obligation("step", signature_of(tuple(names)), hypotheses, fact("r0"), (X,), about=claim)
        used = random.sample(range(4), 2)
        chosen, near = kin.chosen(obligation), [pair for pair in learnt if pair[0].about == claim]
        if not near:
            assert chosen is None
        else:
            there = {each.name for each, _ in [(h, o) for o, _ in near for h in o.hypotheses]}
            wanted = {o.hypotheses[at].name for o, positions in near for at in positions}
            expected = [at for at, h in enumerate(hypotheses) if h.name in wanted or h.name not in there]
            assert chosen == tuple(expected)
        kin.learn(obligation, used)
        learnt.append((obligation, used))


def test_without_a_claim_of_its_own_an_obligation_claims_its_goal() -> None:
    obligation = chain(0, None)
    assert (obligation.claim, replace(obligation, about="").claim) == ("arrives", "goal")


class Listening(SolverPool):
    """A pool that keeps what it is asked."""

    def __init__(self) -> None:
        super().__init__(2)
        self.asked: list[Check] = []

    def submit(self, request, *, anew=False):  # type: ignore[no-untyped-def]
        if isinstance(request, Check):
            self.asked.append(request)
        return super().submit(request, anew=anew)


@pytest.mark.parametrize("seed", range(4))
def test_kin_do_not_change_what_is_proved(seed: int, pool: SolverPool) -> None:
    """Chains of the same claim, of which some miss a rule: exactly the whole ones are proved, by both solvers."""
    random = Random(seed)
    missing = [random.choice([None, random.randrange(LENGTH)]) for _ in range(5)] + [None, 3]
    found = discharge_all(pool, [chain(process, gap) for process, gap in enumerate(missing)], Options())
    for gap, each in zip(missing, found, strict=True):
        assert (each.proved, each.provers, each.failed) == (gap is None, 2 * (gap is None), gap is not None)


def shortcut(at: int) -> Obligation:
    """One rule of a chain leads from the start to the goal, so that the first choices take all that a proof needs."""
    names = [f"q{at}", f"q{at}_goal", *(f"q{at}_away_{number}" for number in range(OTHERS))]
    away = [replace(rule(names[2], name), name=f"away {number}") for number, name in enumerate(names[2:])]
    stated = (replace(rule(*names[:2]), name=f"step {at}"), *away, ir.NamedFormula("start", fact(names[0]).body))
    goal = ir.NamedFormula("goal", fact(names[1]).body)
    return Obligation(f"shortcut {at}", signature_of(tuple(names)), stated, goal, (X,), about="arrives")


@pytest.mark.parametrize("about", ["arrives", "something else"])
def test_proofs_of_kin_save_the_whole(about: str) -> None:
    """Solvers are asked about what the proofs of kin used, and not about all; without kin, they are asked about all."""
    long = replace(chain(0, None), about=about)
    with Listening() as pool:
        done = discharge_all(pool, [*map(shortcut, range(LENGTH)), long], Options())
    assert all(each.provers == 2 for each in done)
    texts = [check.text for check in pool.asked if check.solver == "z3" and "; step of 0\n" in check.text]
    sizes = {text.count(" ; step") + text.count(" ; away") for text in texts}
    assert (LENGTH in sizes, LENGTH + OTHERS in sizes) == (about == "arrives", about != "arrives")


def test_nothing_is_asked_about_a_part_again() -> None:
    """The same part is chosen again as long as kin learn something else; the answer would be the same."""
    with Listening() as pool:
        done = discharge_all(pool, [*map(shortcut, range(LENGTH)), *(chain(each, 3) for each in range(3))], Options())
    assert [each.proved for each in done] == [True] * LENGTH + [False] * 3
    parts = [check for check in pool.asked if check.only_refute]
    assert parts and len(set(parts)) == len(parts)


def test_only_a_refutation_is_taken_from_a_part(pool: SolverPool) -> None:
    """Z3 looks for no model of some of the hypotheses: it says `sat` of all of them, and `unknown` of a part."""
    said = "(declare-sort S 0)(declare-fun r (S) Bool)(declare-fun f (S) S)(set-option :produce-unsat-cores true)"
    some = "(assert (! (forall ((x S)) (or (r x) (not (r (f x))) (r (f (f x))))) :named h0))"
    contrary = "(declare-const k S)(assert (! (and (r k) (forall ((x S)) (not (r x)))) :named g))"
    open_, refuted = (Check.within("z3", f"{said}{some}{more}", 500, 0, core="first") for more in ("", contrary))
    asked = [each for plain in (open_, refuted) for each in (plain, replace(plain, only_refute=True))]
    answers = [pool.ask(each) for each in asked]
    assert [each.status for each in answers] == ["sat", "unknown", "unsat", "unsat"]
    assert answers[1].reason == EXHAUSTED
