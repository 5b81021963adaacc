"""The buffer protocol of Mattern and Fünfrocken with the improvement of its footnote 4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.mf_pipelined import Ack, MFPipelined, Msg


def test_messages_to_one_receiver_do_not_wait() -> None:
    process = MFPipelined(0, 3)
    assert process.causal_send(1, "a") == [Send(1, Msg("a"))]
    assert process.causal_send(1, "b") == [Send(1, Msg("b"))]
    assert process.causal_send(2, "c") == process.causal_send(2, "d") == process.causal_send(1, "e") == []
    assert process.receive(1, Ack()) == []
    assert process.receive(1, Ack()) == [Send(2, Msg("c")), Send(2, Msg("d"))]
    assert process.receive(2, Ack()) == []
    assert process.receive(2, Ack()) == [Send(1, Msg("e"))]


def test_an_arriving_message_is_acknowledged_and_delivered() -> None:
    assert MFPipelined(1, 2).receive(0, Msg("a")) == [Send(0, Ack()), Deliver(0, "a")]


def test_only_acknowledgements_that_are_awaited_count() -> None:
    process = MFPipelined(0, 3)
    with pytest.raises(ProtocolError, match="none is awaited"):
        process.receive(1, Ack())
    process.causal_send(1, "a")
    with pytest.raises(ProtocolError, match="process 1's is awaited"):
        process.receive(2, Ack())
    assert process.receive(1, Ack()) == []
    with pytest.raises(ProtocolError, match="none is awaited"):
        process.receive(1, Ack())


@pytest.mark.parametrize("channel", [{}, {"self_sends": True}, {"reactive": True}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    for seed in range(1000):
        outcome = simulate(MFPipelined, seed, processes=2 + seed % 4, fifo=True, **channel)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.packets["ACK"] == outcome.packets["MSG"] == outcome.delivered == outcome.sent
