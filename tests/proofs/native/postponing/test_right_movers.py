"""What has to come before a step, against all orders of the postponed steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.system import State, System
from thence.dsl.run.values import Message
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.postponing.effects import Effects, LocalPlace
from thence.proofs.native.postponing.plans import Plans
from thence.proofs.native.postponing.right_movers import Postponed, Sequence, without
from thence.proofs.native.postponing.transitions import PostponedTransitions

Library: TypeAlias = Callable[[str], ir.Specification]
Outcome: TypeAlias = tuple[LocalPlace, tuple[int, ...], tuple[Message, ...]]
"""Where steps lead, the packets that they emit, in ascending order, and what they deliver."""

WORKLOAD = ir.Workload(3, (2, 1, 0), ((1, 2), (0, 2), (0, 1)))


def taken(effects: Effects, place: LocalPlace, sequence: Sequence) -> Outcome | None:
    """What becomes of steps one after the other; nothing where one of them is a fault."""
    packets: list[int] = []
    delivered: list[Message] = []
    for step in sequence:
        effect = effects.effect(place, step)
        if effect.fault:
            return None
        place = effect.after
        for one in effect.emitted:
            if isinstance(one, Message):
                delivered.append(one)
            else:
                packets.append(one)
    return place, tuple(sorted(packets)), tuple(delivered)


def all_orders(effects: Effects, place: LocalPlace, arrivals: tuple[int, ...]) -> Iterator[Sequence]:
    """All that is postponed at a process, in every order; the empty sequence first."""
    yield ()
    for step in (*effects.sends_at(place), *dict.fromkeys(arrivals)):
        effect = effects.effect(place, step)
        if effect.fault:
            continue
        for longer in all_orders(effects, effect.after, without(arrivals, step)):
            yield (step, *longer)


def rest(whole: Sequence, part: Sequence) -> Sequence | None:
    """What is left of a sequence without the steps of another, if it has them."""
    left = list(whole)
    for step in part:
        if step not in left:
            return None
        left.remove(step)
    return tuple(left)


def postponed_in(system: System, plans: Plans, state: State) -> Iterator[tuple[Postponed, int]]:
    """What is postponed at the receiver of each packet in flight, and the packet's arrival."""
    transitions = PostponedTransitions(system, plans)
    for number in dict.fromkeys(state.network):
        yield transitions.postponed(state, system.packet(number).dst), plans.effects.inputs.arrival(number)


@pytest.mark.parametrize(
    ("name", "some_is_needed"),
    [("client_server", False), ("cykas", True), ("hybrid_basic", True), ("mf", False), ("rst", True)],
)
def test_what_comes_before(library: Library, name: str, some_is_needed: bool) -> None:
    """Some sequence that is given comes before the step, and whatever else was to come before it, after it."""
    system = System(library(name).protocols[0], WORKLOAD)
    request = ExplorationRequest(
        system, frozenset(("causal", "delivered")), reductions=frozenset(("delay",)), limit=2_000
    )
    engine = NativeEngine(request)
    engine.run(Sample().capacity)
    assert engine.search is not None
    plans = engine.search.table.plans
    assert plans is not None
    movers, effects = plans.movers, plans.effects
    interpretation = Interpretation(request)
    interpretation.run()
    asked = {each for state in interpretation.origins for each in postponed_in(system, plans, state)}
    needed = 0
    for postponed, arrival in asked:
        given = [(), *movers.prerequisites(postponed, arrival)]
        needed += len(given) - 1
        for order in all_orders(effects, postponed.place, without(postponed.arrivals, arrival)):
            wanted = taken(effects, postponed.place, (*order, arrival))
            found = (
                taken(effects, postponed.place, (*part, arrival, *others))
                for part in given
                if (others := rest(order, part)) is not None
            )
            assert wanted in found, (postponed, order, arrival)
    assert asked
    assert bool(needed) == some_is_needed
