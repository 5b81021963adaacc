"""Whether steps depend on the order in which loops visit sets and maps: taken again in every order.

NOTE(orders): a loop over a set of k elements has k! orders, and the orders of several loops of a step multiply. All are
taken, up to MOST_ORDERS for a step. Of a step with more, that many are: the ones that differ from the ascending order
in its last elements, and the descending order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.visiting import in_any_order, ordered_loops
from thence.dsl.run.choices import Choices, TooManyOutcomes, every_script
from thence.dsl.run.execute import Delivered, Emission, Sent
from thence.dsl.run.interpreter import Cause, Interpreter, LocalState
from thence.dsl.run.local_steps import GivenCause, LocalStep
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Occurrence, Packet

MOST_ORDERS = 720
"""Orders in which a step is taken: all those of one loop over six elements."""

_Arranged: TypeAlias = tuple[tuple[object, ...], ...]
_Effect: TypeAlias = tuple[LocalState, _Arranged] | None
"""What a step comes to; None: a fault."""


class _Last(Choices):
    """Takes the last alternative of each choice: loops are in descending order."""

    def _alternative(self, position: int, count: int) -> int:
        return count - 1


def order_matters(system: System) -> str | None:
    """A handler of which some step, of those that were taken, can do something else in another order; None if none.

    Packets that leave between two deliveries may leave in any order, but for those of one channel that keeps its order.
    See NOTE(orders).
    """
    handlers = ordered_loops(system.protocol)
    if not handlers:
        return None
    other = Interpreter(in_any_order(system.protocol), system.workload.processes, system.workload.tree)
    taken: dict[tuple[int, int, GivenCause], set[_Effect]] = {}
    for process, before, cause, came in system.steps.taken():
        if _handled(_reason(system, cause), system) in handlers:
            taken.setdefault((process, before, cause), set()).add(_effect_of(came, system))
    for (process, before, cause), effects in taken.items():
        reason = _reason(system, cause)
        for effect in _effects(other, system, process, system.local(before), reason):
            if effect not in effects:
                event, name = _handled(reason, system)
                return event if name is None else f"{event} {name}"
    return None


def _effects(other: Interpreter, system: System, process: int, before: LocalState, cause: Cause) -> Iterator[_Effect]:
    """What the step comes to in the orders that are tried."""
    found: list[_Effect] = []

    def run(choices: Choices) -> None:
        try:
            step = other.step(process, before, cause, choices=choices)
        except Fault:
            found.append(None)
        else:
            found.append((step.state, _arranged(step.emissions, system)))

    run(_Last())
    yield found.pop()
    scripts = islice(every_script(run), MOST_ORDERS)
    while True:
        try:
            if next(scripts, None) is None:
                return
        except TooManyOutcomes:
            return
        yield found.pop()


def _effect_of(came: LocalStep | Fault, system: System) -> _Effect:
    return None if isinstance(came, Fault) else (system.local(came.state), _arranged(came.emissions, system))


def _reason(system: System, cause: GivenCause) -> Cause:
    return system.packet(cause) if isinstance(cause, int) else cause


def _handled(cause: Cause, system: System) -> tuple[str, str | None]:
    """The handler, by event, and packet kind, timer or input."""
    match cause:
        case Message():
            return "causal_send", None
        case Packet():
            return "receive", cause.kind
        case Occurrence():
            if cause.name not in system.interpreter.timers:
                return "input", cause.name
            return "periodically", None if cause.name == ir.PERIODICALLY else cause.name
        case _:
            assert_never(cause)


def _arranged(emissions: tuple[Emission, ...], system: System) -> _Arranged:
    """The emissions in a normal form: equal for those with the same effect."""
    found: list[tuple[object, ...]] = []
    for delivering, group in groupby(emissions, lambda emission: isinstance(emission, Delivered)):
        parts = list(group)
        if delivering:
            found += [(part,) for part in parts]
            continue
        sent = sorted((part for part in parts if isinstance(part, Sent)), key=lambda one: one.to)
        if system.protocol.network.reordering:
            sent.sort(key=repr)
        found.append(tuple(sent))
    return tuple(found)
