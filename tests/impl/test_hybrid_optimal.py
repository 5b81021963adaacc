"""Almeida's Algorithm 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.hybrid_basic import Ack, HybridBasic, Msg, Permit
from thence.impl.hybrid_optimal import HybridOptimal


def message(name: str, mid: int, pid: int = 0, *, per: bool = False) -> Msg:
    return Msg(name, mid, pid, per)


def test_only_messages_to_somebody_else_ask_for_a_permit() -> None:
    """Section 5.6, first point: Algorithm 1 flags the second message too."""
    process, basic = HybridOptimal(0, 3), HybridBasic(0, 3)
    for each in (process, basic):
        each.causal_send(1, "a")
    assert process.causal_send(1, "b") == [Send(1, message("b", 2, 1))]
    assert basic.causal_send(1, "b") == [Send(1, message("b", 2, 1, per=True))]
    assert process.causal_send(2, "c") == [Send(2, message("c", 3, per=True))]
    assert process.causal_send(1, "d") == [Send(1, message("d", 4, 2, per=True))]


def test_a_permit_waits_only_for_messages_to_others() -> None:
    """Section 5.6, second point: c goes to the receiver of a, which is unacknowledged."""
    process = HybridOptimal(0, 3)
    for receiver, name in ((1, "a"), (2, "b"), (1, "c")):
        process.causal_send(receiver, name)
    assert process.receive(2, Ack(2)) == [Send(1, Permit(3))]
    assert process.receive(1, Ack(1)) == [Send(2, Permit(2))]
    assert process.receive(1, Ack(3)) == []


def test_a_message_waits_only_for_permits_of_others() -> None:
    """Section 5.6, third point: b goes to the sender that the permit is missing from, c does not."""
    process = HybridOptimal(1, 3)
    assert process.receive(0, message("a", 2, per=True)) == [Send(0, Ack(2)), Deliver(0, "a")]
    assert process.causal_send(2, "b") == []
    assert process.causal_send(0, "c") == [Send(0, message("c", 2, per=True))]
    assert process.receive(0, Permit(2)) == [Send(2, message("b", 1))]


def test_a_message_that_has_not_been_sent_counts_as_unacknowledged() -> None:
    """A message may overtake one that waits: it asks for a permit, and gets it when that one is acknowledged."""
    process = HybridOptimal(1, 4)
    process.receive(0, message("a", 2, per=True))
    assert process.causal_send(2, "b") == []
    assert process.causal_send(0, "c") == [Send(0, message("c", 2, per=True))]
    assert process.receive(0, Ack(2)) == []
    assert process.receive(0, Permit(2)) == [Send(2, message("b", 1))]
    assert process.receive(2, Ack(1)) == [Send(0, Permit(2))]


def test_permits_of_two_senders() -> None:
    """A permit at p2 lets what goes to the first sender leave, the first permit what goes to the second."""
    process = HybridOptimal(0, 4)
    process.receive(1, message("a", 2, per=True))
    process.receive(2, message("b", 2, per=True))
    process.receive(3, message("c", 2, per=True))
    assert process.causal_send(1, "x") == []
    assert process.causal_send(2, "y") == []
    assert process.receive(2, Permit(2)) == []
    assert process.receive(3, Permit(2)) == [Send(1, message("x", 1))]
    assert process.receive(1, Permit(2)) == [Send(2, message("y", 2, per=True))]


def test_the_first_permit_can_make_the_second_sender_the_first() -> None:
    process = HybridOptimal(0, 3)
    process.receive(1, message("a", 2, per=True))
    process.receive(2, message("b", 2, per=True))
    assert process.causal_send(1, "x") == []
    assert process.causal_send(2, "y") == []
    assert process.receive(1, Permit(2)) == [Send(2, message("y", 2, per=True))]
    assert process.receive(1, Permit(2)) == []
    assert process.receive(2, Permit(2)) == [Send(1, message("x", 1))]


def test_each_permit_goes_out_once() -> None:
    """What has become the oldest is passed over by A2.70."""
    process = HybridOptimal(0, 3)
    for receiver, name in ((1, "a"), (2, "b"), (1, "c"), (2, "d")):
        process.causal_send(receiver, name)
    assert process.receive(1, Ack(1)) == [Send(2, Permit(2))]
    assert process.receive(2, Ack(2)) == [Send(1, Permit(3))]
    assert process.receive(1, Ack(3)) == [Send(2, Permit(4))]
    assert process.receive(2, Ack(4)) == []
    assert process.receive(2, Ack(4)) == [Send(2, Permit(4))]  # asked for again


def test_a_duplicate_is_acknowledged_again_and_dropped() -> None:
    process = HybridOptimal(1, 2)
    assert process.receive(0, message("b", 2, 1)) == []
    assert len(process.receive(0, message("a", 1))) == 4
    assert process.receive(0, message("a", 1)) == [Send(0, Ack(1))]
    assert process.receive(0, message("b", 2, 1)) == [Send(0, Ack(2))]


def test_a_permit_that_overtakes_its_message_is_asked_for_again() -> None:
    process = HybridOptimal(1, 3)
    assert process.receive(0, Permit(2)) == []
    process.receive(0, message("a", 2, per=True))
    assert process.causal_send(2, "b") == []
    assert process.tick() == [Send(0, Ack(2))]
    assert process.receive(0, Permit(2)) == [Send(2, message("b", 1))]
    assert process.tick() == [Send(2, message("b", 1))]


def test_messages_to_oneself_are_refused() -> None:
    process = HybridOptimal(1, 3)
    with pytest.raises(ValueError, match="oneself"):
        process.causal_send(1, "a")
    assert process.causal_send(0, "b") == [Send(0, message("b", 1))]


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (Ack(4), "was not sent"),
        (Ack(3), "was not sent"),
        (Ack(1), "to process 1"),
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
    process = HybridOptimal(0, 3)
    process.causal_send(1, "a")
    process.causal_send(2, "b")
    process.receive(1, Msg("c", mid=1, pid=0, per=True))
    assert process.causal_send(2, "e") == []
    process.receive(2, Msg("c", mid=1, pid=0, per=False))
    process.receive(2, Msg("d", mid=8, pid=7, per=False))
    with pytest.raises(ProtocolError, match=reason):
        process.receive(2, packet)


def test_buffers_are_empty_when_everything_has_been_acknowledged() -> None:
    one, two = HybridOptimal(0, 2), HybridOptimal(1, 2)
    for number in range(500):
        [send] = one.causal_send(1, number)
        assert isinstance(send, Send)
        acknowledgement, delivery = two.receive(0, send.packet)
        assert delivery == Deliver(0, number)
        assert isinstance(acknowledgement, Send)
        assert one.receive(1, acknowledgement.packet) == []
    assert (one._u.size, one._u.next, two._p.size) == (0, 501, 0)
    assert (one._m1, one._m2, one._u2, two._p2) == (501, 501, 501, 0)
    assert len(one._u._slots) < 200
    assert two._rb == {0: {}}


class Counted:
    """Counts how often the buffer is read by index: the loops of the algorithm read once a round."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.reads = 0

    def __getitem__(self, index: int) -> Any:
        self.reads += 1
        return self.array[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


@pytest.mark.parametrize("messages", [50, 100, 200, 400])
def test_the_loops_take_constant_time_a_message_in_the_long_run(messages: int) -> None:
    """Section 5.6: no range is traversed more than twice. Here everything waits, then goes, then is acknowledged."""
    process = HybridOptimal(0, 4)
    counted = Counted(process._u)
    process._u = counted  # type: ignore[assignment]
    process.receive(1, Msg("a", mid=2, pid=0, per=True))
    process.receive(2, Msg("b", mid=2, pid=0, per=True))
    for number in range(messages):
        assert process.causal_send(1 + number % 3, number) == []
    assert len(process.receive(2, Permit(2))) == (messages + 2) // 3
    assert len(process.receive(1, Permit(2))) == messages - (messages + 2) // 3
    for number in reversed(range(messages)):
        process.receive(1 + number % 3, Ack(number + 1))
    assert process._u.size == 0
    assert counted.reads <= 10 * messages + 16


@pytest.mark.parametrize(
    "channel",
    [
        {},
        {"reactive": True},
        {"loss": 0.2},
        {"duplication": 0.3},
        {"loss": 0.2, "duplication": 0.3, "reactive": True},
    ],
    ids=str,
)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    delivered = 0
    for seed in range(1000):
        outcome = simulate(HybridOptimal, seed, processes=2 + seed % 4, **channel)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.delivered == outcome.sent
        delivered += outcome.delivered
    assert delivered >= 10_000
