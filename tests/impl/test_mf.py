"""The buffer protocol of Mattern and Fünfrocken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.mf import MF, Ack, Msg


def test_one_message_is_on_its_way_at_a_time() -> None:
    process = MF(0, 3)
    assert process.causal_send(1, "a") == [Send(1, Msg("a"))]
    assert process.causal_send(2, "b") == []
    assert process.causal_send(1, "c") == []
    assert process.receive(1, Ack()) == [Send(2, Msg("b"))]
    assert process.receive(2, Ack()) == [Send(1, Msg("c"))]
    assert process.receive(1, Ack()) == []
    assert process.causal_send(2, "d") == [Send(2, Msg("d"))]


def test_an_arriving_message_is_acknowledged_and_delivered() -> None:
    process = MF(1, 2)
    process.causal_send(0, "mine")
    assert process.receive(0, Msg("yours")) == [Send(0, Ack()), Deliver(0, "yours")]


def test_both_may_send_first_where_synchronous_communication_deadlocks() -> None:
    """Figures 1 and 3."""
    one, two = MF(0, 2), MF(1, 2)
    assert one.causal_send(1, "a") == [Send(1, Msg("a"))]
    assert two.causal_send(0, "b") == [Send(0, Msg("b"))]
    assert one.receive(1, Msg("b")) == [Send(1, Ack()), Deliver(1, "b")]
    assert two.receive(0, Msg("a")) == [Send(0, Ack()), Deliver(0, "a")]
    assert one.receive(1, Ack()) == two.receive(0, Ack()) == []


def test_only_the_awaited_acknowledgement_counts() -> None:
    process = MF(0, 3)
    with pytest.raises(ProtocolError, match="no acknowledgement is awaited"):
        process.receive(1, Ack())
    process.causal_send(1, "a")
    process.causal_send(2, "b")
    with pytest.raises(ProtocolError, match="process 1's is awaited"):
        process.receive(2, Ack())
    assert process.receive(1, Ack()) == [Send(2, Msg("b"))]


def test_a_message_to_oneself_takes_the_way_over_the_network() -> None:
    process = MF(0, 2)
    assert process.causal_send(0, "a") == [Send(0, Msg("a"))]
    assert process.causal_send(1, "b") == []
    assert process.receive(0, Msg("a")) == [Send(0, Ack()), Deliver(0, "a")]
    assert process.receive(0, Ack()) == [Send(1, Msg("b"))]


@pytest.mark.parametrize("channel", [{}, {"self_sends": True}, {"reactive": True}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    delivered = 0
    for seed in range(1000):
        outcome = simulate(MF, seed, processes=2 + seed % 4, **channel)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.packets["ACK"] == outcome.packets["MSG"] == outcome.delivered == outcome.sent
        delivered += outcome.delivered
    assert delivered >= 10_000
