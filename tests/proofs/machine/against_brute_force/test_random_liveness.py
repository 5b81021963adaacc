"""Random claims of liveness against brute force: none that a fair run breaks is proved, and every run shown is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from tests.proofs.machine.against_brute_force.random_liveness import false_in, machine_with_claims
from tests.proofs.machine.against_brute_force.random_machines import explore, replayed, worlds

from thence.dsl import ir
from thence.proofs.machine.prover import proved_set
from thence.proofs.machine.steps.prover import prove_steps
from thence.proofs.solving.assessment import REFUTATION
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

LIMITS = Options(timeout_ms=2_000, solvers=("z3",))


def check_claims(seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool) -> Counter[str]:
    """How often claims are proved, refuted and unknown, and how often they are false in some small world."""
    text, machine, claims = machine_with_claims(seed)
    (typed,) = specify(text).machines
    session = ProofSession(pool, LIMITS)
    assessments = prove_steps(session, typed, [claim.name for claim in claims], proved_set(session, typed))
    chance, counted = Random(seed), Counter[str]()
    graphs = [explore(machine, world, 300) for world in worlds(machine, chance)]
    graphs += [explore(machine, world, 200) for world in worlds(machine, chance, 1, 2)]
    for claim in claims:
        assessment = assessments[claim.name]
        false = next((graph.world for graph in graphs if false_in(claim, graph)), None)
        counted[assessment.verdict.value] += 1
        counted["false"] += false is not None
        if assessment.verdict is Verdict.PROVED:
            assert false is None, f"{claim.name} is false in {false}\n{text}"
        if assessment.verdict is Verdict.REFUTED:
            world, _ = replayed(machine, assessment.runs[REFUTATION])
            assert false_in(claim, explore(machine, world, 2_000)), f"{claim.name} is not false in {world}\n{text}"
    return counted


SHORT = ("6", "8", "16")


@pytest.mark.long(but=SHORT)
@pytest.mark.parametrize("seed", range(1, 61))
def test_no_false_claim_is_proved(seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool) -> None:
    check_claims(seed, specify, pool)


def test_some_claims_are_proved_and_some_are_false(
    specify: Callable[[str], ir.Specification], pool: SolverPool
) -> None:
    counted = check_claims(13, specify, pool)
    assert counted["proved"] and counted["false"] and counted["refuted"]
