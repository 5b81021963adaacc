"""Cores: what a proof used is enough for it and named; what nothing uses is said; the canonical text stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE
from thence.proofs.logic.formula import forall, holds, implies, local
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.logic.smt import smt_text
from thence.proofs.prove import prove_specification
from thence.proofs.solving import cores
from thence.proofs.solving.cores import Core, cores_of
from thence.proofs.solving.discharge import Discharge, Options, discharge_all
from thence.proofs.solving.solver import SolverName, SolverPool

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]

M, X = ir.Variable("m", MESSAGE), ir.Variable("x", MESSAGE)
NAMES = ("sent", "posted", "got", "idle")
SIGNATURE = Signature((MESSAGE,), (), tuple(ir.Symbol(name, (M,), BOOL) for name in NAMES))


def rule(before: str, after: str) -> ir.NamedFormula:
    return ir.NamedFormula(f"{before}_{after}", forall([M], implies(holds(before, local(M)), holds(after, local(M)))))


def fact(name: str) -> ir.NamedFormula:
    return ir.NamedFormula(f"is_{name}", holds(name, local(X)))


CHAIN = Obligation(
    "chain",
    SIGNATURE,
    (rule("idle", "sent"), rule("sent", "posted"), rule("got", "idle"), rule("posted", "got"), fact("sent")),
    fact("got"),
    (X,),
)


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_core_has_what_is_needed_and_no_more(pool: SolverPool, solver: SolverName) -> None:
    options = Options(solvers=(solver,))
    (core,) = cores_of(pool, discharge_all(pool, (CHAIN,), options), options)
    assert core == Core("chain", ("sent_posted", "posted_got", "is_sent"))
    assert core.text == "chain uses sent_posted, posted_got, is_sent"


def test_a_goal_that_is_a_hypothesis_uses_it(pool: SolverPool) -> None:
    framed = Discharge(Obligation("framed", SIGNATURE, (fact("idle"), fact("sent")), fact("sent"), (X,)))
    assert cores_of(pool, (framed,), Options()) == (Core("framed", ("is_sent",)),)


def test_what_is_not_proved_has_no_core(pool: SolverPool) -> None:
    done = discharge_all(pool, (replace(CHAIN, goal=fact("idle"), hypotheses=CHAIN.hypotheses[:2]),), Options())
    assert cores_of(pool, done, Options()) == (Core("chain", None),)


def test_a_core_that_is_not_enough_is_not_believed(pool: SolverPool, monkeypatch: pytest.MonkeyPatch) -> None:
    done = discharge_all(pool, (CHAIN,), Options())
    alone = cores._alone
    monkeypatch.setattr(cores, "_alone", lambda discharge, used, options: alone(discharge, [0], options))
    (core,) = cores_of(pool, done, Options(timeout_ms=2_000))
    assert core.used is None
    assert "not known" in core.text


def test_the_canonical_text_has_no_names() -> None:
    plain, named = smt_text(CHAIN), smt_text(CHAIN, named=True)
    assert ":named" not in plain and "unsat-cores" not in plain
    assert named.count(":named") == len(CHAIN.hypotheses) + 1


RELAY = """
machine relay:
  relation network_sent(m: message)
  transition causal_send(m):
    pass
  transition network_send(m):
    require sent(m) and not network_sent(m)
    network_sent(m) := true
  transition deliver(m):
    require network_sent(m) and not delivered(m)
  invariant posted: forall m. delivered(m) implies network_sent(m)
  invariant came_from: forall m. network_sent(m) implies sent(m)
  invariant idle: forall m. sent(m) implies sent(m)
  prove no_creation, at_most_once
"""


def test_an_invariant_that_nothing_uses_is_told(specify: Specify) -> None:
    found = {each.name: each for each in prove_specification(specify(RELAY), (), Options(cores=True))}
    assert found["idle"].facts["never_used"] is True
    assert "no other proof uses idle" in found["idle"].explanation
    assert found["came_from"].facts["never_used"] is False
    used = {name for each in found["history"].facts["used"] for name in each["used"]}
    assert "came_from" in used and "idle" not in used
    guard = found["at_most_once"].facts["used"]
    assert [each["used"] for each in guard] == [["network_sent(m) and not delivered(m)"]]


def test_without_being_asked_nothing_is_said(specify: Specify) -> None:
    for each in prove_specification(specify(RELAY)):
        assert "used" not in each.facts and "never_used" not in each.facts


def test_a_theorem_says_which_assumption_is_needed_where(library: Library) -> None:
    (result,) = prove_specification(library("execution"), ["fifo_sps_causal"], Options(cores=True))
    used = {each["obligation"]: each["used"] for each in result.facts["used"]}
    assert len(used) == result.facts["obligations"]
    assert "sps" in used["step delivery"]
    assert "fifo" not in used["base local"]
    assert "no_self_sends" in used["claim gives causal"]
    assert "claim gives causal uses" in result.explanation
