"""The portfolio of schedulers."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from thence.conformance.cases.network import Network, Settings
from thence.conformance.cases.schedule import Duplicate, Lose, Operation, React, Receive, Send, Tick
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.harness.harness import run_scheduled
from thence.impl.commands import Deliver
from thence.impl.commands import Send as Transmit
from thence.impl.mf import MF

EVERYTHING = Settings(loss=True, duplication=True)


def operations_of(name: str, seed: int, settings: Settings, count: int) -> list[Operation]:
    """The scheduler on a network where each send puts one packet in flight and each arrival takes it out."""
    network = Network(fifo=settings.channels == "fifo")
    chosen = []
    for operation in SCHEDULERS[name](Random(seed), settings, network, count):
        chosen.append(operation)
        match operation:
            case Send(process, destination):
                for receiver in settings.destinations(process, destination):
                    network.flights.append((process, receiver, None, -1))
            case Receive(position, channel):
                index = network.find(position, channel)
                assert index in network.receivable(), "a scheduler names packets that may arrive"
                del network.flights[index]
    return chosen


@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(channels="fifo"),
        Settings(5, self_sends=True),
        Settings(4, delivery="multicast"),
        Settings(delivery="multicast", self_sends=True),
        Settings(delivery="broadcast"),
    ],
    ids=str,
)
def test_operations_fit_the_settings_and_their_number(name: str, settings: Settings) -> None:
    for seed in range(30):
        chosen = operations_of(name, seed, settings, 12)
        assert 12 <= len(chosen) <= 24
        assert all(isinstance(operation, Receive) for operation in chosen[12:])
        for operation in chosen:
            assert not isinstance(operation, Duplicate | Lose)
            if isinstance(operation, Send | React):
                assert settings.destinations(operation.process, operation.destination)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_every_kind_of_operation_is_chosen(name: str) -> None:
    kinds: set[Any] = set()
    for seed in range(60):
        kinds |= {type(operation) for operation in operations_of(name, seed, EVERYTHING, 20)}
    assert kinds == {Send, React, Receive, Tick, Duplicate, Lose}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_seed_fixes_the_case(name: str) -> None:
    digests = [run_scheduled(MF, SCHEDULERS[name], seed, 12, Settings()).digest() for seed in (1, 2, 1)]
    assert digests[0] == digests[2] != digests[1]


def test_a_starved_channel_is_served_last() -> None:
    for seed in range(40):
        first, *others = operations_of("starve_one_channel", seed, Settings(), 20)
        assert isinstance(first, Send)
        starved = (first.process, first.destination)
        assert all(operation.channel != starved for operation in others if isinstance(operation, Receive))


class Hands:
    """Hands over whatever arrives, in the order in which it arrives."""

    def __init__(self, identity: int, processes: int) -> None:
        pass

    def causal_send(self, destination: int, message: str) -> list[Any]:
        return [Transmit(destination, SimpleNamespace(message=message, kind="MSG"))]  # type: ignore[arg-type]

    def receive(self, sender: int, packet: Any) -> list[Any]:
        return [Deliver(sender, packet.message)]


def test_priorities_reorder_packets_of_one_channel() -> None:
    """Each packet has a priority of its own, so that a younger one may go first."""
    two = Settings(2)
    found = [run_scheduled(Hands, SCHEDULERS["pct"], seed, 12, two).kinds for seed in range(60)]
    assert sum("fifo" in kinds for kinds in found) > 30
    in_order = Settings(2, channels="fifo")
    assert not any(run_scheduled(Hands, SCHEDULERS["pct"], seed, 12, in_order).kinds for seed in range(60))
