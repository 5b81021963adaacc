"""What a scope leaves out of what the protocol declares, so that nothing that was not tried reads like success."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.ir.observability import OF_DELIVERIES, OF_NETWORK_SENDS
from thence.dsl.ir.properties import DELIVERED
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import Coverage, Exploration
from thence.proofs.liveness.lasso import LassoSearch

NO_DELIVERY = "no run delivers a message"
NO_STEP = "no run has a step"

LOSS, DUPLICATION, TIMERS, EARLY_TIMERS = "loss", "duplication", "timers", "early timers"


def not_tried(protocol: ir.Protocol, workload: ir.Workload) -> tuple[str, ...]:
    """The faults and timers that the protocol's text allows for, and that no run of the scope has.

    `timers` never fire with `ticks 0`. Without `ticks` they fire only when no packet is in flight: `early timers` are
    those that fire before. Where messages are sent for ever on reordering channels, timers fire at any moment anyway.
    """
    network = protocol.network
    found = [LOSS] if network.lossy and not workload.losses else []
    found += [DUPLICATION] if network.duplicating and not workload.duplicates else []
    limits = [workload.ticks_of(timer) for timer in protocol.timers]
    if 0 in limits:
        found.append(TIMERS)
    if None in limits and (workload.ends or not (network.reordering and not workload.fifo)):
        found.append(EARLY_TIMERS)
    return tuple(found)


def idle(protocol: ir.Protocol, workload: ir.Workload, property_: str, found: Coverage) -> str | None:
    """Why the runs of a whole search say nothing about the property; None if they do."""
    if workload.prompt and not any(kind.carries is not None for kind in protocol.packets):
        return "nothing is sent: messages go promptly, and no packet says which message it `carries`"
    if isinstance(found, Exploration | LassoSearch) and not found.transitions and property_ not in protocol.witnesses:
        return NO_STEP
    if isinstance(found, LassoSearch):
        return None if found.delivers else NO_DELIVERY
    if not isinstance(found, Exploration):
        return None
    if "rests" in found.never and any(formula.name == property_ for formula in protocol.rest):
        goes_on = "; a timer that goes on changing or sending something keeps a run from it" if protocol.timers else ""
        return f"no run comes to a state in which nothing can happen any more{goes_on}"
    if f"gives {property_}" in found.never:
        return "no run comes to a state in which the left side of `leads to` is true"
    if f"acts {property_}" in found.never and property_ not in protocol.witnesses:
        return "no run has an action that the formula is about"
    if property_ in (DELIVERED, *OF_DELIVERIES, *OF_NETWORK_SENDS) and "delivers" in found.never:
        return NO_DELIVERY
    return None


def kept_from_the_start(protocol: ir.Protocol, workload: ir.Workload, property_: str) -> str | None:
    """Why every run keeps the promise, whatever it does; None where it has to come to something, or is no promise."""
    if not any(promise.name == property_ and promise.given is None for promise in protocol.promises):
        return None
    system = System(protocol, workload)
    assert system.promises is not None
    owed = system.initial().owed & system.promises.of(property_)
    return None if owed else "it is true at the beginning, and asks nothing more; `P leads to Q` does"
