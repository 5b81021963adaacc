"""Each process by itself: what that refuses, no run of the protocol has, and refusals come sooner by it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from faults import FAULTS
from faults.hybrid_remembering import NoDuplicateFilter

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.implementations import SYSTEMS
from thence.conformance.replay.configuration import Conditions, Configuration
from thence.conformance.replay.each_alone import EachAlone
from thence.conformance.replay.observed_steps import ObservedSteps
from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.conformance.replay.process_logs import logs_of
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.subject import load_subject
from thence.dsl import ir
from thence.spec.events import Execution, Receive

Library = Callable[[str], ir.Protocol]

PROTOCOLS = ("fifo", "rst", "mf", "cykas", "cbcast", "ks", "hybrid_basic", "tree")


def refuses(replay: Replay, execution: Execution, settings: Settings) -> bool:
    logs = logs_of(execution)
    conditions = Conditions(
        replay.protocol.network.reordering,
        replay.protocol.network.duplicating or settings.duplication,
        replay.protocol.network.lossy or settings.loss,
        ordered=True,
    )
    steps = ObservedSteps(replay, logs, frozenset(replay.protocol.properties))
    return EachAlone(steps, Configuration(replay, logs, conditions)).refuses()


def some_wrong(execution: Execution, chance: random.Random) -> Iterator[Execution]:
    """The same with fewer arrivals, and with two events of a process in the other order."""
    kept = [event for event in execution.events if not isinstance(event, Receive) or chance.random() < 0.5]
    yield Execution(execution.processes, tuple(kept))
    for _ in range(3):
        events = list(kept)
        process = chance.randrange(3)
        own = [at for at, event in enumerate(events) if event.process == process]
        if len(own) > 1:
            at = chance.randrange(len(own) - 1)
            first, second = own[at], own[at + 1]
            events[first], events[second] = events[second], events[first]
            yield Execution(execution.processes, tuple(events))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_runs_of_a_protocol_are_not_refused(name: str, library: Library) -> None:
    protocol = library(name)
    settings, replay = settings_for(protocol), Replay(protocol, 3)
    for seed, scheduler in enumerate(SCHEDULERS.values()):
        outcome = run_scheduled(load_subject(SYSTEMS[name]).make_process, scheduler, seed, 10, settings)
        logged = outcome.execution
        assert not refuses(replay, logged, settings)
        sends_and_deliveries = tuple(event for event in logged.events if not isinstance(event, Receive))
        assert not refuses(replay, Execution(3, sends_and_deliveries), settings)


def test_what_is_refused_has_no_run(library: Library) -> None:
    """Against the search for a run, for planted faults and for events in another order."""
    refused = accepted = 0
    for name in ("hybrid_basic", "fifo"):
        protocol = library(name)
        partial, replay = PartialObservationReplay(protocol, 3, most_states=100), Replay(protocol, 3)
        for seed, fault in enumerate(FAULTS[name]):
            settings = replace(
                settings_for(protocol), loss="loss" in fault.NEEDS, duplication="duplication" in fault.NEEDS
            )
            scheduler = list(SCHEDULERS.values())[seed % len(SCHEDULERS)]
            outcome = run_scheduled(fault, scheduler, seed, 6, settings)
            if outcome.findings and any(finding.kind in ("crash", "phantom") for finding in outcome.findings):
                continue
            chance = random.Random(seed)
            for execution in (outcome.execution, *some_wrong(outcome.execution, chance)):
                try:
                    found = refuses(replay, execution, settings)
                except ValueError:  # events that are no execution
                    continue
                conditions = partial.conditions(execution, {"duplication": settings.duplication}, ordered=True)
                verdict = partial.judge(execution, conditions).verdict
                assert not (found and verdict == "conforming"), (name, fault, execution)
                refused += found
                accepted += verdict == "conforming"
    assert refused > 3 and accepted > 3


def test_a_verdict_is_that_of_the_answer_and_comes_sooner(library: Library) -> None:
    """A second delivery is no step of its process, so that the others' states need not be looked at."""
    protocol = library("hybrid_remembering")
    settings = replace(settings_for(protocol), duplication=True)
    decided = 0
    for seed in range(12):
        outcome = run_scheduled(NoDuplicateFilter, SCHEDULERS["uniform"], seed, 6, settings)
        if "duplicate" in outcome.kinds:
            little = PartialObservationReplay(protocol, 3, most_states=100)
            assert little.verdict(outcome) == "nonconforming"
            answer = little.answer(outcome)
            assert answer is not None and answer.verdict != "conforming"
            decided += 1
    assert decided
