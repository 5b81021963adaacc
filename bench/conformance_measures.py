"""Measures of driving implementations: cases a second, and the same by a state machine of Hypothesis.

A case has 3 processes and 12 operations. The rates are those of the default scheduler; a state machine of Hypothesis is
what a user would write instead, with the same subject, network and oracle.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from thence.conformance.cases.network import PER_MILLE, Settings
from thence.conformance.cases.schedule import React, Receive, Send, Tick
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.case import Case
from thence.conformance.harness.drain import drain
from thence.conformance.harness.harness import run_scheduled
from thence.conformance.implementations import SHIPPED
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.subject import MakeProcess, load_subject
from thence.dsl.find import named_protocol
from thence.spec.collector import collector_seldom

REPEATS = 5
CASES = 1_500
MACHINE_CASES = 150
OPERATIONS = 12
PROCESSES = 3


def rate(name: str, *, replayed: bool) -> float:
    """Cases a second of processor time, by a protocol's implementation: the median of five runs, after a warm one. The
    collector looks as seldom as in `thence conform`."""
    with collector_seldom():
        return _rate(name, replayed=replayed)


def _rate(name: str, *, replayed: bool) -> float:
    protocol = named_protocol(name)
    allowed, make = settings_for(protocol, PROCESSES), load_subject(SHIPPED[name]).make_process
    replay = Replay(protocol, PROCESSES) if replayed else None
    scheduler = next(iter(SCHEDULERS.values()))
    rates = []
    for turn in range(REPEATS + 1):
        started = time.process_time()
        for seed in range(turn * CASES, (turn + 1) * CASES):
            outcome = run_scheduled(make, scheduler, seed, OPERATIONS, allowed, replay)
            assert not outcome.findings
        rates.append(CASES / (time.process_time() - started))
    return statistics.median(rates[1:])


def state_machine(make: MakeProcess, allowed: Settings) -> tuple[type[RuleBasedStateMachine], list[int]]:
    """A rule for each kind of operation, as one would write it; and how many cases have run."""
    process = st.integers(0, allowed.processes - 1)
    distance = st.integers(1, allowed.processes - 1)
    done = [0]

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.case = Case(allowed)
            self.case.start(make)

        @rule(source=process, to=distance)
        def send(self, source: int, to: int) -> None:
            self.case.perform(Send(source, (source + to) % allowed.processes))

        @rule(source=process, to=distance)
        def answer(self, source: int, to: int) -> None:
            self.case.perform(React(source, (source + to) % allowed.processes))

        @rule(position=st.integers(0, PER_MILLE - 1))
        def receive(self, position: int) -> None:
            self.case.perform(Receive(position))

        @rule(source=process)
        def tick(self, source: int) -> None:
            self.case.perform(Tick(source))

        def teardown(self) -> None:
            drain(self.case)
            done[0] += 1
            assert not self.case.outcome().findings

    return Machine, done


def machine_rate(name: str) -> float:
    """Cases a second of the state machine, oracle alone: the median of five runs."""
    allowed, make = settings_for(named_protocol(name), PROCESSES), load_subject(SHIPPED[name]).make_process
    rates = []
    for _ in range(REPEATS):
        machine, done = state_machine(make, allowed)
        limits: Any = settings(
            max_examples=MACHINE_CASES, stateful_step_count=OPERATIONS, database=None, deadline=None,
            derandomize=True, suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        started = time.perf_counter()
        run_state_machine_as_test(machine, settings=limits)
        rates.append(done[0] / (time.perf_counter() - started))
    return statistics.median(rates)


def rates(name: str) -> str:
    return f"{rate(name, replayed=False):,.0f} cases/s with the oracle, {rate(name, replayed=True):,.0f} with replay"


def compared(name: str) -> str:
    ours, theirs = rate(name, replayed=False), machine_rate(name)
    return f"{ours:,.0f} cases/s, a Hypothesis state machine {theirs:,.0f}: {ours / theirs:.1f} times"


MEASURES: dict[str, Callable[[], str]] = {
    **{f"cases-{name}": (lambda name=name: rates(name)) for name in SHIPPED},
    "cases-against-state-machine": lambda: compared("mf"),
    "cases-against-state-machine-hybrid_basic": lambda: compared("hybrid_basic"),
}
