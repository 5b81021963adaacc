"""FIFO by sequence numbers: the negative control."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.fifo import Ack, Fifo, Msg


def test_each_channel_has_numbers_of_its_own() -> None:
    process = Fifo(0, 3)
    assert process.causal_send(1, "a") == [Send(1, Msg("a", 1))]
    assert process.causal_send(2, "b") == [Send(2, Msg("b", 1))]
    assert process.causal_send(1, "c") == [Send(1, Msg("c", 2))]


def test_what_arrives_too_early_is_delayed_and_what_arrives_again_is_only_acknowledged() -> None:
    process = Fifo(1, 2)
    assert process.receive(0, Msg("c", 3)) == process.receive(0, Msg("b", 2)) == [Send(0, Ack(0))]
    assert process.receive(0, Msg("a", 1)) == [*(Deliver(0, name) for name in "abc"), Send(0, Ack(3))]
    assert process.receive(0, Msg("b", 2)) == [Send(0, Ack(3))]


def test_what_is_not_acknowledged_is_sent_again() -> None:
    process = Fifo(0, 3)
    for receiver, name in ((2, "a"), (1, "b"), (2, "c")):
        process.causal_send(receiver, name)
    assert process.tick() == [Send(1, Msg("b", 1)), Send(2, Msg("a", 1)), Send(2, Msg("c", 2))]
    assert process.receive(2, Ack(1)) == process.receive(1, Ack(0)) == process.receive(2, Ack(0)) == []
    assert process.tick() == [Send(1, Msg("b", 1)), Send(2, Msg("c", 2))]


def test_it_is_not_causal() -> None:
    """The triangle: three messages."""
    alice, bob, carol = (Fifo(identity, 3) for identity in range(3))
    alice.causal_send(2, "first")
    [to_bob] = alice.causal_send(1, "second")
    assert isinstance(to_bob, Send)
    bob.receive(0, to_bob.packet)
    [to_carol] = bob.causal_send(2, "third")
    assert isinstance(to_carol, Send)
    assert carol.receive(1, to_carol.packet)[0] == Deliver(1, "third")


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (Ack(2), "was not sent"),
        (Ack(-1), "was not sent"),
        (Msg("x", 0), "not a message number"),
        (Msg("x", 3), "two messages"),
        (Msg(None, 4), "no message"),
    ],
    ids=str,
)
def test_what_no_correct_peer_sends(packet: Any, reason: str) -> None:
    process = Fifo(0, 3)
    process.causal_send(2, "a")
    process.receive(2, Msg("c", 3))
    with pytest.raises(ProtocolError, match=reason):
        process.receive(2, packet)


@pytest.mark.parametrize("channel", [{}, {"loss": 0.2, "duplication": 0.3, "self_sends": True}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    findings: Counter[str] = Counter()
    for seed in range(1000):
        outcome = simulate(Fifo, seed, processes=2 + seed % 4, **channel)
        assert outcome.delivered == outcome.sent
        findings += outcome.findings
    assert set(findings) == {"causal"}
