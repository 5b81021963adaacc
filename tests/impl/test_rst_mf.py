"""The protocol of Raynal, Schiper and Toueg in Mattern and Fünfrocken's form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.rst_mf import RSTMF, Msg

NONE = (0, 0, 0)


def test_a_message_is_counted_before_it_is_sent() -> None:
    alice, bob, carol = (RSTMF(identity, 3) for identity in range(3))
    first, second = Msg("x", ((0, 0, 1), NONE, NONE)), Msg("y", ((0, 1, 1), NONE, NONE))
    assert alice.causal_send(2, "x") == [Send(2, first)]
    assert alice.causal_send(1, "y") == [Send(1, second)]
    assert bob.receive(0, second) == [Deliver(0, "y")]
    third = Msg("z", ((0, 1, 1), (0, 0, 1), NONE))
    assert bob.causal_send(2, "z") == [Send(2, third)]
    assert carol.receive(1, third) == []
    assert carol.receive(0, first) == [Deliver(0, "x"), Deliver(1, "z")]
    assert carol.m == bob.m == third.meta


def test_what_arrives_again_is_dropped_whether_delivered_or_waiting() -> None:
    process = RSTMF(1, 2)
    first, second = Msg("a", ((0, 1), (0, 0))), Msg("b", ((0, 2), (0, 0)))
    assert process.receive(0, second) == process.receive(0, second) == []
    assert process.receive(0, first) == [Deliver(0, "a"), Deliver(0, "b")]
    assert process.receive(0, first) == process.receive(0, second) == []


def test_messages_to_oneself_are_refused() -> None:
    process = RSTMF(1, 3)
    with pytest.raises(ValueError, match="oneself"):
        process.causal_send(1, "a")
    with pytest.raises(ProtocolError, match="oneself"):
        process.receive(1, Msg("a", (NONE, NONE, NONE)))


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        (None, "not a matrix"),
        ((NONE, NONE), "not a matrix"),
        (((0, 0, "1"), NONE, NONE), "not a matrix"),
        ((NONE, NONE, NONE), "not counted its own"),
        (((0, 0, 1), NONE, (0, 1, 0)), "were not sent"),
    ],
)
def test_what_no_correct_peer_sends(meta: Any, reason: str) -> None:
    process = RSTMF(2, 3)
    with pytest.raises(ProtocolError, match=reason):
        process.receive(0, Msg("a", meta))
    assert process.m == (NONE, NONE, NONE)


@pytest.mark.parametrize("channel", [{}, {"duplication": 0.3}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    for seed in range(1000):
        outcome = simulate(RSTMF, seed, processes=2 + seed % 4, **channel)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.delivered == outcome.sent == 12
