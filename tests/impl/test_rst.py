"""The protocol of Raynal, Schiper and Toueg, blog form."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Command, Deliver, ProtocolError, Send
from thence.impl.rst import RST, Matrix, Msg

NOTHING: Matrix = ((0, 0, 0), (0, 0, 0), (0, 0, 0))


def sent_packet(commands: list[Command]) -> Msg:
    [send] = commands
    assert isinstance(send, Send)
    assert isinstance(send.packet, Msg)
    return send.packet


def test_the_article_step_by_step() -> None:
    """Alice, Bob and Carol, with every matrix that the article prints."""
    alice, bob, carol = (RST(identity, 3) for identity in range(3))
    assert (alice.sent, alice.deliv) == (NOTHING, (0, 0, 0))

    m1 = sent_packet(alice.causal_send(2, "m1"))
    assert m1.meta == NOTHING
    assert alice.sent == ((0, 0, 1), (0, 0, 0), (0, 0, 0))

    m2 = sent_packet(alice.causal_send(1, "m2"))
    assert m2.meta == ((0, 0, 1), (0, 0, 0), (0, 0, 0))
    assert (alice.sent, alice.deliv) == (((0, 1, 1), (0, 0, 0), (0, 0, 0)), (0, 0, 0))

    assert bob.receive(0, m2) == [Deliver(0, "m2")]
    assert (bob.sent, bob.deliv) == (((0, 1, 1), (0, 0, 0), (0, 0, 0)), (1, 0, 0))

    m3 = sent_packet(bob.causal_send(2, "m3"))
    assert m3.meta == ((0, 1, 1), (0, 0, 0), (0, 0, 0))
    assert bob.sent == ((0, 1, 1), (0, 0, 1), (0, 0, 0))

    assert carol.receive(1, m3) == []
    assert (carol.sent, carol.deliv) == (NOTHING, (0, 0, 0))

    assert carol.receive(0, m1) == [Deliver(0, "m1"), Deliver(1, "m3")]
    assert carol.deliv == (1, 1, 0)
    assert carol.sent == bob.sent == ((0, 1, 1), (0, 0, 1), (0, 0, 0))
    assert alice.sent == ((0, 1, 1), (0, 0, 0), (0, 0, 0))


def test_after_the_first_delivery_carol_knows_of_one_message() -> None:
    """The article's picture between the deliveries of m1 and m3."""
    alice, carol = RST(0, 3), RST(2, 3)
    m1 = sent_packet(alice.causal_send(2, "m1"))
    assert carol.receive(0, m1) == [Deliver(0, "m1")]
    assert (carol.sent, carol.deliv) == (((0, 0, 1), (0, 0, 0), (0, 0, 0)), (1, 0, 0))


def test_waiting_messages_are_delivered_in_order_of_arrival_when_they_can_be() -> None:
    alice, carol = RST(0, 2), RST(1, 2)
    first, second, third = (sent_packet(alice.causal_send(1, name)) for name in ("a", "b", "c"))
    assert carol.receive(0, third) == []
    assert carol.receive(0, second) == []
    assert carol.receive(0, first) == [Deliver(0, "a"), Deliver(0, "b"), Deliver(0, "c")]


def test_waiting_messages_are_looked_at_in_rounds() -> None:
    alice, bob, carol = (RST(identity, 3) for identity in range(3))
    first = sent_packet(alice.causal_send(2, "first"))
    bob.receive(0, sent_packet(alice.causal_send(1, "to bob")))
    from_bob = sent_packet(bob.causal_send(2, "from bob"))
    second, third = sent_packet(alice.causal_send(2, "second")), sent_packet(alice.causal_send(2, "third"))
    assert carol.receive(0, third) == carol.receive(0, second) == carol.receive(1, from_bob) == []
    deliveries = [command.message for command in carol.receive(0, first) if isinstance(command, Deliver)]
    assert deliveries == ["first", "second", "from bob", "third"]


def test_messages_share_the_rows_of_the_matrix() -> None:
    process = RST(0, 3)
    one, two = sent_packet(process.causal_send(1, "a")), sent_packet(process.causal_send(2, "b"))
    assert one.meta[1] is two.meta[1]
    assert one.meta[0] is not two.meta[0]


def test_messages_to_oneself_are_refused() -> None:
    process = RST(1, 3)
    with pytest.raises(ValueError, match="oneself"):
        process.causal_send(1, "a")
    assert process.sent == NOTHING
    with pytest.raises(ProtocolError, match="oneself"):
        process.receive(1, Msg("a", NOTHING))


@pytest.mark.parametrize(
    "meta",
    [None, (), NOTHING[:2], ((0, 0),) * 3, ((0, 0, -1), *NOTHING[1:]), (("0", 0, 0), *NOTHING[1:]), [[0] * 3] * 3],
)
def test_a_matrix_of_another_shape_is_a_protocol_error(meta: Any) -> None:
    process = RST(2, 3)
    with pytest.raises(ProtocolError, match="not a matrix"):
        process.receive(0, Msg("a", meta))
    assert (process.sent, process.deliv) == (NOTHING, (0, 0, 0))


def test_a_peer_cannot_know_of_messages_that_we_have_not_sent() -> None:
    process = RST(2, 3)
    with pytest.raises(ProtocolError, match="were not sent"):
        process.receive(0, Msg("a", ((0, 0, 0), (0, 0, 0), (1, 0, 0))))


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_deliv_is_redundant(processes: int) -> None:
    """The article's open question: DELIV is one's own column of SENT, as long as nobody sends to itself."""
    choice = random.Random(processes)
    group = [RST(identity, processes) for identity in range(processes)]
    flight: list[tuple[int, int, Any]] = []
    for number in range(300):
        sender, receiver = choice.sample(range(processes), 2)
        flight += [(sender, receiver, sent_packet(group[sender].causal_send(receiver, number)))]
        if choice.random() < 0.6:
            sender, receiver, packet = flight.pop(choice.randrange(len(flight)))
            group[receiver].receive(sender, packet)
        for identity, process in enumerate(group):
            assert process.deliv == tuple(row[identity] for row in process.sent)


def test_random_networks(simulate: Callable[..., Any]) -> None:
    """Causal, live, and latency-optimal: nothing is withheld that could be delivered."""
    delivered = 0
    for seed in range(2000):
        outcome = simulate(RST, seed, processes=2 + seed % 4)
        assert not outcome.findings, (seed, outcome.findings)
        delivered += outcome.delivered
    assert delivered >= 20_000


def test_random_networks_with_answers_from_inside_deliveries(simulate: Callable[..., Any]) -> None:
    for seed in range(1000):
        outcome = simulate(RST, seed, processes=2 + seed % 4, reactive=True)
        assert not set(outcome.findings) - {"over_delay"}, (seed, outcome.findings)
        assert outcome.delivered == outcome.sent
