"""Mutual exclusion by permission from all others."""

from __future__ import annotations

from typing import Any

import pytest

from thence.impl.commands import MustWait, ProtocolError, Send
from thence.impl.ricart_agrawala import Reply, Request, RicartAgrawala


def test_of_two_requests_with_one_number_the_first_node_enters() -> None:
    one, two = RicartAgrawala(0, 2), RicartAgrawala(1, 2)
    assert one.request() == [Send(1, Request(1))]
    assert two.request() == [Send(0, Request(1))]
    assert one.receive(1, Request(1)) == []
    assert two.receive(0, Request(1)) == [Send(0, Reply())]
    assert one.receive(1, Reply()) == []
    assert one.inside and not two.inside
    assert one.release() == [Send(1, Reply())]
    assert two.receive(0, Reply()) == []
    assert two.inside and not one.inside
    assert two.release() == []


def test_a_later_request_has_a_higher_number() -> None:
    process = RicartAgrawala(0, 3)
    assert process.receive(2, Request(7)) == [Send(2, Reply())]
    assert process.request() == [Send(1, Request(8)), Send(2, Request(8))]
    assert process.receive(1, Request(8)) == []
    assert process.receive(2, Request(7)) == [Send(2, Reply())]


def test_alone_it_enters_at_once() -> None:
    process = RicartAgrawala(0, 1)
    assert process.request() == []
    assert process.inside
    assert process.release() == []


def test_the_application_waits() -> None:
    process = RicartAgrawala(0, 2)
    with pytest.raises(MustWait):
        process.release()
    process.request()
    for wrong in (process.request, process.release):
        with pytest.raises(MustWait):
            wrong()
    assert process.receive(1, Reply()) == [] and process.inside


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Reply(), "was not asked"),
        (0, Request(1), "nothing to itself"),
        (2, Request(1), "not one of"),
        (1, Request(0), "not the number"),
        (1, Request(True), "not the number"),
        (1, Request("x"), "not the number"),  # type: ignore[arg-type]
        (1, "REPLY", "not a packet"),
    ],
)
def test_what_no_correct_peer_sends(sender: int, packet: Any, reason: str) -> None:
    process = RicartAgrawala(0, 2)
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert process.request() == [Send(1, Request(1))]


def test_who_has_been_deferred_does_not_ask_again() -> None:
    process = RicartAgrawala(0, 2)
    process.request()
    assert process.receive(1, Request(1)) == []
    with pytest.raises(ProtocolError, match="asks again"):
        process.receive(1, Request(2))
