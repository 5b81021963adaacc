"""Stability: an obligation of the library that is proved stays proved under other seeds and names of its symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from whence.dsl import ir
from whence.dsl.load import load
from whence.proofs.machine_obligations import conjuncts, preservations
from whence.proofs.obligation import Obligation
from whence.proofs.smt import smt_text
from whence.proofs.solver import Check, SolverPool
from whence.proofs.theory_obligations import theorem_scheme

SEEDS = (1, 2, 3)


def specification_of(name: str) -> ir.Specification:
    loaded = load(name)
    assert loaded.specification is not None
    return loaded.specification


def theory_obligations() -> list[Obligation]:
    theorems = specification_of("execution").theorems
    proved = [theorem for theorem in theorems if not theorem.expects]
    return [obligation for theorem in proved for obligation in theorem_scheme(theorem).obligations]


def machine_obligations(name: str) -> list[Obligation]:
    (machine,) = specification_of(name).machines
    everything = conjuncts(machine)
    stated = (each.obligation for each in preservations(machine, everything, everything))
    return [obligation for obligation in stated if not obligation.by_frame]


SOURCES: dict[str, Callable[[], list[Obligation]]] = {
    "execution": theory_obligations,
    "mf": lambda: machine_obligations("mf"),
    "hybrid_basic": lambda: machine_obligations("hybrid_basic"),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_seed_proves_every_obligation(source: str) -> None:
    obligations = SOURCES[source]()
    assert len(obligations) >= 10
    requests = [Check("z3", smt_text(each), 10_000, seed) for each in obligations for seed in SEEDS]
    with SolverPool(2) as pool:
        for number, answer in pool.answers(requests):
            assert answer.status == "unsat", (obligations[number // len(SEEDS)].name, requests[number].seed)


@pytest.mark.parametrize("source", SOURCES)
def test_the_order_of_the_hypotheses_does_not_matter(source: str) -> None:
    obligations = SOURCES[source]()
    turned = [replace(each, hypotheses=tuple(reversed(each.hypotheses))) for each in obligations]
    with SolverPool(2) as pool:
        for number, answer in pool.answers([Check("z3", smt_text(each), 10_000, 0) for each in turned]):
            assert answer.status == "unsat", turned[number].name
