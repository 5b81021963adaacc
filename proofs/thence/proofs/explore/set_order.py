"""Whether steps depend on the order in which loops visit sets and maps: taken again in the opposite order."""

from __future__ import annotations

from itertools import groupby

from thence.dsl.ir.visiting import in_descending_order, ordered_loops
from thence.dsl.run.execute import Delivered, Emission, Sent
from thence.dsl.run.interpreter import Interpreter
from thence.dsl.run.system import System
from thence.dsl.run.values import Fault, Message


def order_matters(system: System) -> str | None:
    """A handler of which some step, of those that were taken, does something else in descending order; None if none.

    Packets that leave between two deliveries may leave in any order, but for those of one channel that keeps its order.
    """
    handlers = ordered_loops(system.protocol)
    if not handlers:
        return None
    other = Interpreter(in_descending_order(system.protocol), system.workload.processes, system.workload.tree)
    for process, before, cause, came in system.steps.taken():
        match cause:
            case Message():
                handler, reason = ("causal_send", None), cause
            case None:
                handler, reason = ("periodically", None), None
            case _:
                reason = system.packet(cause)
                handler = ("receive", reason.kind)
        if handler not in handlers:
            continue
        try:
            step = other.step(process, system.local(before), reason)
            there = step.state, _arranged(step.emissions, system)
        except Fault:
            there = None
        here = None if isinstance(came, Fault) else (system.local(came.state), _arranged(came.emissions, system))
        if here != there:
            return f"receive {handler[1]}" if handler[1] is not None else handler[0]
    return None


_Arranged = tuple[tuple[object, ...], ...]


def _arranged(emissions: tuple[Emission, ...], system: System) -> _Arranged:
    """The emissions in a normal form: equal for those with the same effect."""
    found: list[tuple[object, ...]] = []
    for delivering, group in groupby(emissions, lambda emission: isinstance(emission, Delivered)):
        parts = list(group)
        if delivering:
            found += [(part,) for part in parts]
            continue
        sent = [part for part in parts if isinstance(part, Sent)]
        if system.protocol.network.reordering:
            found.append(tuple(sorted(sent, key=lambda one: (one.to, one.kind, repr(one.arguments)))))
        else:
            found.append(tuple(sorted(sent, key=lambda one: one.to)))
    return tuple(found)
