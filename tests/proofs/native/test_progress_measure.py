"""A measure of progress: what it sums, and that every step makes it larger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record
from thence.dsl.run.actions import State
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Value
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.progress_measure import DUPLICATES, LOSSES, SENDS, Measure, NoMeasure, sizes, width

Library: TypeAlias = Callable[[str], ir.Specification]
Specify: TypeAlias = Callable[[str], ir.Specification]

PAIR = Record("pair", (("count", NAT), ("open", BOOL)))
EXAMPLES: list[tuple[object, Value, tuple[int, ...]]] = [
    (NAT, 5, (5,)),
    (BOOL, True, (1,)),
    (PROCESS, 2, ()),
    (PAIR, (4, False), (4, 0)),
    (Collection("option", NAT), None, (0, 0)),
    (Collection("option", NAT), (7,), (1, 7)),
    (Collection("set", PROCESS), frozenset({0, 2}), (2,)),
    (Collection("queue", PAIR), ((1, True), (2, True)), (2, 3, 2)),
    (Collection("queue", MESSAGE), (Message(0, 0, (1,)),), (1,)),
    (Collection("sliding array", NAT), (3, (4, 5)), (3, 2, 9)),
    (Collection("sliding map", NAT), (3, ((1, 4), (2, 5))), (3, 2, 9)),
    (Map(PROCESS, Collection("queue", NAT)), ((0, (1, 2)), (2, (3,))), (2, 3, 6)),
]


@pytest.mark.parametrize(("kind", "value", "expected"), EXAMPLES)
def test_sizes(kind: object, value: Value, expected: tuple[int, ...]) -> None:
    assert sizes(value, kind) == expected  # type: ignore[arg-type]
    assert width(kind) == len(expected)  # type: ignore[arg-type]


def explored(protocol: ir.Protocol, workload: ir.Workload) -> System:
    """A system of which the interpreter knows every step."""
    system = System(protocol, workload)
    assert Interpretation(ExplorationRequest(system, frozenset({"causal"}))).run().complete
    return system


@pytest.mark.parametrize("name", ["cykas", "mf", "rst", "cbcast"])
def test_every_transition_is_progress(library: Library, name: str) -> None:
    """Of every state that is reachable, by all actions, faults of the network included where they are allowed."""
    duplicates, losses = (2, 1) if name == "mf" else (0, 0)
    protocol = library(name).protocols[0]
    others = ((1,), (0,))
    groups = (((1,),), ((0,),)) if name == "cbcast" else ()
    workload = ir.Workload(2, (2, 1), others, groups=groups, duplicates=duplicates, losses=losses)
    system = explored(protocol, workload)
    measure = Measure(system)
    weights = measure.weights

    def level(state: State) -> int:
        found = measure.start + sum(measure.of_local(number) for number in state.locals)
        found += sum(measure.of_packet(number) for number in state.network)
        found += weights[SENDS] * sum(state.sends)
        return found + weights[DUPLICATES] * state.duplicates + weights[LOSSES] * state.losses

    initial = system.initial()
    assert level(initial) == 0
    seen, left = {initial}, [initial]
    while left:
        state = left.pop()
        for action in system.enabled(state):
            outcome = system.apply(state, action)
            if any(finding.property == "fault" for finding in outcome.findings):
                continue
            assert level(outcome.state) > level(state), action
            if outcome.state not in seen:
                seen.add(outcome.state)
                left.append(outcome.state)
    assert len(seen) > 20


ECHO = """
protocol echo:
  message MSG(m: message) carries m
  message PING()
  state:
    n: nat
  on causal_send(m):
    send MSG(m) to m.dst
    send PING() to m.dst
  on receive MSG(m) from j:
    deliver m
  on receive PING() from j:
    CHANGE
  property causal
"""


def test_steps_that_come_back(specify: Specify) -> None:
    """An answer to an answer is no progress, unless something grows with it."""
    workload = ir.Workload(2, (1, 0), ((1,), ()))
    growing = specify(ECHO.replace("CHANGE", "n := n + 1")).protocols[0]
    assert Measure(explored(growing, workload)).weights[SENDS] >= 1
    circling = System(specify(ECHO.replace("CHANGE", "send PING() to j")).protocols[0], workload)
    Interpretation(ExplorationRequest(circling, frozenset({"causal"}), limit=50)).run()
    with pytest.raises(NoMeasure, match="no sum of what is sent"):
        Measure(circling)


def test_weights_change_with_what_is_seen(specify: Specify) -> None:
    workload = ir.Workload(2, (1, 0), ((1,), ()))
    system = System(specify(ECHO.replace("CHANGE", "send PING() to j")).protocols[0], workload)
    measure = Measure(system)
    initial = system.initial()
    after = system.apply(initial, next(iter(system.enabled(initial)))).state
    asked = 0
    for process, before, cause, came in system.steps.taken():
        assert not isinstance(came, Fault)
        assert process == 0
        measure.see(before, cause, *came)
        asked += 1
    assert (asked, measure.changed) == (1, True)
    ping = next(number for number in after.network if system.packet(number).kind == "PING")
    answer = system.apply(after, next(action for action in system.enabled(after) if action.packet == ping))
    assert answer.state != after
    *_, (_, before, cause, came) = system.steps.taken()
    assert not isinstance(came, Fault)
    with pytest.raises(NoMeasure, match="`receive PING`"):
        measure.see(before, cause, *came)
