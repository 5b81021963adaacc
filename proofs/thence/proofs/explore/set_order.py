"""Whether steps depend on the order in which loops visit sets and maps: taken again in the opposite order."""

from __future__ import annotations

from itertools import groupby
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.visiting import in_descending_order, ordered_loops
from thence.dsl.run.choices import Choices
from thence.dsl.run.execute import Delivered, Emission, Sent
from thence.dsl.run.interpreter import Cause, Interpreter
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message, Occurrence, Packet


def order_matters(system: System) -> str | None:
    """A handler of which some step, of those that were taken, does something else in descending order; None if none.

    Packets that leave between two deliveries may leave in any order, but for those of one channel that keeps its order.
    """
    handlers = ordered_loops(system.protocol)
    if not handlers:
        return None
    other = Interpreter(in_descending_order(system.protocol), system.workload.processes, system.workload.tree)
    for process, before, cause, script, came in system.steps.by_script():
        reason: Cause = system.packet(cause) if isinstance(cause, int) else cause
        handler = _handled(reason)
        if handler not in handlers:
            continue
        try:
            step = other.step(process, system.local(before), reason, choices=Choices(script))
            there = step.state, _arranged(step.emissions, system)
        except Fault:
            there = None
        here = None if isinstance(came, Fault) else (system.local(came.state), _arranged(came.emissions, system))
        if here != there:
            return f"{handler[0]} {handler[1]}" if handler[1] is not None else handler[0]
    return None


def _handled(cause: Cause) -> tuple[str, str | None]:
    """The handler, by event, and packet kind or timer."""
    match cause:
        case Message():
            return "causal_send", None
        case Packet():
            return "receive", cause.kind
        case Occurrence():
            return "periodically", None if cause.name == ir.PERIODICALLY else cause.name
        case _:
            assert_never(cause)


_Arranged = tuple[tuple[object, ...], ...]


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
