"""Bounded answers about machines: runs, or nothing within so many steps for any size, or unknown."""

from __future__ import annotations

from collections.abc import Callable

from thence.dsl import ir
from thence.proofs.bounded.machine import Reach, bounded_statements, check_machine
from thence.proofs.bounded.results import Case, machine_results, protocol_results
from thence.proofs.solving.assessment import REFUTATION
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Level, Verdict

Library = Callable[[str], ir.Specification]
Specify = Callable[[str], ir.Specification]

OPTIONS = Options(timeout_ms=10_000)

CROWD = """
machine crowd:
  relation open(p: process)
  transition causal_send(m):
    forall p: open(p) := open(p) or p = src(m)
  transition deliver(m):
    require sent(m)
  invariant sent_open: forall m. sent(m) implies open(src(m))
  invariant few_open: forall a, b, c, d: process. open(a) and open(b) and open(c) and open(d)
    implies a = b or a = c or a = d or b = c or b = d or c = d
  invariant open_somewhere: exists p. open(p)
  prove at_most_once, no_creation
"""


def crowd(specify: Specify) -> ir.Machine:
    (machine,) = specify(CROWD).machines
    return machine


def test_the_statements_of_a_machine(specify: Specify) -> None:
    stated = bounded_statements(crowd(specify))
    assert stated == ("sent_open", "few_open", "open_somewhere", "at_most_once", "no_creation")


def test_holds_refuted_and_unknown(specify: Specify, pool: SolverPool) -> None:
    machine = crowd(specify)
    found = check_machine(ProofSession(pool, OPTIONS), machine, bounded_statements(machine), Reach(4))
    assert found["sent_open"].verdict is Verdict.HOLDS and found["sent_open"].level is Level.L1
    assert found["sent_open"].facts["obligations"] == 5
    assert "within 4 steps, with any number" in found["sent_open"].text
    assert found["at_most_once"].verdict is Verdict.REFUTED and found["at_most_once"].facts["depth"] == 3
    assert found["open_somewhere"].verdict is Verdict.REFUTED and found["open_somewhere"].facts["depth"] == 0
    assert found["no_creation"].verdict is Verdict.HOLDS
    few = found["few_open"]
    assert few.verdict is Verdict.UNKNOWN and "no violation of any size within 3 steps" in few.facts["unknown"]


def test_of_deliveries_nothing_holds_within_so_few_steps_that_there_is_none(specify: Specify, pool: SolverPool) -> None:
    machine = crowd(specify)
    few = check_machine(ProofSession(pool, OPTIONS), machine, bounded_statements(machine), Reach(1))
    assert {name for name, found in few.items() if found.verdict is Verdict.HOLDS} == {"sent_open", "few_open"}
    assert few["at_most_once"].facts["unknown"] == "no run was found that delivers a message within 1 step"
    more = check_machine(ProofSession(pool, OPTIONS), machine, ("at_most_once", "no_creation"), Reach(2))
    assert {found.verdict for found in more.values()} == {Verdict.HOLDS}


def test_of_a_protocol_delivery_is_unknown_within_so_few_steps_that_there_is_none(library: Library) -> None:
    found = library("mf")
    protocol, scope = found.protocols[0], next(each for each in found.scopes if each.name == "two")
    case = Case("mf", protocol, "two", scope.workload, (), ("causal", "delivered"))
    for depth, verdict in ((1, Verdict.UNKNOWN), (2, Verdict.HOLDS)):
        results, _ = protocol_results(case, depth, 60_000)
        assert {result.verdict for result in results} == {verdict}


def test_a_larger_universe_has_the_run(specify: Specify, pool: SolverPool) -> None:
    found = check_machine(ProofSession(pool, OPTIONS), crowd(specify), ("few_open",), Reach(4, 4, 4))["few_open"]
    assert found.verdict is Verdict.REFUTED and found.facts["depth"] == 4
    states = found.runs[REFUTATION].states()
    assert sum(map(bool, states[-1].tables["open"].values())) == 4


def test_a_shallow_search_says_how_shallow(specify: Specify, pool: SolverPool) -> None:
    found = check_machine(ProofSession(pool, OPTIONS), crowd(specify), ("few_open", "at_most_once"), Reach(2, 4, 4))
    assert {assessment.verdict for assessment in found.values()} == {Verdict.HOLDS}
    assert all(assessment.facts["bound"] == {"steps": 2} for assessment in found.values())


def test_contradictory_axioms(specify: Specify, pool: SolverPool) -> None:
    text = CROWD.replace("  transition causal", "  axiom no: forall m. src(m) != src(m)\n  transition causal", 1)
    (machine,) = specify(text).machines
    found = check_machine(ProofSession(pool, OPTIONS), machine, ("sent_open",), Reach(2))["sent_open"]
    assert found.verdict is Verdict.UNKNOWN and "contradict" in found.facts["unknown"]


def test_results_of_the_library(library: Library) -> None:
    specification = library("hybrid_basic")
    machine = specification.machines[0]
    results = list(machine_results(machine, machine.name, machine.expects, ("causal", "life"), Reach(3), OPTIONS))
    assert [result.name for result in results] == ["life", "causal"]
    assert all(result.verdict is Verdict.HOLDS and result.expected for result in results)
    mutant = next(each for each in specification.mutants if each.name == "permit_too_early")
    assert isinstance(mutant.mutated, ir.Machine)
    (refuted,) = machine_results(
        mutant.mutated, "permits/permit_too_early", mutant.expects, ("permit_ok",), Reach(6), OPTIONS
    )
    assert refuted.kind == "mutant" and refuted.verdict is Verdict.REFUTED and refuted.expected


def test_results_of_a_protocol(library: Library) -> None:
    specification = library("mf")
    protocol = specification.protocols[0]
    scope = next(each for each in specification.scopes if each.name == "one")
    case = Case("mf", protocol, "one", scope.workload, scope.expects, ("causal", "delivered"))
    results, interrupted = protocol_results(case, 3, 60_000)
    assert not interrupted
    assert [(result.name, result.verdict, result.level) for result in results] == [
        ("one: causal", Verdict.HOLDS, Level.L1),
        ("one: delivered", Verdict.HOLDS, Level.L1),
    ]
    assert results[0].facts["depth"] == 3 and results[0].facts["complete"] is False
    assert results[0].explanation == "no violation within 3 steps"
    hasty = Case("mf", protocol, "one", scope.workload, scope.expects, ("sps", "beauty"))
    unknown = protocol_results(hasty, 2, 60_000)[0][1]
    assert unknown.verdict is Verdict.UNKNOWN and not unknown.expected and "beauty" in unknown.facts["unknown"]


def test_counts_are_not_taken_for_violations(specify: Specify, pool: SolverPool) -> None:
    """Solvers know some facts about counts, not all: their models refute nothing."""
    few = "  invariant few: (count m. sent(m) and not delivered(m)) <= 2\n"
    text = CROWD.replace("  invariant sent_open", f"{few}  invariant sent_open")
    found = check_machine(ProofSession(pool, OPTIONS), specify(text).machines[0], ("few",), Reach(3, 2, 2))["few"]
    assert found.verdict is not Verdict.HOLDS
    assert found.verdict is Verdict.UNKNOWN and "a count may be wrong" in found.facts["unknown"]
    refuted = check_machine(ProofSession(pool, OPTIONS), specify(text).machines[0], ("few",), Reach(3, 3, 3))["few"]
    assert refuted.verdict is Verdict.REFUTED and refuted.facts["depth"] == 3
