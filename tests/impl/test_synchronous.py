"""Synchronous communication: causal, and it deadlocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.synchronous import Ack, Msg, Synchronous


def test_who_has_sent_is_blocked_until_the_message_is_delivered() -> None:
    one, two = Synchronous(0, 2), Synchronous(1, 2)
    assert one.causal_send(1, "a") == [Send(1, Msg("a"))]
    assert one.blocked
    with pytest.raises(ValueError, match="process 1 has not been acknowledged"):
        one.causal_send(1, "b")
    assert two.receive(0, Msg("a")) == [Deliver(0, "a"), Send(0, Ack())]
    assert one.receive(1, Ack()) == []
    assert not one.blocked
    assert one.causal_send(1, "b") == [Send(1, Msg("b"))]


def test_figure_1_deadlocks() -> None:
    one, two = Synchronous(0, 2), Synchronous(1, 2)
    one.causal_send(1, "a")
    two.causal_send(0, "b")
    assert one.receive(1, Msg("b")) == two.receive(0, Msg("a")) == []
    assert one.blocked and two.blocked


def test_what_arrives_meanwhile_is_accepted_afterwards_in_order() -> None:
    process = Synchronous(0, 3)
    process.causal_send(1, "a")
    assert process.receive(2, Msg("b")) == process.receive(1, Msg("c")) == []
    assert process.receive(1, Ack()) == [Deliver(2, "b"), Send(2, Ack()), Deliver(1, "c"), Send(1, Ack())]


def test_what_no_correct_peer_sends_and_no_application() -> None:
    process = Synchronous(0, 3)
    with pytest.raises(ProtocolError, match="none is awaited"):
        process.receive(1, Ack())
    process.causal_send(1, "a")
    with pytest.raises(ProtocolError, match="process 1's is awaited"):
        process.receive(2, Ack())
    with pytest.raises(ValueError, match="itself"):
        process.causal_send(0, "b")


def test_random_networks(simulate: Callable[..., Any]) -> None:
    """Nothing arrives out of order; some of it does not arrive at all, in deadlocks."""
    findings: Counter[str] = Counter()
    delivered = 0
    for seed in range(1000):
        outcome = simulate(Synchronous, seed, processes=2 + seed % 4)
        findings += outcome.findings
        delivered += outcome.delivered
    assert set(findings) == {"stuck"}
    assert delivered > 1_000
