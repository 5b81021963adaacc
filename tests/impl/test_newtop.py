"""Newtop's order by Lamport clocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.newtop import Msg, Newtop, Null

FIFO = {"fifo": True, "self_sends": True}


def test_a_broadcast_waits_until_everybody_has_spoken() -> None:
    process = Newtop(0, 3)
    assert process.causal_send("a") == [Send(1, Msg("a", 1)), Send(2, Msg("a", 1))]
    assert process.receive(1, Msg("b", 1)) == []
    assert process.receive(2, Null(1)) == [Deliver(0, "a"), Deliver(1, "b")]


def test_of_equal_clocks_the_lowest_process_comes_first() -> None:
    process = Newtop(2, 3)
    assert process.receive(1, Msg("b", 1)) == []
    assert process.causal_send("c") == [Send(0, Msg("c", 2)), Send(1, Msg("c", 2))]
    assert process.receive(0, Msg("a", 1)) == [Deliver(0, "a"), Deliver(1, "b")]
    assert process.receive(0, Msg("d", 2)) == []
    assert process.receive(1, Null(2)) == [Deliver(0, "d"), Deliver(2, "c")]


def test_a_silent_process_speaks_when_its_timer_fires() -> None:
    process = Newtop(1, 2)
    assert process.tick() == []
    assert process.receive(0, Msg("a", 4)) == []
    assert process.tick() == [Send(0, Null(4)), Deliver(0, "a")]
    assert process.tick() == []
    assert process.causal_send("b") == [Send(0, Msg("b", 5))]


def test_a_process_alone_delivers_at_once() -> None:
    assert Newtop(0, 1).causal_send("a") == [Deliver(0, "a")]


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Msg(None, 9), "no message"),
        (1, Msg("x", 3), "the clock 3 after 3"),
        (1, Msg("x", 0), "the clock 0 after 3"),
        (1, Null(3), "the clock 3 after 3"),
        (1, Null("4"), "the clock '4' after 3"),  # type: ignore[arg-type]
        (1, Null(True), "the clock True after 3"),
        (0, Msg("x", 9), "comes back"),
        (0, Null(9), "comes back"),
    ],
    ids=str,
)
def test_what_no_correct_peer_sends(sender: int, packet: Any, reason: str) -> None:
    process = Newtop(0, 2)
    process.receive(1, Msg("b", 3))
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)


@pytest.mark.parametrize("channel", [FIFO, FIFO | {"reactive": True}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    nulls = withheld = 0
    for seed in range(300):
        outcome = simulate(Newtop, seed, processes=2 + seed % 4, **channel)
        withheld += outcome.findings.pop("over_delay", 0)
        assert not outcome.findings, (seed, outcome.findings)
        assert not outcome.crossings
        assert outcome.delivered == outcome.sent * (2 + seed % 4)
        nulls += outcome.packets["NULL"]
    # It delivers later than causal delivery would have to (Almeida, section 3.1).
    assert nulls > 300 and withheld > 300


def test_on_channels_that_reorder_the_order_is_lost_or_noticed(simulate: Callable[..., Any]) -> None:
    noticed = sum(simulate(Newtop, seed, self_sends=True).findings["crash"] > 0 for seed in range(30))
    assert noticed > 10
