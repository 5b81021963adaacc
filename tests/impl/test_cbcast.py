"""CBCAST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.cbcast import CBCAST, Msg
from thence.impl.commands import Deliver, ProtocolError, Send


def test_a_broadcast_carries_the_clock_that_counts_it() -> None:
    process = CBCAST(1, 3)
    assert process.causal_send("a") == [Send(0, Msg("a", (0, 1, 0))), Send(2, Msg("a", (0, 1, 0)))]
    process.receive(2, Msg("c", (0, 0, 1)))
    assert process.causal_send("b") == [Send(0, Msg("b", (0, 2, 1))), Send(2, Msg("b", (0, 2, 1)))]


def test_an_answer_waits_for_what_it_answers() -> None:
    process = CBCAST(2, 3)
    assert process.receive(1, Msg("answer", (1, 1, 0))) == []
    assert process.receive(0, Msg("question", (1, 0, 0))) == [Deliver(0, "question"), Deliver(1, "answer")]


def test_broadcasts_of_one_process_are_delivered_in_order() -> None:
    process = CBCAST(1, 2)
    assert process.receive(0, Msg("c", (3, 0))) == []
    assert process.receive(0, Msg("b", (2, 0))) == []
    assert process.receive(0, Msg("a", (1, 0))) == [Deliver(0, "a"), Deliver(0, "b"), Deliver(0, "c")]
    assert process._delayed == {}


def test_what_waits_is_looked_at_in_rounds_by_ascending_senders() -> None:
    process = CBCAST(3, 4)
    assert process.receive(0, Msg("last", (1, 1, 1, 0))) == []
    assert process.receive(2, Msg("third", (0, 1, 1, 0))) == []
    assert process.receive(1, Msg("first", (0, 1, 0, 0))) == [
        Deliver(1, "first"),
        Deliver(2, "third"),
        Deliver(0, "last"),
    ]


def test_a_process_alone_sends_to_nobody() -> None:
    assert CBCAST(0, 1).causal_send("a") == []


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Msg(None, (0, 1, 0)), "no message"),
        (1, Msg("x", (0, 1)), "not a vector clock of 3"),
        (1, Msg("x", [0, 1, 0]), "not a vector clock of 3"),  # type: ignore[arg-type]
        (1, Msg("x", (0, -1, 0)), "not a vector clock"),
        (1, Msg("x", (0, 1, None)), "not a vector clock"),  # type: ignore[arg-type]
        (1, Msg("x", (0, 0, 1)), "its clock does not count"),
        (1, Msg("x", (2, 5, 0)), "counts 2 broadcasts of ours"),
        (0, Msg("x", (1, 0, 0)), "comes back"),
        (2, Msg("c", (0, 0, 1)), "has arrived before"),
        (2, Msg("e", (0, 0, 3)), "has arrived before"),
    ],
    ids=str,
)
def test_what_no_correct_peer_sends(sender: int, packet: Any, reason: str) -> None:
    process = CBCAST(0, 3)
    process.causal_send("a")
    process.receive(2, Msg("c", (0, 0, 1)))
    process.receive(2, Msg("e", (0, 0, 3)))
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)


def test_it_is_for_broadcasts_only(simulate: Callable[..., Any]) -> None:
    """Kuper, "Causal unicast is harder than causal broadcast": what does not go to a process is waited for there."""

    class Unicast(CBCAST):
        delivery = "unicast"  # type: ignore[assignment]

        def causal_send(self, destination: int, message: Any) -> Any:  # type: ignore[override]
            return [send for send in super().causal_send(message) if send.destination == destination]  # type: ignore[union-attr]

    stuck = sum(simulate(Unicast, seed).findings["stuck"] > 0 for seed in range(30))
    assert stuck > 20


@pytest.mark.parametrize("channel", [{}, {"fifo": True}, {"reactive": True}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    crossings = 0
    for seed in range(300):
        outcome = simulate(CBCAST, seed, processes=2 + seed % 4, **channel)
        if channel.get("reactive"):
            # An answer from inside the first of several deliveries of one step counts as sent after all of them.
            outcome.findings.pop("over_delay", None)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.delivered == outcome.sent * (1 + seed % 4)
        crossings += outcome.crossings
    assert crossings > 0  # causal order is no total order
