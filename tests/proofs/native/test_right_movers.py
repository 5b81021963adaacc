"""What has to come before a step, against all orders of what waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.system import State, System
from thence.dsl.run.values import Message
from thence.proofs.explore.exploration import Request
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.confluence import Place, Steps
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.postponing import CatchingUp
from thence.proofs.native.right_movers import Lateness, Sequence, Waiting, without
from thence.proofs.native.tables import StepTable

Library: TypeAlias = Callable[[str], ir.Specification]
Outcome: TypeAlias = tuple[Place, tuple[int, ...], tuple[Message, ...]]
"""Where steps lead, the packets that they emit, in ascending order, and what they deliver."""

WORKLOAD = ir.Workload(3, (2, 1, 0), ((1, 2), (0, 2), (0, 1)))


def taken(steps: Steps, place: Place, sequence: Sequence) -> Outcome | None:
    """What becomes of steps one after the other; nothing where one of them is a fault."""
    packets: list[int] = []
    delivered: list[Message] = []
    for step in sequence:
        effect = steps.effect(place, step)
        if effect.fault:
            return None
        place = effect.after
        for one in effect.emitted:
            if isinstance(one, Message):
                delivered.append(one)
            else:
                packets.append(one)
    return place, tuple(sorted(packets)), tuple(delivered)


def all_orders(steps: Steps, place: Place, arrivals: tuple[int, ...]) -> Iterator[Sequence]:
    """All that a process may catch up on, in every order; the empty sequence first."""
    yield ()
    for step in (*steps.sends_at(place), *dict.fromkeys(arrivals)):
        effect = steps.effect(place, step)
        if effect.fault:
            continue
        for longer in all_orders(steps, effect.after, without(arrivals, step)):
            yield (step, *longer)


def rest(whole: Sequence, part: Sequence) -> Sequence | None:
    """What is left of a sequence without the steps of another, if it has them."""
    left = list(whole)
    for step in part:
        if step not in left:
            return None
        left.remove(step)
    return tuple(left)


def waiting_in(system: System, table: StepTable, state: State) -> Iterator[tuple[Waiting, int]]:
    """What waits at the receiver of each packet in flight, and the packet's arrival."""
    catching_up = CatchingUp(system, table)
    for number in dict.fromkeys(state.network):
        yield catching_up.waiting(state, system.packet(number).dst), table.inputs.arrival(number)


@pytest.mark.parametrize(
    ("name", "some_is_needed"),
    [("client_server", False), ("cykas", True), ("hybrid_basic", True), ("mf", False), ("rst", True)],
)
def test_what_comes_before(library: Library, name: str, some_is_needed: bool) -> None:
    """Some sequence that is given comes before the step, and whatever else was to come before it, after it."""
    system = System(library(name).protocols[0], WORKLOAD)
    request = Request(system, frozenset(("causal", "delivered")), reductions=frozenset(("delay",)), limit=2_000)
    engine = NativeEngine(request, 1)
    engine.run(Sample().capacity)
    assert engine.search is not None
    table = engine.search.table
    lateness = table.lateness
    assert isinstance(lateness, Lateness)
    interpretation = Interpretation(request)
    interpretation.run()
    asked = {each for state in interpretation.origins for each in waiting_in(system, table, state)}
    needed = 0
    for waiting, arrival in asked:
        given = [(), *lateness.before(waiting, arrival)]
        needed += len(given) - 1
        for order in all_orders(lateness.steps, waiting.place, without(waiting.arrivals, arrival)):
            wanted = taken(lateness.steps, waiting.place, (*order, arrival))
            found = (
                taken(lateness.steps, waiting.place, (*part, arrival, *others))
                for part in given
                if (others := rest(order, part)) is not None
            )
            assert wanted in found, (waiting, order, arrival)
    assert asked
    assert bool(needed) == some_is_needed
