"""Reliable links: each body once, in order where that is asked for, whatever the network does."""

from __future__ import annotations

import random
import struct

import pytest

from thence.impl.transport.link import REORDERED_LIMIT, LinkError, ReceivingEnd, SendingEnd


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_each_body_arrives_once_over_a_bad_network(ordered: bool, seed: int) -> None:
    choice = random.Random(seed)
    sender, receiver = SendingEnd(), ReceivingEnd(ordered=ordered)
    there: list[bytes] = []
    back: list[bytes] = []
    got: list[bytes] = []
    bodies = [f"body {number}".encode() for number in range(60)]
    for step in range(6_000):
        if step < len(bodies) * 3 and step % 3 == 0:
            there.append(sender.send(bodies[step // 3]))
        if step % 40 == 0:
            there += sender.again(5)
        for flight in (there, back):
            if flight and choice.random() < 0.6:
                position = choice.randrange(len(flight))
                data = flight[position] if choice.random() < 0.2 else flight.pop(position)
                if choice.random() < 0.3:
                    continue
                if flight is there:
                    got += receiver.receive(data) or ()
                    back.append(receiver.acknowledgement())
                else:
                    sender.acknowledged(data)
    assert (got if ordered else sorted(got)) == (bodies if ordered else sorted(bodies))
    assert sender.outstanding == 0
    assert sender.again(99) == []


def test_what_was_sent_since_the_timer_fired_last_is_not_sent_again_yet() -> None:
    link = SendingEnd()
    first = link.send(b"a")
    assert link.again(9) == []
    second = link.send(b"b")
    assert link.again(9) == [first]
    assert link.again(9) == [first, second]
    assert link.again(1) == [first]


def test_what_arrived_beyond_a_gap_is_acknowledged_too() -> None:
    sender, receiver = SendingEnd(), ReceivingEnd(ordered=True)
    one, two, three = (sender.send(body) for body in (b"1", b"2", b"3"))
    assert receiver.receive(three) == []
    assert receiver.receive(three) is None
    sender.acknowledged(receiver.acknowledgement())
    assert sender.outstanding == 2
    assert receiver.receive(one) == [b"1"]
    assert receiver.receive(two) == [b"2", b"3"]
    sender.acknowledged(receiver.acknowledgement())
    assert sender.outstanding == 0


def test_what_the_other_end_cannot_have_sent() -> None:
    sender, receiver = SendingEnd(), ReceivingEnd(ordered=False)
    sender.send(b"a")
    for upto, beyond in ((2, 0), (0, 2), (1, 1)):
        with pytest.raises(LinkError, match="not sent"):
            sender.acknowledged(struct.pack(">BIQ", 1, upto, beyond))
    with pytest.raises(LinkError, match="length"):
        sender.acknowledged(b"\1\0")
    with pytest.raises(LinkError, match="without a number"):
        receiver.receive(b"\0\0\0")
    with pytest.raises(LinkError, match="from 1"):
        receiver.receive(struct.pack(">BI", 0, 0))
    with pytest.raises(LinkError, match="too far ahead"):
        receiver.receive(struct.pack(">BI", 0, REORDERED_LIMIT + 1))
    assert sender.outstanding == 1
    assert receiver.acknowledgement() == struct.pack(">BIQ", 1, 0, 0)
