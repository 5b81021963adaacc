"""Skeen's total order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.skeen import Final, Msg, Propose, Skeen


def test_two_messages_cross() -> None:
    one, two, p, q = (Skeen(identity, 4) for identity in range(4))
    a, b = Msg("a", 1), Msg("b", 1)
    assert one.causal_send({2, 3}, "a") == [Send(2, a), Send(3, a)]
    assert two.causal_send({2, 3}, "b") == [Send(2, b), Send(3, b)]
    assert p.receive(0, a) == [Send(0, Propose(1, 1))]
    assert p.receive(1, b) == [Send(1, Propose(1, 2))]
    assert q.receive(1, b) == [Send(1, Propose(1, 1))]
    assert q.receive(0, a) == [Send(0, Propose(1, 2))]
    assert one.receive(2, Propose(1, 1)) == []
    first = Final(1, 2, 3)
    assert one.receive(3, Propose(1, 2)) == [Send(2, first), Send(3, first)]
    assert two.receive(3, Propose(1, 1)) == []
    second = Final(1, 2, 2)
    assert two.receive(2, Propose(1, 2)) == [Send(2, second), Send(3, second)]
    # The numbers are equal: p, which has proposed that of b, is the lower process.
    assert p.receive(0, first) == []
    assert p.receive(1, second) == [Deliver(1, "b"), Deliver(0, "a")]
    assert q.receive(1, second) == [Deliver(1, "b")]
    assert q.receive(0, first) == [Deliver(0, "a")]


def test_the_next_proposal_is_above_what_others_have_proposed() -> None:
    process = Skeen(1, 3)
    assert process.receive(0, Msg("a", 1)) == [Send(0, Propose(1, 1))]
    assert process.receive(0, Final(1, 7, 2)) == [Deliver(0, "a")]
    assert process.clock == 7
    assert process.receive(0, Msg("b", 2)) == [Send(0, Propose(2, 8))]


def test_what_is_undecided_holds_up_what_is_behind_it() -> None:
    process = Skeen(0, 3)
    for number in (1, 2, 3):
        process.receive(1, Msg(f"m{number}", number))
    assert process.receive(1, Final(3, 3, 0)) == []
    assert process.receive(1, Final(2, 9, 2)) == []
    assert process.receive(1, Final(1, 1, 0)) == [Deliver(1, "m1"), Deliver(1, "m3"), Deliver(1, "m2")]


def test_a_process_may_send_to_itself() -> None:
    process = Skeen(0, 1)
    assert process.causal_send({0}, "a") == [Send(0, Msg("a", 1))]
    assert process.receive(0, Msg("a", 1)) == [Send(0, Propose(1, 1))]
    assert process.receive(0, Propose(1, 1)) == [Send(0, Final(1, 1, 0))]
    assert process.receive(0, Final(1, 1, 0)) == [Deliver(0, "a")]


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Msg(None, 1), "no message"),
        (1, Msg("x", 0), "not the number of a message"),
        (1, Msg("x", True), "not the number of a message"),
        (1, Msg("x", "1"), "not the number of a message"),  # type: ignore[arg-type]
        (2, Msg("b", 1), "arrived before"),
        (1, Propose(1, 0), "not the number of a priority"),
        (1, Propose(2, 1), "was not asked"),
        (2, Propose(1, 1), "was not asked"),
        (1, Propose([], 1), "was not asked"),  # type: ignore[arg-type]
        (2, Final(0, 1, 0), "not the number of a message"),
        (2, Final(1, 0, 0), "not the number of a priority"),
        (2, Final(1, 1, 3), "no such process"),
        (2, Final(1, 1, False), "no such process"),
        (2, Final(2, 1, 0), "waits for no priority"),
        (1, Final(1, 1, 0), "waits for no priority"),
        (2, Final(3, 4, 1), "waits for no priority"),
        (2, Final(4, 2, 2), "below the one"),
        (2, "MSG", "not a packet"),
        (3, Msg("x", 1), "not one of"),
    ],
    ids=str,
)
def test_what_no_correct_peer_sends(
    sender: int, packet: Any, reason: str, snapshot: Callable[[Any], dict[str, Any]]
) -> None:
    process = Skeen(0, 3)
    process.causal_send({1}, "a")
    process.receive(2, Msg("b", 1))
    process.receive(2, Msg("c", 3))
    process.receive(2, Final(3, 4, 1))
    process.receive(2, Msg("d", 4))
    before = snapshot(process)
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert snapshot(process) == before


@pytest.mark.parametrize("channel", [{}, {"self_sends": True}, {"fifo": True}, {"reactive": True}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    """Everything is delivered, once, and in one order, which is neither causal nor FIFO."""
    findings: Counter[str] = Counter()
    for seed in range(300):
        outcome = simulate(Skeen, seed, processes=2 + seed % 4, sends=16, **channel)
        assert outcome.crossings == 0
        assert outcome.delivered >= outcome.sent > 0
        findings += outcome.findings
    # A message that has arrived waits for its priority, which no other message is a reason for.
    assert {"fifo", "over_delay"} <= set(findings) <= {"causal", "fifo", "over_delay"}
    assert "causal" in findings or channel == {"fifo": True}  # rare there
