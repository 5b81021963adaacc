"""Open obligations: what leaves the fragment is named, and what is said of hypotheses was tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import pytest

from thence.dsl import ir
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.structure import Structure
from thence.proofs.prove import proofs_by
from thence.proofs.solving.discharge import Discharge, Options
from thence.proofs.solving.finite_models import Model
from thence.proofs.solving.open_obligation import Attempt, diagnose, with_fragment, without
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import Answer, SolverName, SolverPool
from thence.proofs.theory.obligations import theorem_scheme
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]

ENDLESS = """theory endless:
  sort message, process
  function src: message to process
  relation less: message, message
  relation quiet, loud: message
  axiom transitive: forall a, b, c. less(a, b) and less(b, c) implies less(a, c)
  axiom irreflexive: forall a. not less(a, a)
  axiom open_ended: (exists a. quiet(a)) or (forall a. exists b. less(a, b))
  {more}
  property some_quiet: exists a. quiet(a)
theorem comes_to_rest in endless:
  prove some_quiet
  expect unknown
"""
"""True in every finite structure, so that no countermodel is found, and not provable: others are infinite."""

Status = Literal["sat", "unsat", "unknown"]


def obligation_of(specify: Specify, text: str) -> Obligation:
    (obligation,) = theorem_scheme(specify(text).theorems[0]).obligations
    return obligation


def answered(obligation: Obligation, answers: Mapping[SolverName, tuple[Status, str]]) -> Discharge:
    return Discharge(obligation, {solver: Answer(status, why, 0.1) for solver, (status, why) in answers.items()})


@pytest.fixture
def session(pool: SolverPool) -> ProofSession:
    return ProofSession(pool, Options(timeout_ms=20_000))


TIMEOUTS: Mapping[SolverName, tuple[Status, str]] = {"z3": ("unknown", "timeout"), "cvc5": ("unknown", "incomplete")}


def test_the_hypothesis_is_named_and_left_out(specify: Specify, session: ProofSession) -> None:
    text = ENDLESS.format(more="axiom unrelated: forall m. loud(m)")
    found = diagnose(session, answered(obligation_of(specify, text), TIMEOUTS))
    assert found is not None
    assert found.lines == (
        "outside the decidable fragment: `forall a: message. exists b: message` in open_ended (line 8) closes a cycle",
        "without open_ended, z3 finds that it does not follow",
    )
    assert found.attempts == (Attempt(("open_ended",), "z3", "sat"),)
    assert found.to_json()["attempts"] == [{"without": ["open_ended"], "solver": "z3", "answer": "sat"}]


def test_a_proof_without_a_hypothesis_is_told(specify: Specify, session: ProofSession) -> None:
    """Of two that are blamed, each is left out, and both; what nobody answers is not told."""
    text = ENDLESS.format(
        more="axiom one: exists a. quiet(a) and loud(a)\n  axiom later: forall a. exists b. less(a, b) or loud(b)"
    )
    obligation = obligation_of(specify, text)
    found = diagnose(session, answered(obligation, TIMEOUTS))
    assert found is not None
    assert {each.without for each in found.attempts} <= {("open_ended",), ("later",), ("open_ended", "later")}
    assert Attempt(("open_ended", "later"), "z3", "unsat") in found.attempts
    for attempt in found.attempts:
        positions = [n for n, each in enumerate(obligation.hypotheses) if each.name in attempt.without]
        (again,) = session.discharge([without(obligation, positions)])
        assert again.answers["z3"].status == attempt.status


WITHIN = """theory plain:
  sort message, process
  function src: message to process
  relation at: message, process
  axiom everywhere: forall m. exists p. at(m, p)
  property goal: forall m. at(m, src(m))
theorem it in plain:
  prove goal
