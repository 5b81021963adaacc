"""The protocol of Schiper, Eggli and Sandoz."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.ses import SES, Msg

NONE = (0, 0, 0)


def test_the_triangle() -> None:
    alice, bob, carol = (SES(identity, 3) for identity in range(3))
    assert alice.causal_send(2, "first") == [Send(2, Msg("first", (1, 0, 0), (NONE, NONE, NONE)))]
    assert alice.vectors == (NONE, NONE, (1, 0, 0))
    second = Msg("second", (2, 0, 0), (NONE, NONE, (1, 0, 0)))
    assert alice.causal_send(1, "second") == [Send(1, second)]
    assert bob.receive(0, second) == [Deliver(0, "second")]
    assert (bob.time, bob.vectors) == ((2, 0, 0), (NONE, NONE, (1, 0, 0)))
    third = Msg("third", (2, 1, 0), (NONE, NONE, (1, 0, 0)))
    assert bob.causal_send(2, "third") == [Send(2, third)]
    assert carol.receive(1, third) == []
    assert carol.receive(0, Msg("first", (1, 0, 0), (NONE, NONE, NONE))) == [Deliver(0, "first"), Deliver(1, "third")]
    assert (carol.time, carol.vectors) == ((2, 1, 0), (NONE, NONE, NONE))


def test_the_last_vector_of_a_destination_replaces_the_one_before() -> None:
    process = SES(0, 2)
    process.causal_send(1, "a")
    assert process.causal_send(1, "b") == [Send(1, Msg("b", (2, 0), ((0, 0), (1, 0))))]
    assert process.vectors == ((0, 0), (2, 0))


def test_messages_to_oneself_are_refused() -> None:
    process = SES(1, 3)
    with pytest.raises(ValueError, match="oneself"):
        process.causal_send(1, "a")
    assert process.time == NONE


@pytest.mark.parametrize(
    ("time", "vectors", "reason"),
    [
        (None, (NONE, NONE, NONE), "not a vector"),
        ((1, 0), (NONE, NONE, NONE), "not a vector"),
        ((1, 0, -1), (NONE, NONE, NONE), "not a vector"),
        ((1, 0, 0), (NONE, NONE), "not a matrix"),
        ((1, 0, 0), (NONE, NONE, (0, 0, 1.0)), "not a matrix"),
        ((0, 0, 0), (NONE, NONE, NONE), "not counted its own"),
        ((3, 0, 1), (NONE, NONE, NONE), "not sent"),
        ((3, 0, 0), (NONE, (0, 0, 1), NONE), "not sent"),
        ((1, 0, 0), (NONE, NONE, NONE), "arrived before"),
        ((4, 0, 0), (NONE, NONE, (3, 0, 0)), "arrived before"),
    ],
)
def test_what_no_correct_peer_sends(time: Any, vectors: Any, reason: str) -> None:
    process = SES(2, 3)
    assert process.receive(0, Msg("x", (1, 0, 0), (NONE, NONE, NONE))) == [Deliver(0, "x")]
    assert process.receive(0, Msg("z", (4, 0, 0), (NONE, NONE, (3, 0, 0)))) == []
    with pytest.raises(ProtocolError, match=reason):
        process.receive(0, Msg("y", time, vectors))


def test_random_networks(simulate: Callable[..., Any]) -> None:
    """Causal, live, and latency-optimal: nothing is withheld that could be delivered."""
    delivered = 0
    for seed in range(1500):
        outcome = simulate(SES, seed, processes=2 + seed % 4)
        assert not outcome.findings, (seed, outcome.findings)
        delivered += outcome.delivered
    assert delivered >= 15_000
