"""Discharging: levels, disagreement, finite countermodels before time limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE
from thence.proofs.logic.formula import forall, holds, local
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.structure import Structure
from thence.proofs.solving.discharge import Discharge, Options, discharge_all, level_of, solver_facts
from thence.proofs.solving.finite_models import Model
from thence.proofs.solving.solver import PATIENCE, Answer, Check, SolverPool
from thence.spec.verdict import Level

M, X = ir.Variable("m", MESSAGE), ir.Variable("x", MESSAGE)
SIGNATURE = Signature((MESSAGE,), (), (ir.Symbol("sent", (M,), BOOL), ir.Symbol("got", (M,), BOOL)))
ALL_SENT = ir.NamedFormula("all_sent", forall([M], holds("sent", local(M))))
ONE_SENT = ir.NamedFormula("one_sent", holds("sent", local(X)))
ONE_GOT = ir.NamedFormula("one_got", holds("got", local(X)))

VALID = Obligation("instance", SIGNATURE, (ALL_SENT,), ONE_SENT, (X,))
INVALID = Obligation("unrelated", SIGNATURE, (ALL_SENT,), ONE_GOT, (X,))
FRAMED = Obligation("framed", SIGNATURE, (ALL_SENT,), ALL_SENT)


def answer(status: str) -> Answer:
    assert status in ("sat", "unsat", "unknown")
    return Answer("sat" if status == "sat" else "unsat" if status == "unsat" else "unknown", "", 0.0)


def test_two_solvers_prove_at_level_three(pool: SolverPool) -> None:
    done = discharge_all(pool, (VALID, FRAMED), Options())
    assert all(each.proved for each in done)
    assert level_of(done) is Level.L3
    assert done[0].provers == 2 and done[1].answers == {}
    facts = solver_facts(done, Options(seed=4))
    assert (facts["obligations"], facts["by_frame"], facts["seed"]) == (2, 1, 4)
    assert facts["solvers"]["cvc5"]["unsat"] == 1 and facts["solvers"]["z3"]["version"]


def test_one_solver_proves_at_level_two(pool: SolverPool) -> None:
    for solvers in (("z3",), ("cvc5",)):
        done = discharge_all(pool, (VALID,), Options(solvers=solvers))
        assert done[0].proved and level_of(done) is Level.L2


def test_behind_a_failure_nothing_more_is_asked_of_its_group(pool: SolverPool) -> None:
    other = replace(INVALID, name="unrelated, too")
    asked = (VALID, INVALID, other, VALID)
    together = discharge_all(pool, asked, Options(), groups=("a", "a", "a", "b"))
    assert [each.proved for each in together] == [True, False, False, True]
    assert together[1].failed and together[2].countermodel is None
    assert all(each.provers == 1 for each in (together[0], together[3]))
    apart = discharge_all(pool, asked, Options(), groups=range(4))
    assert [each.failed for each in apart] == [False, True, True, False]
    whole = discharge_all(pool, (VALID, VALID, FRAMED), Options(), groups=("a", "a", "b"))
    assert level_of(whole) is Level.L3 and all(each.provers == 2 for each in whole[:2])


def test_one_of_two_solvers_is_level_two() -> None:
    split = Discharge(VALID, {"z3": answer("unsat"), "cvc5": answer("unknown")})
    assert split.proved and level_of((split,)) is Level.L2
    facts = solver_facts((split,) * 7, Options())
    assert facts["one_solver"] == ["instance: proved by z3 only; cvc5: unknown"] * 5
    assert facts["one_solver_more"] == 2
    both = Discharge(VALID, {"z3": answer("unsat"), "cvc5": answer("unsat")})
    assert "one_solver" not in solver_facts((both,), Options())


def test_a_finite_countermodel_comes_before_the_time_limit(pool: SolverPool) -> None:
    started = time.monotonic()
    (done,) = discharge_all(pool, (INVALID,), Options(timeout_ms=60_000))
    assert time.monotonic() - started < 20
    assert done.failed and not done.proved
    assert done.countermodel is not None
    assert done.countermodel.structure.universe["message"] == 1
    assert done.reason == "a finite countermodel exists"


class Told:
    """In the place of a pool: answers by a function of the question."""

    memory = None

    def __init__(self, answer_to: Callable[[Check], Answer]) -> None:
        self.asked: list[Check] = []
        self._answer_to = answer_to

    def answers(self, requests: Sequence[Check]) -> Iterator[tuple[int, Answer]]:
        self.asked += requests
        yield from ((number, self._answer_to(request)) for number, request in enumerate(requests))


TWO = replace(VALID, hypotheses=(ONE_GOT, ALL_SENT), name="one of two")


def test_the_core_of_one_proof_is_proved_by_the_other_solver_itself(pool: SolverPool) -> None:
    """Z3 proves by the second hypothesis. cvc5 gives up where it sees the first one, which it never does."""
    real = Told(lambda check: Answer("unknown", "", 0.0) if check.text.count("f1 ") > 1 else pool.ask(check))

    def answered(check: Check) -> Answer:
        return pool.ask(check) if check.solver == "z3" else next(real.answers([check]))[1]

    (done,) = discharge_all(cast(SolverPool, Told(answered)), (TWO,), Options())
    assert done.provers == 2 and level_of((done,)) is Level.L3
    assert len(real.asked) == 1


def test_a_core_that_one_seed_does_not_give_is_asked_for_with_others(pool: SolverPool) -> None:
    """Z3 proves the whole, and knows its core with the third seed only; cvc5 proves nothing but the core."""

    def answered(check: Check) -> Answer:
        if check.solver == "z3" and check.core and check.seed < 2:
            return Answer("unknown", "", 0.0)
        return Answer("unknown", "", 0.0) if check.text.count("f1 ") > 1 and not check.core else pool.ask(check)

    told = Told(lambda check: Answer("unsat", "", 0.0) if check.solver == "z3" and not check.core else answered(check))
    (done,) = discharge_all(cast(SolverPool, told), (TWO,), Options(), look_for_models=False)
    assert done.provers == 2 and level_of((done,)) is Level.L3
    for_core = [check for check in told.asked if check.core]
    assert [check.seed for check in for_core if check.seed] == [1, 2]


def test_a_core_that_is_not_enough_proves_nothing(pool: SolverPool) -> None:
    """The first solver lies about the core: the other one finds a model, and is asked about the whole obligation."""

    def answered(check: Check) -> Answer:
        if check.solver == "z3":
            return Answer("unsat", "", 0.0, core=("h0", "g"))
        return pool.ask(check) if "f1" in check.text.partition("(assert")[2] else Answer("unknown", "", 0.0)

    told = Told(answered)
    (done,) = discharge_all(cast(SolverPool, told), (TWO,), Options())
    asked = [check for check in told.asked if check.solver == "cvc5"]
    assert len(asked) == 2 and asked[0].text.count("(assert") < asked[1].text.count("(assert")
    assert done.answers["cvc5"].status == "unsat"
    (none,) = discharge_all(
        cast(SolverPool, Told(lambda check: answered(check) if check.solver == "z3" else Answer("unknown", "", 0.0))),
        (INVALID,),
        Options(),
    )
    assert none.provers == 1 and level_of((none,)) is Level.L2


def test_what_one_proves_the_other_is_asked_about_by_turns() -> None:
    """About its core and the whole, longer and longer, up to the time limit; about no core where there is none."""
    for core, parts in ((("h1", "g"), [2, 3]), ((), [3])):
        said = {"z3": Answer("unsat", "", 0.0, core=core), "cvc5": Answer("unknown", "", 0.0)}
        told = Told(lambda check, said=said: said[check.solver])  # type: ignore[misc]
        (done,) = discharge_all(cast(SolverPool, told), (TWO,), Options())
        assert done.proved and done.provers == 1
        asked = [check for check in told.asked if check.solver == "cvc5"]
        limits = [(check.timeout_ms // PATIENCE, check.text.count("(assert")) for check in asked]
        assert limits == [(limit, part) for limit in (75, 500, 2_000, 10_000) for part in parts]


def test_what_no_solver_proves_both_are_asked_about_in_a_short_time_first() -> None:
    told = Told(lambda check: Answer("unknown", "", 0.0))
    (done,) = discharge_all(cast(SolverPool, told), (TWO,), Options(), look_for_models=False)
    assert not done.proved
    limits = [(check.solver, check.timeout_ms // PATIENCE) for check in told.asked if not check.core]
    assert limits == [("z3", 500), ("z3", 500), ("cvc5", 500), ("z3", 10_000), ("cvc5", 10_000)]


def test_a_core_that_another_solver_satisfies_contradicts_the_proof(pool: SolverPool) -> None:
    """About the whole obligation that solver does not know, so nothing speaks for the first one."""

    def answered(check: Check) -> Answer:
        if check.solver == "z3":
            return Answer("unsat", "", 0.0, core=("h0", "g"))
        return Answer("unknown" if check.text.count("(assert") > 2 else "sat", "", 0.0)

    (done,) = discharge_all(cast(SolverPool, Told(answered)), (TWO,), Options())
    assert done.disagreement and not done.proved


def test_solvers_that_contradict_each_other_prove_nothing() -> None:
    split = Discharge(VALID, {"z3": answer("unsat"), "cvc5": answer("sat")})
    assert split.disagreement and not split.proved and not split.failed
    assert "z3 says unsat" in split.reason and "cvc5 says sat" in split.reason
    model = Model(Structure({"message": 1}, {}), {})
    against_model = Discharge(VALID, {"z3": answer("unsat")}, model)
    assert against_model.disagreement and not against_model.proved
    assert "finite countermodel" in against_model.reason


def test_unknown_is_never_proved() -> None:
    assert not Discharge(VALID, {"z3": answer("unknown"), "cvc5": answer("unknown")}).proved
    assert not Discharge(VALID, {}).proved
    assert not Discharge(VALID, {}, None, "cannot be said").proved
