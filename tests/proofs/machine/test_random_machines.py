"""Random machines against brute force: nothing false is proved, and every run that is shown is a run."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from tests.proofs.machine.random_machines import (
    Graph,
    View,
    explore,
    false_in,
    random_machine,
    replayed,
    worlds,
)

from thence.dsl import ir
from thence.proofs.machine.step_prover import WITNESS
from thence.proofs.prove import proofs_by
from thence.proofs.solving.assessment import POSSIBLE, REFUTATION
from thence.proofs.solving.discharge import Options
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
