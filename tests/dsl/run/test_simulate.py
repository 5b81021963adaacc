"""Random runs: fixed by the seed, in every interpreter process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.narrate import text
from thence.dsl.run.simulate import simulate
from thence.dsl.run.system import System

Library: TypeAlias = Callable[[str], ir.Specification]

SCRIPT = """
from thence.dsl.load import load
from thence.dsl.run.narrate import text
from thence.dsl.run.simulate import simulate
from thence.dsl.run.system import System
for name in ("cykas", "mf", "rst", "hybrid_basic"):
    specification = load(name).specification
    for scope in specification.scopes:
        for seed in range(3):
            print(text(simulate(System(specification.protocols[0], scope.workload), seed, 50)))
"""


def printed(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_runs_do_not_depend_on_hashing() -> None:
    first = printed("1")
    assert first.count("causal_send") > 100
    assert printed("4711") == first


@pytest.mark.parametrize("name", ["cykas", "mf", "rst", "hybrid_basic"])
def test_a_seed_fixes_the_run(library: Library, name: str) -> None:
    specification = library(name)

    def run(seed: int) -> str:
        return text(simulate(System(specification.protocols[0], specification.scopes[0].workload), seed, 40))

    assert run(7) == run(7)
    assert len({run(seed) for seed in range(10)}) > 5


def test_a_run_ends_when_nothing_can_happen(library: Library) -> None:
    specification = library("hybrid_basic")
    workload = next(scope.workload for scope in specification.scopes if scope.name == "one")
    system = System(specification.protocols[0], workload)
    steps = simulate(system, 3, 1000)
    assert len(steps) < 100
    last = steps[-1].outcome.state
    assert (last.network, last.history.pending, last.sends) == ((), (), (1, 1, 1))


def test_a_run_has_so_many_steps_at_most(library: Library) -> None:
    specification = library("cykas")
    system = System(specification.protocols[0], specification.scopes[0].workload)
    assert [len(simulate(system, 0, limit)) for limit in (0, 1, 5)] == [0, 1, 5]


def test_a_run_ends_at_a_violation(library: Library) -> None:
    specification = library("mf")
    mutated = next(known.mutated for known in specification.mutants if known.name == "posts_at_once")
    assert isinstance(mutated, ir.Protocol)
    workload = next(scope.workload for scope in specification.scopes if scope.name == "two")
    runs = [simulate(System(mutated, workload), seed, 100) for seed in range(20)]
    assert any(run[-1].outcome.findings for run in runs)
    assert not any(step.outcome.findings for run in runs for step in run[:-1])
