"""Algorithm 2 with remembered permits."""

from __future__ import annotations

from thence.impl.commands import Deliver, Send
from thence.impl.hybrid_basic import Ack, Msg, Permit
from thence.impl.hybrid_optimal import HybridOptimal
from thence.impl.hybrid_remembering import HybridRemembering


def message(name: str, mid: int, pid: int = 0, *, per: bool = False) -> Msg:
    return Msg(name, mid, pid, per)


def test_a_permit_that_overtakes_its_message_counts() -> None:
    """`hybrid_optimal` keeps b back until its timer asks again."""
    process, published = HybridRemembering(1, 3), HybridOptimal(1, 3)
    for each in (process, published):
        assert each.receive(0, Permit(2)) == []
        assert each.receive(0, message("a", 2, per=True)) == [Send(0, Ack(2)), Deliver(0, "a")]
    assert process.causal_send(2, "b") == [Send(2, message("b", 1))]
    assert published.causal_send(2, "b") == []


def test_a_permit_speaks_for_the_earlier_messages_of_its_sender() -> None:
    process = HybridRemembering(1, 3)
    process.receive(0, message("a", 2, per=True))
    process.receive(0, message("b", 4, 2, per=True))
    assert process.causal_send(2, "c") == []
    assert process.receive(0, Permit(4)) == [Send(2, message("c", 1))]
    assert process.receive(0, Permit(2)) == []
    assert process.tick() == [Send(2, message("c", 1))]


def test_a_permit_does_not_speak_for_later_messages_or_other_senders() -> None:
    process = HybridRemembering(1, 4)
    process.receive(0, Permit(2))
    process.receive(0, message("a", 2, per=True))
    process.receive(0, message("b", 4, 2, per=True))
    assert process.causal_send(2, "c") == []
    assert process.receive(3, Permit(4)) == []
    assert process.receive(0, Permit(3)) == []
    assert process.receive(0, Permit(4)) == [Send(2, message("c", 1))]


def test_what_was_causal_sent_before_does_not_wait_for_later_permits() -> None:
    process = HybridRemembering(1, 4)
    process.receive(0, message("a", 2, per=True))
    assert process.causal_send(2, "c") == []
    process.receive(3, message("b", 2, per=True))
    assert process.causal_send(2, "d") == []
    assert process.receive(0, Permit(2)) == [Send(2, message("c", 1))]
    assert process.receive(3, Permit(2)) == [Send(2, message("d", 2, 1))]


def test_a_lost_permit_is_asked_for() -> None:
    process = HybridRemembering(1, 3)
    process.receive(0, message("a", 2, per=True))
    assert process.tick() == [Send(0, Ack(2))]
