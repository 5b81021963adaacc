"""Cykas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.cykas import Ack, Cykas, Eager, Normal, Yct


def test_figure_2_bob_gets_a_head_start_and_keeps_the_secret() -> None:
    """Figure 2, right: Alice is 0, Bob 1, Carol 2."""
    alice, bob, carol = (Cykas(identity, 3) for identity in range(3))
    assert alice.causal_send(2, "m1") == [Send(2, Normal("m1"))]
    assert alice.causal_send(1, "m2") == [Send(1, Eager("m2"))]
    assert [list(notes) for notes in alice._eager_sent] == [[], [0b100], []]  # the paper's {Bob -> <[001]>}

    assert bob.receive(0, Eager("m2")) == [Deliver(0, "m2"), Send(0, Ack())]
    assert bob.causal_send(2, "m3") == []  # secret mode

    assert alice.receive(1, Ack()) == []  # Carol has still to acknowledge
    assert carol.receive(0, Normal("m1")) == [Deliver(0, "m1"), Send(0, Ack())]
    assert alice.receive(2, Ack()) == [Send(1, Yct())]
    assert bob.receive(0, Yct()) == [Send(2, Normal("m3"))]
    assert carol.receive(1, Normal("m3")) == [Deliver(1, "m3"), Send(1, Ack())]


def test_one_message_at_a_time_for_each_receiver() -> None:
    process = Cykas(0, 3)
    assert process.causal_send(1, "a") == [Send(1, Normal("a"))]
    assert process.causal_send(1, "b") == []
    assert process.causal_send(2, "c") == []  # the output buffer is first in, first out
    assert process.receive(1, Ack()) == [Send(1, Normal("b")), Send(2, Eager("c"))]


def test_a_message_leaves_eagerly_with_a_note_of_its_own() -> None:
    """What EAGER_SENT keeps is a copy: later sends do not change who is waited for."""
    process = Cykas(0, 4)
    process.causal_send(1, "a")
    process.causal_send(2, "b")
    process.causal_send(3, "c")
    assert process.receive(2, Ack()) == []
    assert process.receive(1, Ack()) == [Send(2, Yct())]  # c, sent after b, is unacknowledged
    assert process.receive(3, Ack()) == [Send(3, Yct())]


def test_ycts_come_before_the_messages_that_the_acknowledgement_releases() -> None:
    process = Cykas(0, 4)
    process.causal_send(1, "a")
    process.causal_send(3, "b")
    process.causal_send(2, "c")
    process.causal_send(2, "d")
    assert process.receive(3, Ack()) == []
    assert process.receive(2, Ack()) == [Send(2, Eager("d"))]
    assert process.receive(1, Ack()) == [Send(3, Yct())]  # d is under way to 2: no YCT to 2 yet
    assert process.receive(2, Ack()) == [Send(2, Yct()), Send(2, Yct())]


def test_secret_mode_ends_with_the_last_yct() -> None:
    process = Cykas(0, 3)
    process.receive(1, Eager("a"))
    process.receive(2, Eager("b"))
    assert process.causal_send(1, "c") == []
    assert process.receive(2, Yct()) == []
    assert process.receive(1, Yct()) == [Send(1, Normal("c"))]


def test_acknowledgements_and_ycts_that_are_not_awaited_are_refused() -> None:
    process = Cykas(0, 3)
    with pytest.raises(ProtocolError, match="none is awaited"):
        process.receive(1, Yct())
    with pytest.raises(ProtocolError, match="nothing to acknowledge"):
        process.receive(1, Ack())
    process.causal_send(1, "a")
    with pytest.raises(ProtocolError, match="nothing to acknowledge"):
        process.receive(2, Ack())
    assert process.receive(1, Ack()) == []


def test_two_messages_to_one_receiver_get_through() -> None:
    """As printed, with no receiver of eager messages, the second would be stuck."""
    process = Cykas(0, 2)
    process.causal_send(1, "a")
    process.causal_send(1, "b")
    assert process.receive(1, Ack()) == [Send(1, Normal("b"))]


@pytest.mark.parametrize("channel", [{}, {"self_sends": True}, {"reactive": True}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    kinds = {"NORMAL": 0, "EAGER": 0, "ACK": 0, "YCT": 0}
    for seed in range(2000):
        outcome = simulate(Cykas, seed, processes=2 + seed % 4, **channel)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.packets["YCT"] == outcome.packets["EAGER"]
        assert outcome.packets["ACK"] == outcome.delivered == outcome.sent
        for kind in kinds:
            kinds[kind] += outcome.packets[kind]
    assert min(kinds.values()) > 1000
