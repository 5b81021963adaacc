"""Almeida's Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.hybrid_basic import Ack, HybridBasic, Msg, Permit


def test_ids_start_at_one_and_predecessors_are_per_receiver() -> None:
    process = HybridBasic(0, 3)
    assert process.causal_send(1, "a") == [Send(1, Msg("a", mid=1, pid=0, per=False))]
    assert process.causal_send(2, "b") == [Send(2, Msg("b", mid=2, pid=0, per=True))]
    assert process.causal_send(1, "c") == [Send(1, Msg("c", mid=3, pid=1, per=True))]


def test_messages_of_one_sender_are_delivered_in_order() -> None:
    process = HybridBasic(1, 2)
    assert process.receive(0, Msg("c", mid=5, pid=3, per=False)) == []
    assert process.receive(0, Msg("b", mid=3, pid=1, per=False)) == []
    assert process.receive(0, Msg("a", mid=1, pid=0, per=False)) == [
        Send(0, Ack(1)),
        Deliver(0, "a"),
        Send(0, Ack(3)),
        Deliver(0, "b"),
        Send(0, Ack(5)),
        Deliver(0, "c"),
    ]


def test_a_duplicate_is_acknowledged_again_and_dropped() -> None:
    process = HybridBasic(1, 2)
    first, second = Msg("a", mid=1, pid=0, per=False), Msg("b", mid=2, pid=1, per=False)
    assert process.receive(0, second) == []
    assert process.receive(0, second) == []
    assert len(process.receive(0, first)) == 4
    assert process.receive(0, first) == [Send(0, Ack(1))]
    assert process.receive(0, second) == [Send(0, Ack(2))]


def test_what_is_sent_after_a_delivery_waits_for_its_permit() -> None:
    process = HybridBasic(1, 3)
    assert process.receive(0, Msg("a", mid=2, pid=0, per=True)) == [Send(0, Ack(2)), Deliver(0, "a")]
    assert process.causal_send(2, "b") == []
    assert process.receive(2, Permit(2)) == []  # not from the sender of a
    assert process.receive(0, Permit(2)) == [Send(2, Msg("b", mid=1, pid=0, per=False))]


def test_later_deliveries_do_not_hold_back_what_was_sent_before() -> None:
    """The precision that Cykas lacks (section 4.3)."""
    process = HybridBasic(1, 3)
    process.receive(0, Msg("a", mid=2, pid=0, per=True))
    assert process.causal_send(2, "b") == []
    process.receive(2, Msg("c", mid=2, pid=0, per=True))
    assert process.causal_send(0, "d") == []
    assert process.receive(0, Permit(2)) == [Send(2, Msg("b", mid=1, pid=0, per=False))]
    assert process.receive(2, Permit(2)) == [Send(0, Msg("d", mid=2, pid=0, per=True))]


def test_permits_come_due_when_everything_before_is_acknowledged() -> None:
    process = HybridBasic(0, 4)
    for receiver, name in ((1, "a"), (2, "b"), (3, "c"), (1, "d")):
        process.causal_send(receiver, name)
    assert process.receive(3, Ack(3)) == []
    assert process.receive(2, Ack(2)) == []
    assert process.receive(1, Ack(1)) == [Send(2, Permit(2)), Send(3, Permit(3)), Send(1, Permit(4))]
    assert process.receive(1, Ack(4)) == []
    assert process.receive(2, Ack(2)) == [Send(2, Permit(2))]  # asked for again


def test_an_acknowledgement_that_is_not_for_the_oldest_sends_no_permit() -> None:
    """A1.64 stands inside A1.62: message 2 has become the oldest, and its permit has been sent once."""
    process = HybridBasic(0, 4)
    for receiver, name in ((1, "a"), (2, "b"), (3, "c")):
        process.causal_send(receiver, name)
    assert process.receive(1, Ack(1)) == [Send(2, Permit(2))]
    assert process.receive(3, Ack(3)) == []
    assert process.receive(3, Ack(3)) == []
    assert process.receive(2, Ack(2)) == [Send(3, Permit(3))]


def test_a_permit_that_overtakes_its_message_is_asked_for_again() -> None:
    process = HybridBasic(1, 3)
    assert process.receive(0, Permit(2)) == []
    process.receive(0, Msg("a", mid=2, pid=0, per=True))
    assert process.causal_send(2, "b") == []
    assert process.tick() == [Send(0, Ack(2))]
    assert process.receive(0, Permit(2)) == [Send(2, Msg("b", mid=1, pid=0, per=False))]


def test_a_tick_repeats_messages_then_acknowledgements() -> None:
    process = HybridBasic(1, 3)
    assert process.tick() == []
    process.causal_send(0, "a")
    process.causal_send(2, "b")
    process.receive(0, Msg("c", mid=4, pid=0, per=True))
    process.receive(2, Ack(2))
    assert process.tick() == [Send(0, Msg("a", mid=1, pid=0, per=False)), Send(0, Ack(4))]


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (Ack(3), "was not sent"),
        (Ack(1), "to process 1"),
        (Ack(0), "not a message id"),
        (Permit(0), "not a message id"),
        (Msg("x", mid=2, pid=2, per=False), "predecessor"),
        (Msg("x", mid=2, pid=-1, per=False), "predecessor"),
        (Msg("x", mid=9, pid=0, per=False), "has been delivered"),
        (Msg("x", mid=9, pid=7, per=False), "came after that too"),
        (Msg(None, mid=9, pid=5, per=False), "no message"),
    ],
    ids=str,
)
def test_what_no_correct_peer_sends(packet: Any, reason: str) -> None:
    process = HybridBasic(0, 3)
    process.causal_send(1, "a")
    process.causal_send(2, "b")
    process.receive(2, Msg("c", mid=1, pid=0, per=False))
    process.receive(2, Msg("d", mid=8, pid=7, per=False))
    with pytest.raises(ProtocolError, match=reason):
        process.receive(2, packet)


def test_buffers_are_empty_when_everything_has_been_acknowledged() -> None:
    one, two = HybridBasic(0, 2), HybridBasic(1, 2)
    for number in range(500):
        [send] = one.causal_send(1, number)
        assert isinstance(send, Send)
        acknowledgement, delivery = two.receive(0, send.packet)
        assert delivery == Deliver(0, number)
        assert isinstance(acknowledgement, Send)
        assert one.receive(1, acknowledgement.packet) == []
    assert (one._u.size, one._u.next, two._p.size) == (0, 501, 0)
    assert len(one._u._slots) < 200
    assert two._rb == {0: {}}


@pytest.mark.parametrize(
    "channel",
    [
        {},
        {"self_sends": True},
        {"reactive": True},
        {"loss": 0.2},
        {"duplication": 0.3},
        {"loss": 0.2, "duplication": 0.3, "self_sends": True, "reactive": True},
    ],
    ids=str,
)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    delivered = 0
    for seed in range(1000):
        outcome = simulate(HybridBasic, seed, processes=2 + seed % 4, **channel)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.delivered == outcome.sent
        delivered += outcome.delivered
    assert delivered >= 10_000
