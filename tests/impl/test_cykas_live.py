"""Cykas without starvation."""

from __future__ import annotations

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.cykas import Ack, Cykas, Eager, Normal, Yct
from thence.impl.cykas_live import CykasLive


def test_a_message_does_not_wait_for_a_secret_that_came_after_it() -> None:
    """Cykas sends b only when a moment without secrets comes, and in a stream of eager messages none does."""
    process, published = CykasLive(1, 4), Cykas(1, 4)
    for each in (process, published):
        assert each.receive(0, Eager("x")) == [Deliver(0, "x"), Send(0, Ack())]
        assert each.causal_send(2, "b") == []
        assert each.receive(3, Eager("y")) == [Deliver(3, "y"), Send(3, Ack())]
    assert published.receive(0, Yct()) == []
    assert process.receive(0, Yct()) == [Send(2, Normal("b"))]
    assert process.causal_send(3, "c") == []  # the secret of 3 is older than c
    assert process.receive(2, Ack()) == []
    assert process.receive(3, Yct()) == [Send(3, Normal("c"))]


def test_the_ycts_of_one_process_end_its_secrets_in_their_order() -> None:
    process = CykasLive(1, 3)
    process.receive(0, Eager("x"))
    assert process.causal_send(2, "b") == []
    process.receive(0, Eager("y"))
    assert process.causal_send(2, "c") == []
    assert process.receive(0, Yct()) == [Send(2, Normal("b"))]
    assert process.receive(2, Ack()) == []  # c remembers y
    assert process.receive(0, Yct()) == [Send(2, Normal("c"))]


def test_a_message_waits_for_as_many_ycts_as_there_were_secrets() -> None:
    process = CykasLive(1, 3)
    process.receive(0, Eager("x"))
    process.receive(0, Eager("y"))
    assert process.causal_send(2, "b") == []
    assert process.receive(0, Yct()) == []
    assert process.receive(0, Yct()) == [Send(2, Normal("b"))]


def test_without_secrets_it_is_cykas() -> None:
    process, published = CykasLive(0, 3), Cykas(0, 3)
    for each in (process, published):
        assert each.causal_send(1, "a") == [Send(1, Normal("a"))]
        assert each.causal_send(2, "b") == [Send(2, Eager("b"))]
        assert each.causal_send(1, "c") == []
        assert each.receive(2, Ack()) == []
        assert each.receive(1, Ack()) == [Send(2, Yct()), Send(1, Normal("c"))]


def test_a_yct_that_its_sender_does_not_owe_changes_nothing() -> None:
    process = CykasLive(1, 3)
    process.receive(0, Eager("x"))
    assert process.causal_send(2, "b") == []
    with pytest.raises(ProtocolError, match="process 2 sends a YCT, and none is awaited from it"):
        process.receive(2, Yct())
    assert process.receive(0, Yct()) == [Send(2, Normal("b"))]


def test_a_message_that_cannot_be_sent_leaves_no_trace() -> None:
    process = CykasLive(0, 2)
    with pytest.raises(ValueError, match="None"):
        process.causal_send(1, None)
    assert process.causal_send(1, "a") == [Send(1, Normal("a"))]
