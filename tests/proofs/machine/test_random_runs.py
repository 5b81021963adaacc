"""Runs found by walking about: real ones, cut to what they need, the same for the same seed."""

from __future__ import annotations

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, PROCESS
from thence.dsl.load import load
from thence.proofs.logic.formula import Unsupported
from thence.proofs.machine import random_runs
from thence.proofs.machine.random_runs import walk


def machine_of(name: str) -> ir.Machine:
    specification = load(name).specification
    assert specification is not None
    return specification.machines[0]


SMALL = {PROCESS.name: 3, MESSAGE.name: 3}


def test_every_transition_of_a_machine_is_met_and_nothing_is_superfluous() -> None:
    machine = machine_of("hybrid_basic")
    names = [transition.name for transition in machine.transitions]
    runs = walk(machine, names, seed=0, universe=SMALL)
    assert runs.keys() == set(names)
    for name, run in runs.items():
        assert run.steps[-1][0].name == name
        assert len(run.states()) == len(run.steps) + 1  # replayed: every guard holds
    assert {
        name: len(run.steps) for name, run in runs.items() if name in ("causal_send", "network_send", "deliver")
    } == {
        "causal_send": 1,
        "network_send": 2,
        "deliver": 3,
    }


def test_a_walk_depends_on_the_seed_only() -> None:
    machine = machine_of("hybrid_basic")
    assert walk(machine, ["receive_permit"], 3, SMALL) == walk(machine, ["receive_permit"], 3, SMALL)


@pytest.mark.parametrize("name", ["hybrid_basic", "hybrid_optimal_indices", "cykas"])
def test_compiled_transitions_walk_as_evaluated_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_of(name)
    names = [transition.name for transition in machine.transitions]
    runs = walk(machine, names, 1, SMALL, guards=1_000)
    assert runs

    def refused(*_: object) -> None:
        raise Unsupported("compiled")

    monkeypatch.setattr(random_runs, "compiled", refused)
    assert walk(machine, names, 1, SMALL, guards=1_000) == runs


def test_what_cannot_happen_is_not_met_and_the_effort_is_bounded() -> None:
    machine = machine_of("hybrid_basic")
    assert walk(machine, ["no_such_transition"], 0, SMALL, guards=5_000) == {}


def test_machines_with_other_arbitrary_parts_are_left_alone() -> None:
    machine = machine_of("cbcast")
    assert walk(machine, ["causal_send"], 0, guards=5_000) == {}
