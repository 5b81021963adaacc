"""What a scope has where nobody says so: processes, messages, destinations, values of inputs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import assert_never

from thence.dsl import ir
from thence.dsl.check.workloads.kind import kind_of
from thence.dsl.ir.types import PROCESS

DEFAULT_PROCESSES = 3
DEFAULT_SENDS = 1

MOST_MULTICAST = 8
"""Processes whose every set of destinations is explored where a multicast scope does not name the sets."""

ANY_NUMBER = (0, 1)
"""The values of an input's parameter of type nat where the scope names none."""


def domain(type_: str, processes: int) -> tuple[int, ...]:
    """The values of an input's parameter of this type where the scope names none."""
    match type_:
        case "process":
            return tuple(range(processes))
        case "bool":
            return (False, True)
        case _:
            return ANY_NUMBER


def all_choices(processes: int, delivery: ir.Delivery, to_itself: bool) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each process every set of destinations that a message may have, if the scope does not narrow it down."""
    everyone = range(processes)
    found: list[tuple[tuple[int, ...], ...]] = []
    for process in everyone:
        others = tuple(other for other in everyone if to_itself or other != process)
        match delivery:
            case "unicast":
                found.append(tuple((other,) for other in others))
            case "multicast":
                sizes = range(1, len(others) + 1)
                found.append(tuple(choice for size in sizes for choice in combinations(others, size)))
            case "broadcast":
                found.append((others,) if others else ())
            case _:
                assert_never(delivery)
    return tuple(found)


def default_sends(processes: int) -> tuple[int, ...]:
    """How many messages each process sends where nobody says so: the first two, the others one.

    With three processes that is the least that can violate causal order in unicast: two messages of one process, and
    one of a process that has been handed the second.
    """
    return tuple(DEFAULT_SENDS + (process == 0) for process in range(processes))


def default_workloads(protocol: ir.Protocol) -> tuple[ir.Workload, ...]:
    """The scopes of a protocol for which nobody states one.

    Three processes, without faults of the network; and, where the protocol has timers or its network loses or
    duplicates, two processes of which one sends two messages, each fault once, and timers that fire once at any moment.
    There are more processes where a role is another one.
    """
    network = protocol.network
    least = least_processes(protocol)
    timers = any(handler.event == "periodically" for handler in protocol.handlers)
    plain = workload_for(protocol, default_sends(max(DEFAULT_PROCESSES, least)))
    if not (network.lossy or network.duplicating or timers):
        return (plain,)
    faulty = replace(
        workload_for(protocol, (2, *(0,) * (max(2, least) - 1))),
        duplicates=int(network.duplicating),
        losses=int(network.lossy),
        ticks=1 if timers else None,
    )
    return plain, faulty


def least_processes(protocol: ir.Protocol) -> int:
    """As many processes as the protocol has at least: its roles are among them."""
    return 1 + max((one.value for one in protocol.constants if one.type == PROCESS), default=0)


def workload_for(protocol: ir.Protocol, sends: tuple[int, ...], inputs: int = 1) -> ir.Workload:
    """So many messages of each process, to any other, where the application sends any; and each input so often."""
    if not protocol.sends:
        sends = (0,) * len(sends)
    count = len(sends)
    uses = [
        ir.InputUse(
            name, (inputs,) * count, tuple((parameter, domain(type_, count)) for parameter, type_ in parameters)
        )
        for name, parameters in kind_of(protocol).inputs
    ]
    choices = all_choices(len(sends), protocol.delivery, False)
    destinations = tuple(tuple(sorted({one for choice in each for one in choice})) for each in choices)
    return ir.Workload(
        len(sends), sends, destinations, groups=() if protocol.delivery == "unicast" else choices, inputs=tuple(uses)
    )
