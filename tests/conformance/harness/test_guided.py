"""Scripts from provers and explorers, schedules from coverage."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from faults import FAULTS
from faults.rst import MergeDiscarded

from thence.conformance.cases.network import Network, Settings
from thence.conformance.cases.schedule import ScheduleError, Send
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.coverage import CoveredReplay
from thence.conformance.harness.distinguishing import distinguishing
from thence.conformance.harness.guide import Guide
from thence.conformance.harness.guided import (
    BUILT_IN,
    COUNTERMODELS,
    DELIVERED,
    HEARD_FORGOTTEN,
    LEARNED_FORGOTTEN,
    OWN_FORGOTTEN,
    SENT,
    TRIANGLE,
    Corpus,
    Script,
    grown,
    guided,
    portfolio,
    script_of,
)
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.systems.protocol_subject import ProtocolSystem
from thence.dsl import ir
from thence.dsl.load import load
from thence.impl import commands
from thence.impl.rst import RST
from thence.proofs.prove import prove_specification
from thence.spec.events import Deliver, Execution
from thence.spec.events import Send as SendEvent

Library = Callable[[str], ir.Protocol]


def canonical(script: Any) -> Any:
    """A script with processes in the order in which they appear."""
    names: dict[int, int] = {}

    def name(process: int) -> int:
        return names.setdefault(process, len(names))

    return [
        (kind, name(process), tuple(map(name, other)) if kind == SENT else other) for kind, process, other in script
    ]


@pytest.mark.parametrize("theorem", COUNTERMODELS)
def test_the_built_in_scripts_are_what_the_prover_finds(theorem: str) -> None:
    specification = load("execution").specification
    assert specification is not None
    [result] = prove_specification(specification, [theorem])
    found = result.facts["counterexample"]
    events: list[Any] = []
    for event in found["events"]:
        if event["event"] == "send":
            events.append(SendEvent(event["process"], event["message"], tuple(event["destinations"])))
        elif event["event"] == "deliver":
            events.append(Deliver(event["process"], event["message"]))
    script = script_of(Execution(found["processes"], tuple(events)))
    assert canonical(script) == canonical(COUNTERMODELS[theorem])


def test_a_script_is_brought_about() -> None:
    """The triangle on a system that does not merge what it receives: causal order is broken at once."""
    scheduler = guided(Corpus((TRIANGLE,)))
    broken = sum("causal" in run_scheduled(MergeDiscarded, scheduler, seed, 8, Settings()).kinds for seed in range(40))
    assert broken > 20
    assert not any(run_scheduled(RST, scheduler, seed, 8, Settings()).findings for seed in range(40))


def test_counterexamples_of_mutants_become_scripts(library: Library) -> None:
    specification = load("rst").specification
    assert specification is not None
    corpus = distinguishing(specification, library("rst"))
    assert len(corpus.scripts) >= 5 <= len(corpus.schedules)
    for script in corpus.scripts:
        sends = 0
        for kind, _, other in script:
            sends += kind == SENT
            assert kind != DELIVERED or other < sends


@pytest.mark.parametrize(("name", "least"), [("rst", 4), ("hybrid_basic", 9), ("cbcast", 7), ("hybrid_multicast", 8)])
def test_counterexamples_of_the_explorer_show_the_fault_in_the_harness(name: str, least: int, library: Library) -> None:
    """Each as the schedule of its packets, timers, answers and faults, on the mutant that it refutes.

    Not those with another number of processes, those of properties that cannot be seen from outside, and messages to
    nobody.
    """
    specification = load(name).specification
    assert specification is not None
    settings = settings_for(library(name))
    own = settings.delivery == "unicast"
    settings = replace(settings, loss=True, duplication=True, self_sends=own)
    shown = 0
    for mutant in specification.mutants:
        corpus = distinguishing(replace(specification, mutants=(mutant,), scopes=()), library(name), 6_000)
        for schedule in corpus.schedules:
            assert isinstance(mutant.mutated, ir.Protocol)
            outcome = run_case(ProtocolSystem(mutant.mutated), schedule, settings)
            shown += outcome.operations == schedule and bool(outcome.findings)
    assert shown >= least


def test_growing_reaches_more_than_it_started_with_and_a_seed_fixes_it(library: Library) -> None:
    protocol = library("cykas")
    settings = settings_for(protocol)
    first = grown(protocol, settings, cases=120)
    assert first.coverage.cases == 120
    assert 5 < len(first.corpus.schedules) <= 120
    branches = first.coverage.to_json()["branches"]
    assert branches["reached"] == branches["there"]
    assert grown(protocol, settings, cases=120).corpus == first.corpus
    assert grown(protocol, settings, cases=120, seed=1).corpus != first.corpus


def test_the_guided_scheduler_reaches_more_abstract_states(library: Library) -> None:
    protocol = library("cykas")
    settings = settings_for(protocol)
    corpus = grown(protocol, settings, cases=300).corpus
    reached, system = {}, ProtocolSystem(protocol)
    for name, scheduler in portfolio(corpus).items():
        replay = CoveredReplay(protocol, 3)
        states: set[int] = set()
        for seed in range(120):
            outcome = run_scheduled(system, scheduler, seed, 12, settings, replay)
            states |= replay.reached(outcome).abstract
        reached[name] = len(states)
    assert reached["guided"] > max(count for name, count in reached.items() if name != "guided"), reached


@pytest.mark.parametrize("delivery", ["unicast", "multicast", "broadcast"])
def test_it_fits_every_delivery_and_number_of_processes(delivery: Any) -> None:
    for processes in (2, 3, 5):
        settings = Settings(processes, delivery=delivery)
        for seed in range(20):
            chosen = list(guided(BUILT_IN)(Random(seed), settings, Network(fifo=False), 10))
            sends = [operation for operation in chosen if isinstance(operation, Send)]
            assert sends and all(0 <= send.process < processes for send in sends)
            if delivery == "broadcast":
                assert all(send.destination is None for send in sends)


def test_a_corpus_is_json() -> None:
    corpus = Corpus((TRIANGLE,), ((Send(0, 1), Send(1, 2)),))
    assert Corpus.from_json(json.loads(json.dumps(corpus.to_json()))) == corpus
    assert (corpus + corpus) == corpus and not Corpus()


@pytest.mark.parametrize(
    "value",
    [
        None, [], {"scripts": []}, {"scripts": [], "schedules": [], "more": 1}, {"scripts": [[]], "schedules": []},
        {"scripts": [[["deliver", 0, 0]]], "schedules": []},
        {"scripts": [[["send", -1, [0]]]], "schedules": []}, {"scripts": [], "schedules": [[["fly", 1]]]},
        {"scripts": [[["send", 0, [True]]]], "schedules": []},
    ],
)  # fmt: skip
def test_what_is_no_corpus(value: object) -> None:
    with pytest.raises(ScheduleError):
        Corpus.from_json(value)


@pytest.mark.parametrize("name", ["rst", "ses"])
def test_a_merge_that_drops_what_is_absent_is_found_by_a_directed_schedule(name: str) -> None:
    fault = next(each for each in FAULTS[name] if each.__name__ == "AbsentDropped")
    for script in (OWN_FORGOTTEN, LEARNED_FORGOTTEN):
        assert "causal" in led(fault, script, Settings())


def led(system: Any, script: Script, settings: Settings) -> frozenset[str]:
    """The kinds of finding of a system that is led through the script."""
    scheduler = Guide(BUILT_IN).directed[BUILT_IN.scripts.index(script)]
    return run_scheduled(system, scheduler, 0, 12, settings).kinds


@dataclass(frozen=True)
class Told:
    message: str
    clock: tuple[tuple[int, int], ...]
    kind: str = "MSG"


class MapClock:
    """A broadcast whose clock is a map: of a merge, `keeps` says whether entries stay that the incoming clock lacks."""

    delivery = "broadcast"
    keeps = True

    def __init__(self, identity: int, processes: int) -> None:
        self.identity, self.processes = identity, processes
        self.count = 0
        self.seen: dict[int, int] = {}
        self.known: dict[int, int] = {}
        self.waiting: list[tuple[int, Told]] = []

    def causal_send(self, message: str) -> list[Any]:
        told = Told(message, tuple(sorted({**self.known, self.identity: self.count}.items())))
        self.count += 1
        self.known[self.identity] = self.count
        return [commands.Send(one, told) for one in range(self.processes) if one != self.identity]

    def receive(self, sender: int, packet: Told) -> list[Any]:
        self.waiting.append((sender, packet))
        delivered: list[Any] = []
        while ready := [one for one in self.waiting if self.is_next(dict(one[1].clock))]:
            source, told = ready[0]
            self.waiting.remove(ready[0])
            self.seen[source] = self.seen.get(source, 0) + 1
            came = {**dict(told.clock), source: self.seen[source]}
            merged = {one: max(self.known.get(one, 0), count) for one, count in came.items()}
            self.known = {**self.known, **merged} if self.keeps else merged
            delivered.append(commands.Deliver(source, told.message))
        return delivered

    def is_next(self, clock: dict[int, int]) -> bool:
        mine = {**self.seen, self.identity: self.count}
        return all(mine.get(one, 0) >= count for one, count in clock.items())


class Forgetting(MapClock):
    keeps = False


def test_the_same_of_a_broadcast_with_a_map() -> None:
    settings = Settings(delivery="broadcast")
    assert "causal" in led(Forgetting, HEARD_FORGOTTEN, settings)
    assert not any(led(MapClock, script, settings) for script in BUILT_IN.scripts)
