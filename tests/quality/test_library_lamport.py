"""Lamport's mutual exclusion: what is proved, the shortest counterexamples, and requests in causal order."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field, replace

import pytest

from thence.dsl import ir
from thence.dsl.load import load
from thence.dsl.run.execute import Sent
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.prove import prove_specification
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Level, Verdict

PROCESSES = 4

SHORTEST = {
    "enters_when_first": {"exclusive": 2, "in_order": 2},
    "one_is_enough": {"exclusive": 6, "in_order": 4},
    "no_ties": {"exclusive": 6},
    "ties_block": {"nobody_waits": 6, "served": 6},
    "overtaking": {"exclusive": 8, "in_order": 4, "not_lost": 4},
    "tells_nobody": {"nobody_waits": 4, "served": 7},
    "keeps_requests": {"nobody_waits": 5, "served": 8},
    "silent": {"served": 2},
    "deaf": {"after_those_known": 5, "served": 3},
    "by_arrival": {"exclusive": 6, "in_order": 5},
    "answers_if_needed": {},
}


def specification() -> ir.Specification:
    found = load("lamport_mutex").specification
    assert found is not None
    return found


def test_the_machine_is_proved_by_two_solvers() -> None:
    found = specification()
    results = prove_specification(replace(found, theorems=(), mutants=(), links=()), options=Options(workers=2))
    known = {result.name: result for result in results}
    for invariant in found.machines[0].invariants:
        assert (known[invariant.name].verdict, known[invariant.name].level) == (Verdict.PROVED, Level.L3)
    assert [result.name for result in results if not result.expected] == []


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
    assert {mutant.name for mutant in found.mutants if mutant.subject == "lamport_mutex"} == set(SHORTEST)


@dataclass
class Seen:
    """What a random run shows. Happens-before is by its definition: the past of an event is a set of events."""

    releases: int = 0
    related: int = 0
    """Releases of a request that happens before one that is open."""
    overtaken: int = 0
    """Releases of a request while one that happens before it is open."""
    past: list[frozenset[int]] = field(default_factory=lambda: [frozenset()] * PROCESSES)
    """Of each process, the events that happen before its next one."""
    open: dict[int, tuple[int, frozenset[int]]] = field(default_factory=dict)
    """The open request of a process: the event, and its past."""


def random_run(protocol: ir.Protocol, seed: int) -> Seen:
    chance = random.Random(seed)
    inputs = tuple(ir.InputUse(name, (3,) * PROCESSES, ()) for name in ("request", "release"))
    others = tuple(tuple(q for q in range(PROCESSES) if q != p) for p in range(PROCESSES))
    system = System(protocol, ir.Workload(PROCESSES, (0,) * PROCESSES, others, inputs=inputs))
    state, seen = system.initial(), Seen()
    channels: dict[tuple[int, int], deque[frozenset[int]]] = {}
    event = 0
    while actions := sorted(system.enabled(state)):
        action = chance.choice(actions)
        outcome = system.apply(state, action)
        event, p = event + 1, action.process
        if action.kind == "receive":
            seen.past[p] |= channels[system.packet(action.packet).src, p].popleft()
        if action.name == "request":
            seen.open[p] = (event, seen.past[p])
        if action.name == "release":
            own, past = seen.open.pop(p)
            first = [cause for cause, _ in seen.open.values() if cause in past]
            seen.releases += 1
            seen.overtaken += bool(first)
            seen.related += any(own in after for _, after in seen.open.values())
        seen.past[p] |= {event}
        for emission in outcome.emissions:
            if isinstance(emission, Sent):
                channels.setdefault((p, emission.to), deque()).append(seen.past[p])
        state = outcome.state
    return seen


def test_requests_are_served_in_the_order_of_happens_before() -> None:
    runs = [random_run(specification().protocols[0], seed) for seed in range(20)]
    assert sum(run.releases for run in runs) == 20 * 3 * PROCESSES
    assert sum(run.related for run in runs) > 100
    assert sum(run.overtaken for run in runs) == 0


def test_without_clocks_that_follow_they_are_not() -> None:
    mutant = next(mutant for mutant in specification().mutants if mutant.name == "deaf")
    assert isinstance(mutant.mutated, ir.Protocol)
    runs = [random_run(mutant.mutated, seed) for seed in range(100)]
    assert any(run.overtaken for run in runs)