"""


def test_within_the_fragment_time_is_what_was_missing(specify: Specify, session: ProofSession) -> None:
    obligation = obligation_of(specify, WITHIN)
    late = diagnose(session, answered(obligation, TIMEOUTS))
    assert late is not None
    assert late.lines == ("within the decidable fragment: only time was missing, a longer --timeout may be enough",)
    gave_up = diagnose(session, answered(obligation, {"z3": ("unknown", "(incomplete quantifiers)")}))
    assert gave_up is not None
    assert gave_up.lines == ("within the decidable fragment, but the solvers gave up before their time was over",)


def test_nothing_is_said_where_something_was_decided(specify: Specify, session: ProofSession) -> None:
    obligation = obligation_of(specify, WITHIN)
    model = Model(Structure({"message": 1, "process": 1}, {}), {})
    assert diagnose(session, answered(obligation, {"z3": ("unsat", "")})) is None
    assert diagnose(session, answered(obligation, {"z3": ("sat", ""), "cvc5": ("unknown", "timeout")})) is None
    assert diagnose(session, Discharge(obligation, {"z3": Answer("unknown", "timeout", 0.1)}, model)) is None
    assert diagnose(session, Discharge(obligation, unsupported="a product")) is None


def test_an_unknown_theorem_says_it(specify: Specify, pool: SolverPool) -> None:
    """No time decides it: its only countermodels are infinite."""
    options = Options(timeout_ms=300)
    (proof,) = proofs_by(pool, specify(ENDLESS.format(more="")), (), options)
    assert proof.result.verdict is Verdict.UNKNOWN and proof.result.expected
    reason = "outside the decidable fragment: `forall a: message. exists b: message` in open_ended (line 8)"
    assert reason in proof.result.facts["unknown"]
    assert reason in proof.result.explanation
    (told,) = proof.result.facts["undecided"]
    assert not told["within"] and told["cycles"][0]["edges"][0]["line"] == 8


MACHINE = """machine promises:
  constant relation less(a: message, b: message)
  constant relation quiet(a: message)
  axiom transitive: forall a, b, c. less(a, b) and less(b, c) implies less(a, c)
  axiom irreflexive: forall a. not less(a, a)
  axiom open_ended: (exists a. quiet(a)) or (forall a. exists b. less(a, b))
  transition causal_send(m):
    require forall a. not quiet(a)
  transition deliver(m):
    require sent(m) and not delivered(m)
  invariant idle: forall a. not sent(a)
  stable unsent: forall a. not sent(a)
"""


def test_an_unknown_invariant_says_it(specify: Specify, pool: SolverPool) -> None:
    proofs = proofs_by(pool, specify(MACHINE), ("idle", "unsent"), Options(timeout_ms=300))
    for proof in proofs:
        assert proof.result.verdict is Verdict.UNKNOWN, proof.result.name
        (told,) = proof.result.facts["undecided"]
        assert told["cycles"][0]["edges"][0]["formula"] == "open_ended"
        assert told["cycles"][0]["edges"][0]["line"] == 6
        assert "open_ended (line 6) closes a cycle" in proof.result.explanation


def test_of_proofs_it_is_told_on_request(specify: Specify, pool: SolverPool) -> None:
    text = WITHIN.replace("axiom everywhere: forall m. exists p. at(m, p)", "axiom everywhere: forall m, p. at(m, p)")
    (plain,) = proofs_by(pool, specify(text), (), Options())
    assert "fragment" not in plain.result.facts
    (told,) = proofs_by(pool, specify(text), (), Options(fragment=True))
    assert told.result.facts["fragment"] == {"obligations": 1, "within": 1, "numbers": False, "outside": []}
    with_cycle = text.replace("  property", "  axiom later: forall p. exists m. src(m) = p\n  property")
    (outside,) = proofs_by(pool, specify(with_cycle), (), Options(fragment=True))
    assert outside.result.verdict is Verdict.PROVED
    (reason,) = outside.result.facts["fragment"]["outside"]
    assert reason == "`src(m)` (process -> process) in later (line 6) closes a cycle"
    assert outside.result.facts["fragment"]["within"] == 0


def test_only_proofs_are_placed(specify: Specify, pool: SolverPool) -> None:
    (proof,) = proofs_by(pool, specify(WITHIN), (), Options())
    assert proof.result.verdict is Verdict.REFUTED
    assert with_fragment(proof.assessment, theorem_scheme(specify(WITHIN).theorems[0]).obligations) is proof.assessment


def test_hypotheses_of_one_name_are_named_once_and_of_many_a_few() -> None:
    assert Attempt(("few", "few", "kept"), "z3", "unsat").text == "without few, kept, z3 proves it"
    many = Attempt(tuple("aabbccddeeff"), "z3", "sat").text
    assert many == "without a, b, c, d and 2 others, z3 finds that it does not follow"
