"""The network of the harness."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.conformance.network import PER_MILLE, Flight, Network, Settings

CHANNELS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12)


def network_of(channels: list[tuple[int, int]], *, fifo: bool) -> Network:
    network = Network(fifo=fifo)
    for number, (source, destination) in enumerate(channels):
        network.flights.append(Flight(source, destination, number, -1))
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
