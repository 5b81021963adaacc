"""Mutual exclusion by logical clocks."""

from __future__ import annotations

from typing import Any

import pytest

from thence.impl.commands import MustWait, ProtocolError, Send
from thence.impl.lamport_mutex import Ack, LamportMutex, Release, Request


def test_of_two_requests_with_one_time_the_first_process_is_granted() -> None:
    one, two = LamportMutex(0, 2), LamportMutex(1, 2)
    assert one.request() == [Send(1, Request(1))]
    assert two.request() == [Send(0, Request(1))]
    assert one.receive(1, Request(1)) == [Send(1, Ack(2))]
    assert two.receive(0, Request(1)) == [Send(0, Ack(2))]
    assert not one.granted
    assert one.receive(1, Ack(2)) == []
    assert two.receive(0, Ack(2)) == []
    assert one.granted and not two.granted
    assert one.release() == [Send(1, Release(4))]
    assert two.receive(0, Release(4)) == []
    assert two.granted and not one.granted
    assert two.release() == [Send(0, Release(6))]


def test_a_later_request_serves_as_an_acknowledgment() -> None:
    process = LamportMutex(0, 2)
    process.request()
    assert process.receive(1, Request(3)) == [Send(1, Ack(4))]
    assert process.granted


def test_it_waits_for_all_others() -> None:
    process = LamportMutex(0, 3)
    assert process.receive(2, Request(7)) == [Send(2, Ack(8))]
    assert process.request() == [Send(1, Request(9)), Send(2, Request(9))]
    process.receive(1, Ack(10))
    assert not process.granted
    process.receive(2, Release(8))
    assert not process.granted
    process.receive(2, Ack(11))
    assert process.granted


def test_alone_it_is_granted_at_once() -> None:
    process = LamportMutex(0, 1)
    assert process.request() == [] and process.granted
    assert process.release() == [] and not process.granted


def test_the_application_waits() -> None:
    process = LamportMutex(0, 2)
    with pytest.raises(MustWait):
        process.release()
    process.request()
    for wrong in (process.request, process.release):
        with pytest.raises(MustWait):
            wrong()
    assert process.receive(1, Ack(2)) == [] and process.granted


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Ack(1), "was not asked"),
        (1, Release(1), "has not asked"),
        (0, Request(1), "nothing to itself"),
        (2, Request(1), "not one of"),
        (1, Request(0), "not later"),
        (1, Request(True), "not later"),
        (1, Request("x"), "not later"),  # type: ignore[arg-type]
        (1, "ACK", "not a packet"),
    ],
)
def test_what_no_correct_peer_sends(sender: int, packet: Any, reason: str) -> None:
    process = LamportMutex(0, 2)
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert process.request() == [Send(1, Request(1))]


def test_what_overtakes_or_comes_twice_is_refused_and_changes_nothing() -> None:
    process = LamportMutex(0, 2)
    assert process.receive(1, Request(4)) == [Send(1, Ack(5))]
    for packet, reason in ((Request(5), "asks again"), (Release(4), "not later"), (Request(3), "not later")):
        with pytest.raises(ProtocolError, match=reason):
            process.receive(1, packet)
    assert process.request() == [Send(1, Request(6))]
    process.receive(1, Ack(7))
    with pytest.raises(ProtocolError, match="was not asked"):
        process.receive(1, Ack(8))
    process.receive(1, Release(8))
    assert process.granted
