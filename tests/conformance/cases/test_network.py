"""The network of the harness."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.conformance.cases.network import PER_MILLE, Network, Settings

CHANNELS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12)


def network_of(channels: list[tuple[int, int]], *, fifo: bool) -> Network:
    network = Network(fifo=fifo)
    for number, (source, destination) in enumerate(channels):
        network.flights.append((source, destination, number, -1))
    return network


@settings(derandomize=True, deadline=None, max_examples=100)
@given(CHANNELS, st.booleans(), st.integers(0, PER_MILLE - 1))
def test_a_fraction_finds_a_packet_that_may_arrive(channels: list[tuple[int, int]], fifo: bool, position: int) -> None:
    network = network_of(channels, fifo=fifo)
    index = network.find(position, None)
    assert (index in network.receivable()) if channels else index == -1


@settings(derandomize=True, deadline=None, max_examples=100)
@given(CHANNELS)
def test_a_place_names_the_same_packet_again(channels: list[tuple[int, int]]) -> None:
    network = network_of(channels, fifo=False)
    for index in range(len(channels)):
        assert network.find(*network.place(index)) == index


def test_on_fifo_channels_only_the_oldest_packet_of_each_may_arrive() -> None:
    network = network_of([(0, 1), (0, 1), (1, 0), (0, 1), (1, 0), (2, 0)], fifo=True)
    assert network.receivable() == [0, 2, 5]
    assert network.find(0, (0, 1)) == 0
    assert network.find(1, (0, 1)) == -1
    assert network.find(0, (2, 1)) == -1
    assert [network.find(position, None) for position in (0, 333, 334, 999)] == [0, 0, 2, 5]


def test_settings_survive_json() -> None:
    given_settings = Settings(4, "fifo", duplication=True, loss=True, self_sends=True)
    assert Settings.from_json(given_settings.to_json()) == given_settings
    assert Settings.from_json({}) == Settings()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"processes": 0}, "at least one"),
        ({"processes": True}, "at least one"),
        ({"processes": "3"}, "at least one"),
        ({"processes": 1}, "nobody to send to"),
        ({"channels": "lifo"}, "fifo or reordering"),
        ({"loss": 1}, "loss is true or false"),
        ({"delivery": "anycast"}, "unicast, multicast, broadcast"),
        ({"total_order": 0}, "total_order is true or false"),
        ({"delay": 1}, "settings are an object"),
        ([], "settings are an object"),
    ],
)
def test_impossible_settings_are_refused(value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Settings.from_json(value)


def test_self_sends_are_a_setting() -> None:
    assert not Settings().allows(1, 1)
    assert Settings(self_sends=True).allows(1, 1)
    assert not Settings(self_sends=True).allows(1, 3)


@pytest.mark.parametrize(
    ("delivery", "self_sends", "destination", "expected"),
    [
        ("unicast", False, 1, (1,)),
        ("unicast", False, 0, ()),
        ("unicast", True, 0, (0,)),
        ("unicast", False, 3, ()),
        ("unicast", False, (1,), ()),
        ("unicast", False, None, ()),
        ("multicast", False, (1, 2), (1, 2)),
        ("multicast", False, (2, 1, 2), (1, 2)),
        ("multicast", False, 2, (2,)),
        ("multicast", False, None, (1, 2)),
        ("multicast", False, (0, 1), ()),
        ("multicast", False, (1, 3), ()),
        ("multicast", False, (), ()),
        ("multicast", True, (0, 1), (0, 1)),
        ("broadcast", False, None, (1, 2)),
        ("broadcast", False, 1, (1, 2)),
        ("broadcast", True, None, (0, 1, 2)),
    ],
)
def test_a_destination_means_what_the_delivery_allows(
    delivery: Any, self_sends: bool, destination: Any, expected: tuple[int, ...]
) -> None:
    allowed = Settings(delivery=delivery, self_sends=self_sends)
    assert allowed.destinations(0, destination) == expected
    assert allowed.destinations(3, destination) == ()
