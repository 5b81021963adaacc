"""Random machines against brute force: nothing false is proved, and every run that is shown is a run."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from tests.proofs.machine.against_brute_force.random_machines import (
    Graph,
    View,
    explore,
    false_in,
    random_machine,
    replayed,
    worlds,
)

from thence.dsl import ir
from thence.proofs.machine.inductive_set import inductive_set
from thence.proofs.machine.obligations import conjuncts, preservations
from thence.proofs.machine.steps.prover import WITNESS
from thence.proofs.prove import proofs_by
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION
from thence.proofs.solving.discharge import Options, discharge_all
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

SHORT = (1, 2, 3)
LIMITS = Options(timeout_ms=2_000)


@pytest.mark.long(but=SHORT)
@pytest.mark.parametrize("seed", range(1, 61))
def test_no_random_machine_is_judged_wrongly(
    seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool
) -> None:
    machine = random_machine(seed)
    specification = specify(machine.text)
    chance = Random(seed)
    graphs = [explore(machine, world) for world in worlds(machine, chance)]
    graphs += [explore(machine, world, 200) for world in worlds(machine, chance, 1, 2)]
    for proof in proofs_by(pool, specification, (), LIMITS):
        name, assessment = proof.result.name, proof.assessment
        if name in ("history", "vacuity"):
            continue
        by_run = WITNESS in assessment.runs or REFUTATION in assessment.runs
        if by_run:
            check_run(machine, name, assessment)
        elif assessment.verdict in (Verdict.PROVED, Verdict.REFUTED):
            world, states = replayed(machine, assessment.runs[POSSIBLE])
            end = View(world, states[-1])
            moved = end.sent & end.delivered
            assert len({world.src[m] for m in moved}) > 1, f"{name} holds for nothing in\n{machine.text}"
            assert (assessment.verdict is Verdict.REFUTED) == (name in machine.reachable)
            wrong = [graph.world for graph in graphs if false_in(machine, name, graph)]
            assert not wrong, f"{name} is false in {wrong[0]}\n{machine.text}"


@pytest.mark.long(but=(2,))
@pytest.mark.parametrize("seed", range(2, 8))
def test_the_inductive_set_is_what_every_obligation_leaves(
    seed: int, specify: Callable[[str], ir.Specification], pool: SolverPool
) -> None:
    """The set, which asks no more than it has to, against every obligation asked of both solvers in every round."""
    (machine,) = specify(random_machine(seed).text).machines
    found = inductive_set(ProofSession(pool, LIMITS), machine)
    left = list(conjuncts(machine))
    while True:
        asked = preservations(machine, left, left)
        done = discharge_all(pool, [each.obligation for each in asked], LIMITS, look_for_models=False)
        lost = {each.conjunct.name for each, own in zip(asked, done, strict=True) if not own.proved}
        left = [conjunct for conjunct in left if conjunct.name not in lost]
        if not lost:
            break
    assert {*found.members, *found.consequences} >= {conjunct.name for conjunct in left}
    assert all(len(own.answers) == 2 or own.obligation.by_frame for own in found.discharges)
    assert not found.fallen or {*found.members} == {conjunct.name for conjunct in left}


def check_run(machine, name, assessment) -> None:  # type: ignore[no-untyped-def]
    run = assessment.runs.get(WITNESS) or assessment.runs[REFUTATION]
    world, states = replayed(machine, run)
    if name.startswith("without starvation"):
        return  # a step that adds to what is waited for: replayed, and no more
    steps = {state: [] for state in states}
    ends = Graph(world, explore(machine, world, 2_000).steps, True)
    last = states[-1]
    shown = {last: ends.steps.get(last, [])}
    if name in machine.stable or name == "at_most_once":
        shown = {states[-2]: ends.steps.get(states[-2], [])}
    del steps
    assert false_in(machine, name, Graph(world, shown, False)), f"{name} is not false at the end of the run"
