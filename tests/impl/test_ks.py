"""The optimal multicast of Kshemkalyani and Singhal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.ks import KS, Entry, Msg


def mask(*processes: int) -> int:
    return sum(1 << process for process in processes)


def packets(commands: Any) -> dict[int, Msg]:
    return {command.destination: command.packet for command in commands if isinstance(command, Send)}


def test_a_message_tells_of_earlier_ones_to_the_same_destination() -> None:
    process = KS(0, 3)
    assert packets(process.causal_send({1, 2}, "a")) == {
        1: Msg("a", 1, mask(1, 2), ()),
        2: Msg("a", 1, mask(1, 2), ()),
    }
    assert process.log == (Entry(0, 1, mask(1, 2)),)
    # p2 has to wait for a, and p1 is still to be told of; after that, it is m that p2 waits for.
    assert packets(process.causal_send({2}, "b")) == {2: Msg("b", 2, mask(2), (Entry(0, 1, mask(1, 2)),))}
    assert process.log == (Entry(0, 1, mask(1)), Entry(0, 2, mask(2)))


def test_of_the_other_destinations_nothing_is_told() -> None:
    """They get the message itself, and wait for what is before it."""
    process = KS(0, 3)
    process.causal_send({1, 2}, "a")
    assert packets(process.causal_send({1, 2}, "b")) == {
        1: Msg("b", 2, mask(1, 2), (Entry(0, 1, mask(1)),)),
        2: Msg("b", 2, mask(1, 2), (Entry(0, 1, mask(2)),)),
    }
    assert process.log == (Entry(0, 2, mask(1, 2)),)


def test_an_answer_waits_for_what_it_answers() -> None:
    one, two, three = (KS(identity, 3) for identity in range(3))
    question = packets(one.causal_send({1, 2}, "question"))
    assert two.receive(0, question[1]) == [Deliver(0, "question")]
    assert two.log == (Entry(0, 1, mask(2)),)
    answer = packets(two.causal_send({2}, "answer"))
    assert three.receive(1, answer[2]) == []
    assert three.receive(0, question[2]) == [Deliver(0, "question"), Deliver(1, "answer")]
    assert three.log == (Entry(0, 1, 0), Entry(1, 1, 0))


def test_what_has_been_purged_elsewhere_goes_here_too() -> None:
    process = KS(2, 3)
    first = Msg("a", 1, mask(1, 2), ())
    assert process.receive(0, first) == [Deliver(0, "a")]
    assert process.log == (Entry(0, 1, mask(1)),)
    # p1 knows of a later message of p0, and not of the first one any more: p1 has delivered that.
    assert process.receive(1, Msg("b", 1, mask(2), (Entry(0, 2, mask(1)),))) == [Deliver(1, "b")]
    assert process.log == (Entry(0, 2, mask(1)), Entry(1, 1, 0))


def test_what_waits_is_looked_at_in_rounds_in_order_of_arrival() -> None:
    process = KS(1, 2)
    third = Msg("c", 3, mask(1), (Entry(0, 2, mask(1)),))
    second = Msg("b", 2, mask(1), (Entry(0, 1, mask(1)),))
    assert process.receive(0, third) == process.receive(0, second) == []
    assert process.receive(0, Msg("a", 1, mask(1), ())) == [Deliver(0, "a"), Deliver(0, "b"), Deliver(0, "c")]


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Msg(None, 1, 1, ()), "no message"),
        (1, Msg("x", 0, 1, ()), "not a message number"),
        (1, Msg("x", "1", 1, ()), "not a message number"),  # type: ignore[arg-type]
        (1, Msg("x", 1, 2, ()), "not a message for process 0"),
        (1, Msg("x", 1, 9, ()), "not a message for process 0"),
        (1, Msg("x", 1, -1, ()), "not a message for process 0"),
        (1, Msg("x", 1, 1, []), "not a log"),  # type: ignore[arg-type]
        (1, Msg("x", 1, 1, (None,)), "cannot know"),  # type: ignore[arg-type]
        (1, Msg("x", 1, 1, (Entry(3, 1, 1),)), "cannot know"),
        (1, Msg("x", 1, 1, (Entry(2, 0, 1),)), "cannot know"),
        (1, Msg("x", 1, 1, (Entry(2, 1, 8),)), "cannot know"),
        (1, Msg("x", 1, 1, (Entry(0, 2, 1),)), "cannot know"),
        (1, Msg("x", 2, 1, (Entry(1, 2, 1),)), "cannot know"),
        (1, Msg("x", 3, 1, (Entry(1, 2, 1), Entry(1, 1, 1))), "ascending"),
        (1, Msg("x", 3, 1, (Entry(1, 2, 1), Entry(1, 2, 2))), "ascending"),
        (0, Msg("x", 2, 1, ()), "message 2 of our own"),
        (2, Msg("c", 1, 1, ()), "has arrived before"),
        (2, Msg("e", 3, 1, (Entry(2, 2, 1),)), "has arrived before"),
    ],
    ids=str,
)
def test_what_no_correct_peer_sends(sender: int, packet: Any, reason: str) -> None:
    process = KS(0, 3)
    process.causal_send({1}, "a")
    process.receive(2, Msg("c", 1, 1, ()))
    process.receive(2, Msg("e", 3, 1, (Entry(2, 2, 1),)))
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)


@pytest.mark.parametrize("channel", [{}, {"self_sends": True}, {"fifo": True}, {"reactive": True}], ids=str)
def test_random_networks(simulate: Callable[..., Any], channel: dict[str, Any]) -> None:
    for seed in range(300):
        outcome = simulate(KS, seed, processes=2 + seed % 4, sends=16, **channel)
        if channel.get("reactive"):
            # An answer from inside the first of several deliveries of one step counts as sent after all of them.
            outcome.findings.pop("over_delay", None)
        assert not outcome.findings, (seed, outcome.findings)
        assert outcome.delivered >= outcome.sent > 0


def test_logs_stay_small_where_broadcasts_follow_each_other() -> None:
    """A message to all makes everything before it implied: each sender keeps its last one."""
    processes = [KS(identity, 4) for identity in range(4)]
    for number in range(40):
        sender = number % 4
        sends = packets(processes[sender].causal_send({0, 1, 2, 3} - {sender}, number))
        for receiver, packet in sends.items():
            assert len(packet.log) <= 4
            assert processes[receiver].receive(sender, packet) == [Deliver(sender, number)]
    assert all(len(process.log) <= 4 for process in processes)
