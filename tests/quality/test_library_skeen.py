"""Skeen's total order: what is proved of the machine, the shortest counterexamples, and one order of all messages."""

from __future__ import annotations

import random
from dataclasses import replace
from graphlib import TopologicalSorter
from itertools import combinations, pairwise

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.dsl.run.execute import Delivered
from thence.dsl.run.system import System
from thence.dsl.run.values import Message
from thence.proofs.engines import explore
from thence.proofs.prove import prove_specification
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Verdict

SHORTEST = {
    "own_numbers_only": {"total_order": 14, "seen": 11},
    "takes_the_lowest": {"total_order": 14, "only_raised": 9, "smallest": 9},
    "ties_either_way": {"total_order": 14},
    "ties_by_sender": {"total_order": 14},
    "does_not_wait": {"total_order": 14, "smallest": 8},
    "proposes_again": {"distinct": 4, "delivered": 14},
    "decides_with_each_answer": {"total_order": 10, "at_most_once": 7, "one_decision": 10},
    "delivers_one": {"delivered": 14, "nothing_is_left": 14},
    "keeps_its_answers": {"nothing_is_left": 7},
    "to_its_sender": {"no_creation": 1},
}


def specification() -> ir.Specification:
    found = load("skeen").specification
    assert found is not None
    return found


@pytest.mark.long
def test_the_machine_is_proved_by_two_solvers() -> None:
    found = specification()
    results = prove_specification(replace(found, theorems=(), mutants=()), options=Options(workers=2))
    known = {result.name: result for result in results}
    stated = ("total_order", *(invariant.name for invariant in found.machines[0].invariants))
    for name in stated:
        assert (known[name].verdict, known[name].level) == (Verdict.PROVED, Level.L3)
    assert known["without deadlock"].verdict is Verdict.PROVED
    for name in ("causal", "fifo"):
        assert (known[name].verdict, known[name].facts["depth"]) == (Verdict.REFUTED, 7)
    assert [result.name for result in results if not result.expected] == []


@pytest.mark.long(but=("to_its_sender", "proposes_again"))
@pytest.mark.parametrize("name", SHORTEST)
def test_shortest_counterexamples(name: str) -> None:
    mutant = next(mutant for mutant in specification().mutants if mutant.name == name)
    assert isinstance(mutant.mutated, ir.Protocol)
    lengths: dict[str, int] = {}
    for expect in mutant.expects:
        assert expect.settings is not None
        for stated in expect.names if expect.verdict == "refuted" else ():
            if stated != "link":
                found = explore(mutant.mutated, expect.settings, [stated], stop_when_refuted=True)
                lengths[stated] = len(found.violations[stated].steps)
    assert lengths == SHORTEST[name]


def test_every_mutant_of_the_protocol_is_pinned() -> None:
    found = specification()
    assert {mutant.name for mutant in found.mutants if mutant.subject == "skeen"} == set(SHORTEST)


def handed_over(protocol: ir.Protocol, workload: ir.Workload, seed: int) -> list[list[Message]]:
    """What each process delivers in a random run, in its order."""
    chance = random.Random(seed)
    system = System(protocol, workload)
    state = system.initial()
    delivered: list[list[Message]] = [[] for _ in range(workload.processes)]
    while actions := sorted(system.enabled(state)):
        action = chance.choice(actions)
        outcome = system.apply(state, action)
        delivered[action.process] += [each.message for each in outcome.emissions if isinstance(each, Delivered)]
        state = outcome.state
    return delivered


def test_all_messages_are_in_one_order_also_where_groups_overlap() -> None:
    """`total_order` compares two processes at a time, and would not notice three messages in a circle."""
    everybody = tuple(range(4))
    sets = tuple(chosen for size in (1, 2, 3) for chosen in combinations(everybody, size))
    workload = ir.Workload(4, (2, 2, 2, 2), (everybody,) * 4, groups=(sets,) * 4)
    protocol = specification().protocols[0]
    delivered = 0
    for seed in range(60):
        before: dict[Message, set[Message]] = {}
        for order in handed_over(protocol, workload, seed):
            delivered += len(order)
            for first, second in pairwise(order):
                before.setdefault(second, set()).add(first)
        TopologicalSorter(before).prepare()  # raises CycleError
    assert delivered > 60 * 8
