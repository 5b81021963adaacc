"""Almeida's Algorithm 3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.hybrid_basic import Ack, HybridBasic, Msg, Permit
from thence.impl.hybrid_multicast import HybridMulticast


def test_each_receiver_has_a_predecessor_of_its_own() -> None:
    process = HybridMulticast(0, 4)
    assert process.causal_send({1}, "a") == [Send(1, Msg("a", mid=1, pid=0, per=False))]
    assert process.causal_send({3, 1}, "b") == [
        Send(1, Msg("b", mid=2, pid=1, per=True)),
        Send(3, Msg("b", mid=2, pid=0, per=True)),
    ]
    assert process.causal_send({2, 3}, "c") == [
        Send(2, Msg("c", mid=3, pid=0, per=True)),
        Send(3, Msg("c", mid=3, pid=2, per=True)),
    ]


def test_a_message_to_several_needs_permits_even_if_nothing_is_unacknowledged() -> None:
    process = HybridMulticast(0, 3)
    assert process.causal_send({1, 2}, "a")[0] == Send(1, Msg("a", mid=1, pid=0, per=True))
    assert process.receive(1, Ack(1)) == []
    assert process.receive(1, Ack(1)) == []  # a second copy
    assert process.receive(2, Ack(1)) == [Send(1, Permit(1)), Send(2, Permit(1))]
    assert process.receive(1, Ack(1)) == [Send(1, Permit(1))]  # asked for again
    assert process.causal_send({2}, "b") == [Send(2, Msg("b", mid=2, pid=1, per=False))]


def test_permits_wait_for_everything_before_and_for_all_receivers() -> None:
    process = HybridMulticast(0, 4)
    process.causal_send({1, 2}, "a")
    process.causal_send({3}, "b")
    process.causal_send({1}, "c")
    assert process.receive(3, Ack(2)) == []
    assert process.receive(2, Ack(1)) == []
    assert process.receive(1, Ack(1)) == [Send(1, Permit(1)), Send(2, Permit(1)), Send(3, Permit(2))]
    assert process.receive(1, Ack(3)) == [Send(1, Permit(3))]


def test_the_example_of_the_text_needs_a_multicast() -> None:
    """Section 5.7: what j sends to k after delivering m waits until k has delivered m."""
    sender, j, k = (HybridMulticast(identity, 3) for identity in range(3))
    to_j, to_k = sender.causal_send({1, 2}, "m")
    assert isinstance(to_j, Send) and isinstance(to_k, Send)
    assert j.receive(0, to_j.packet) == [Send(0, Ack(1)), Deliver(0, "m")]
    assert j.causal_send({2}, "m3") == []
    assert k.receive(0, to_k.packet) == [Send(0, Ack(1)), Deliver(0, "m")]
    assert sender.receive(1, Ack(1)) == []
    permit, _ = sender.receive(2, Ack(1))
    assert isinstance(permit, Send)
    assert j.receive(0, permit.packet) == [Send(2, Msg("m3", mid=1, pid=0, per=False))]


def test_a_tick_repeats_messages_to_those_that_have_not_acknowledged_them() -> None:
    process = HybridMulticast(1, 4)
    assert process.tick() == []
    process.causal_send({0, 2, 3}, "a")
    process.receive(2, Ack(1))
    process.receive(0, Msg("c", mid=4, pid=0, per=True))
    message = Msg("a", mid=1, pid=0, per=True)
    assert process.tick() == [Send(0, message), Send(3, message), Send(0, Ack(4))]


def test_with_one_receiver_each_it_is_algorithm_1(simulate: Callable[..., Any]) -> None:
    """The two differ in when the payload of the oldest is dropped, which nobody sees."""

    class Unicast(HybridMulticast):
        delivery = "unicast"  # type: ignore[assignment]

        def causal_send(self, destination: int, message: Any) -> Any:  # type: ignore[override]
            return super().causal_send({destination}, message)

    for seed in range(100):
        one = simulate(Unicast, seed, loss=0.2, duplication=0.2)
        other = simulate(HybridBasic, seed, loss=0.2, duplication=0.2)
        assert not one.findings
        assert (one.sent, one.delivered) == (other.sent, other.delivered) == (12, 12)


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (Ack(3), "was not sent"),
        (Ack(1), "was not sent to it"),
        (Ack(0), "not a message id"),
        (Permit(0), "not a message id"),
        (Msg("x", mid=2, pid=2, per=False), "predecessor"),
        (Msg("x", mid=9, pid=0, per=False), "has been delivered"),
        (Msg("x", mid=9, pid=7, per=False), "came after that too"),
        (Msg(None, mid=9, pid=5, per=False), "no message"),
    ],
    ids=str,
)
def test_what_no_correct_peer_sends(packet: Any, reason: str) -> None:
    process = HybridMulticast(0, 3)
    process.causal_send({1}, "a")
    process.causal_send({1, 2}, "b")
    process.receive(2, Msg("c", mid=1, pid=0, per=False))
    process.receive(2, Msg("d", mid=8, pid=7, per=False))
    with pytest.raises(ProtocolError, match=reason):
        process.receive(2, packet)


def test_buffers_are_empty_when_everything_has_been_acknowledged() -> None:
    one, two, three = (HybridMulticast(identity, 3) for identity in range(3))
    for number in range(300):
        sends = one.causal_send({1, 2}, number)
        for receiver, send in zip((two, three), sends, strict=True):
            assert isinstance(send, Send)
            assert receiver.receive(0, send.packet) == [Send(0, Ack(number + 1)), Deliver(0, number)]
            permits = one.receive(send.destination, Ack(number + 1))
        for receiver, permit in zip((two, three), permits, strict=True):
            assert isinstance(permit, Send)
            assert receiver.receive(0, permit.packet) == []
    assert (one._u.size, one._u.next, two._p.size, three._p.size) == (0, 301, 0, 0)
    assert two._rb == three._rb == {0: {}}


@pytest.mark.parametrize(
    "channel",
    [
        {},
        {"self_sends": True},
        {"reactive": True},
        {"loss": 0.2},
        {"loss": 0.2, "duplication": 0.3, "reactive": True, "self_sends": True},
    ],
    ids=str,
)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    kinds = {"MSG": 0, "ACK": 0, "PERMIT": 0}
    for seed in range(300):
        outcome = simulate(HybridMulticast, seed, processes=2 + seed % 4, **channel)
        assert not outcome.findings, (seed, outcome.findings)
        for kind in kinds:
            kinds[kind] += outcome.packets[kind]
    assert all(number > 300 for number in kinds.values())
