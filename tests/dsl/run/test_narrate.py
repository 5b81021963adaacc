"""Runs as people read them, and as records that replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.narrate import NarratedStep, ReplayError, execution, record, replay, text
from thence.dsl.run.simulate import simulate
from thence.dsl.run.system import System
from thence.spec.events import Deliver, Receive, Send

Library: TypeAlias = Callable[[str], ir.Specification]

FAULTS = ir.Workload(3, (2, 2, 2), ((1, 2), (0, 2), (0, 1)), duplicates=2, losses=1, ticks=2)
NAMES = ["cykas", "mf", "rst", "hybrid_basic"]


def run_of(library: Library, name: str, seed: int = 1) -> tuple[System, tuple[NarratedStep, ...]]:
    system = System(library(name).protocols[0], FAULTS)
    return system, simulate(system, seed, 60)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_a_record_replays_to_the_same_run(library: Library, name: str, seed: int) -> None:
    system, steps = run_of(library, name, seed)
    recorded = json.loads(json.dumps(record(system, steps)))
    assert len(recorded) == len(steps) > 10
    again = System(system.protocol, system.workload)
    replayed = replay(again, recorded)
    assert text(replayed) == text(steps)
    assert record(again, replayed) == recorded
    assert execution(again, replayed) == execution(system, steps)


def test_all_kinds_of_steps_are_recorded(library: Library) -> None:
    kinds = set()
    for seed in range(8):
        system, steps = run_of(library, "hybrid_basic", seed)
        kinds |= {entry["action"] for entry in record(system, steps)}
    assert kinds == {"send", "receive", "tick", "duplicate", "lose"}


@pytest.mark.parametrize(
    "change",
    [
        {"process": 2},
        {"action": "tick"},
        {"action": "nonsense"},
        {"destinations": [0]},
        {"destinations": None},
    ],
)
def test_a_step_that_is_not_possible(library: Library, change: dict[str, Any]) -> None:
    system = System(library("mf").protocols[0], ir.Workload(2, (1, 0), ((1,), (0,))))
    recorded = [{"action": "send", "process": 0, "destinations": [1]} | change]
    with pytest.raises(ReplayError, match="step 1 is not possible here"):
        replay(system, recorded)


def test_the_first_impossible_step_is_named(library: Library) -> None:
    system, steps = run_of(library, "cykas")
    recorded = record(system, steps)
    at = next(number for number, entry in enumerate(recorded) if entry["action"] == "receive")
    with pytest.raises(ReplayError, match=f"step {at + 2} "):
        replay(system, [*recorded[: at + 1], recorded[at]])


def test_words_of_a_run(library: Library) -> None:
    """Only what changed, in the protocol's own names."""
    system = System(library("cykas").protocols[0], ir.Workload(3, (2, 0, 0), ((1, 2), (0,), (0,))))
    recorded: list[dict[str, Any]] = [
        {"action": "send", "process": 0, "destinations": [1]},
        {"action": "send", "process": 0, "destinations": [2]},
        {"action": "receive", "process": 2, "packet": "EAGER(m0.2)", "from": 0, "to": 2},
        {"action": "receive", "process": 0, "packet": "ACK()", "from": 2, "to": 0},
        {"action": "receive", "process": 1, "packet": "NORMAL(m0.1)", "from": 0, "to": 1},
        {"action": "receive", "process": 0, "packet": "ACK()", "from": 1, "to": 0},
        {"action": "receive", "process": 2, "packet": "YCT()", "from": 0, "to": 2},
    ]
    steps = replay(system, recorded)
    assert text(steps).splitlines() == [
        "1  p0: causal_send(m0.1) to p1",
        "     UNACK: {} -> {p1}",
        "     sends NORMAL(m0.1) to p1",
        "2  p0: causal_send(m0.2) to p2",
        "     UNACK: {p1} -> {p1, p2}",
        "     EAGER_SENT: [] -> [p2: <{p1}>]",
        "     sends EAGER(m0.2) to p2",
        "3  p2: receive EAGER(m0.2) from p0",
        "     MODE: 0 -> 1",
        "     delivers m0.2",
        "     sends ACK() to p0",
        "4  p0: receive ACK() from p2",
        "     UNACK: {p1, p2} -> {p1}",
        "5  p1: receive NORMAL(m0.1) from p0",
        "     delivers m0.1",
        "     sends ACK() to p0",
        "6  p0: receive ACK() from p1",
        "     UNACK: {p1} -> {}",
        "     EAGER_SENT: [p2: <{p1}>] -> []",
        "     sends YCT() to p2",
        "7  p2: receive YCT() from p0",
        "     MODE: 1 -> 0",
    ]
    assert execution(system, steps).events == (
        Send(0, "m0.1", (1,)),
        Send(0, "m0.2", (2,)),
        Receive(2, "m0.2", 0),
        Deliver(2, "m0.2"),
        Receive(1, "m0.1", 0),
        Deliver(1, "m0.1"),
    )
