"""Causal order at one server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.client_server import ClientServer, Msg, Reply, Request
from thence.impl.commands import Deliver, ProtocolError, Send


def test_a_request_waits_for_those_that_its_sender_knew_of() -> None:
    server, one, two = (ClientServer(identity, 3) for identity in range(3))
    assert one.causal_send(0, "credit") == [Send(0, Request("credit", (0, 1, 0)))]
    assert one.causal_send(2, "buy") == [Send(2, Msg("buy", (0, 1, 0)))]
    assert two.receive(1, Msg("buy", (0, 1, 0))) == [Deliver(1, "buy")]
    assert two.causal_send(0, "debit") == [Send(0, Request("debit", (0, 1, 1)))]
    assert server.receive(2, Request("debit", (0, 1, 1))) == []
    assert server.receive(1, Request("credit", (0, 1, 0))) == [Deliver(1, "credit"), Deliver(2, "debit")]
    assert server.counts == (0, 1, 1)
    assert server.causal_send(1, "done") == [Send(1, Reply("done"))]
    assert one.receive(0, Reply("done")) == [Deliver(0, "done")]


@pytest.mark.parametrize(
    ("identity", "sender", "packet", "reason"),
    [
        (0, 1, Msg("x", (0, 0, 0)), "sends process 0 a MSG"),
        (0, 1, Reply("x"), "sends process 0 a REPLY"),
        (1, 2, Request("x", (0, 0, 1)), "sends process 1 a REQUEST"),
        (1, 0, Msg("x", (0, 0, 0)), "sends process 1 a MSG"),
        (1, 2, Reply("x"), "sends process 1 a REPLY"),
        (1, 0, Reply(None), "no message"),
        (1, 2, Msg("x", (0, 1, 0)), "not issued"),
        (1, 2, Msg("x", (1, 0, 0)), "not issued"),
        (1, 2, Msg("x", (0, 0)), "not a vector"),
        (0, 2, Request("x", (0, 0, 0)), "comes after"),
        (1, 1, Msg("x", (0, 0, 0)), "oneself"),
    ],
)
def test_what_no_correct_peer_sends(identity: int, sender: int, packet: Any, reason: str) -> None:
    process = ClientServer(identity, 3)
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert process.counts == (0, 0, 0)


def test_a_request_that_comes_twice_is_refused() -> None:
    server = ClientServer(0, 3)
    request, waiting = Request("x", (0, 1, 0)), Request("y", (0, 3, 1))
    assert server.receive(1, request) == [Deliver(1, "x")]
    assert server.receive(2, waiting) == []
    for sender, again in ((1, request), (2, waiting)):
        with pytest.raises(ProtocolError, match="comes after"):
            server.receive(sender, again)


def test_random_networks(simulate: Callable[..., Any]) -> None:
    """What is out of order is so at clients only."""
    findings: Counter[str] = Counter()
    for seed in range(1000):
        outcome = simulate(ClientServer, seed, processes=2 + seed % 4, fifo=True)
        assert outcome.delivered == outcome.sent == 12
        findings += outcome.findings
    assert set(findings) == {"causal"}
