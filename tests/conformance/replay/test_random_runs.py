"""Runs of protocols that nobody wrote are runs of these protocols, whatever the recording leaves out.

A protocol is drawn, then a run of it, seen from outside: all arrivals, none, or those of some messages, in the order in
which they happened or in none. None may be refused. With an event that the run does not have some are: the comparison
can fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.proofs.random_choices import with_choices
from tests.proofs.test_random_protocols import Draw

from thence.conformance.replay.partial_observation import PartialObservationReplay
from thence.dsl import ir
from thence.dsl.ir.properties import FAULT
from thence.dsl.load import load_bytes
from thence.dsl.run.narrate import NarratedStep, execution
from thence.dsl.run.system import System
from thence.spec.events import Deliver, Execution, Receive, Send

MOST_STEPS = 14
MOST_STATES = 3_000
FOUND_AT = (42, 235, 262, 369, 424, 443, 629, 769)
"""Seeds of runs that were refused: a copy of a packet that was lost on a channel that keeps its order; a timer that
mattered when it had fired twice; second deliveries without an arrival in the log."""


def drawn(seed: int) -> tuple[ir.Protocol, ir.Workload]:
    draw = Draw(seed)
    text = draw.text() if seed % 3 else with_choices(draw.text(), seed)
    specification = load_bytes(Path("drawn.thence"), text.encode()).specification
    assert specification is not None
    (protocol,) = specification.protocols
    return protocol, replace(draw.workload(protocol), sending=ir.Finite(), constants=())


def seen(system: System, draw: Random) -> Execution:
    """A run, as an outside observer sees it."""
    state, steps = system.initial(), list[NarratedStep]()
    for _ in range(draw.randrange(1, MOST_STEPS)):
        enabled = list(system.enabled(state))
        if not enabled:
            break
        action = draw.choice(enabled)
        outcome = system.apply(state, action)
        if any(finding.property == FAULT for finding in outcome.findings):
            break
        steps.append(NarratedStep("", (), action, outcome))
        state = outcome.state
    return execution(system, steps)


def recordings(whole: Execution, draw: Random) -> Iterator[Execution]:
    """With all arrivals, with none, and with those of some messages at some processes."""
    arrivals = {(event.process, event.message) for event in whole.events if isinstance(event, Receive)}
    some = {each for each in sorted(arrivals) if draw.random() < 0.5}
    for kept in (arrivals, set[tuple[int, str]](), some):
        events = (
            each for each in whole.events if not isinstance(each, Receive) or (each.process, each.message) in kept
        )
        yield Execution(whole.processes, tuple(events))


def verdicts(seed: int, *, more: bool = False) -> Iterator[str]:
    """The verdicts on recordings of three runs; `more`: of a message that was sent, there is a delivery more."""
    protocol, workload = drawn(seed)
    draw = Random(seed)
    for _ in range(3):
        whole = seen(System(protocol, workload), draw)
        sent = sorted({event.message for event in whole.events if isinstance(event, Send)})
        for recorded in recordings(whole, draw) if whole.events else ():
            if more and sent:
                last = Deliver(draw.randrange(whole.processes), draw.choice(sent))
                recorded = Execution(whole.processes, (*recorded.events, last))
            replay = PartialObservationReplay(protocol, whole.processes, most_states=MOST_STATES)
            for ordered in (True, False):
                yield replay.judge(recorded, replay.conditions(recorded, ordered=ordered)).verdict


@pytest.mark.parametrize("seed", FOUND_AT)
def test_what_was_refused_is_not(seed: int) -> None:
    assert "nonconforming" not in verdicts(seed)


@pytest.mark.parametrize("seeds", [range(start, start + 10) for start in range(0, 60, 10)], ids=str)
def test_no_run_of_a_protocol_is_refused(seeds: range) -> None:
    happened: Counter[str] = Counter()
    for seed in seeds:
        found = Counter(verdicts(seed))
        assert not found["nonconforming"], seed
        happened += found
    assert happened["conforming"] > 10 * happened["unknown"]
    assert happened["conforming"] > 50


@pytest.mark.parametrize("seeds", [range(2, 8), range(8, 14)], ids=str)
def test_a_delivery_more_is_refused_often(seeds: range) -> None:
    happened = Counter(verdict for seed in seeds for verdict in verdicts(seed, more=True))
    assert happened["nonconforming"] > happened["conforming"]
