"""Counted implementations do what the others do, and the counter counts what C code walks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from thence.conformance.costs.meter import Metered
from thence.conformance.implementations import SYSTEMS


def drive(group: list[Any]) -> list[str]:
    """A run of a group, oldest packet first, as text."""
    delivery = getattr(group[0], "delivery", "unicast")
    flights: list[tuple[int, int, Any]] = []
    log: list[str] = []

    def carry_out(process: int, commands: Any) -> None:
        for command in commands:
            log.append(f"{process}: {command!r}")
            if hasattr(command, "packet"):
                flights.append((process, command.destination, command.packet))

    for number in range(30):
        process, to = number % 4, (number + 1 + number % 3) % 4
        if not getattr(group[process], "blocked", False) and process != to:
            words = {"unicast": (to, number), "multicast": (frozenset({to}), number), "broadcast": (number,)}[delivery]
            carry_out(process, group[process].causal_send(*words))
        while flights and number % 3 == 2:
            source, destination, packet = flights.pop(0)
            carry_out(destination, group[destination].receive(source, packet))
        carry_out(process, group[process].tick())
    return log


@pytest.mark.parametrize("impl", SYSTEMS.values(), ids=SYSTEMS)
def test_a_counted_implementation_does_the_same(impl: str) -> None:
    module, _, name = impl.partition(":")
    metered = Metered()
    counted = getattr(metered.load(module), name)
    plain = getattr(import_module(module), name)
    assert counted is not plain
    before = metered.meter.count
    log = drive([counted(identity, 4) for identity in range(4)])
    assert log == drive([plain(identity, 4) for identity in range(4)])
    assert any("Deliver" in line for line in log)
    assert metered.meter.count > before


def test_what_builtins_walk_is_counted() -> None:
    meter = Metered().meter
    for function, arguments, least in (
        (tuple, ([0] * 50,), 50),
        (max, ([1] * 50,), 50),
        (list(range(50)).count, (3,), 50),
        (bytearray(50).find, (1,), 50),
        (len, ([0] * 50,), 1),
        ([0].append, (1,), 1),
    ):
        before = meter.count
        meter.call(function, *arguments)
        assert least <= meter.count - before <= least + 1, function
    before = meter.count
    assert meter.compare("eq", (1,) * 50, (1,) * 50)
    assert meter.count - before == 51
    before = meter.count
    assert meter.compare("lt", 1, 2) and not meter.contains(1, {2})
    assert meter.count - before == 2
    before = meter.count
    assert meter.binary("lshift", 1, 640) == 1 << 640
    assert meter.count - before == 11
