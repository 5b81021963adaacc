"""Distributed snapshots."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from thence.impl.chandy_lamport import PURSE, ChandyLamport, Marker, Token
from thence.impl.commands import Deliver, MustWait, ProtocolError, Send


def test_a_token_on_its_way_is_recorded_in_its_channel() -> None:
    one, two = ChandyLamport(0, 2), ChandyLamport(1, 2)
    assert two.causal_send(0, "n") == [Send(0, Token("n"))]
    assert one.begin() == [Send(1, Marker())]
    assert (one.recorded, one.channel(1), one.complete) == (1, None, False)
    assert one.receive(1, Token("n")) == [Deliver(1, "n")]
    assert one.causal_send(1, "m") == [Send(1, Token("m"))]
    assert two.receive(0, Marker()) == [Send(0, Marker())]
    assert (two.recorded, two.channel(0), two.complete) == (0, (), True)
    assert two.receive(0, Token("m")) == [Deliver(0, "m")]
    assert one.receive(1, Marker()) == []
    assert (one.recorded, one.channel(1), one.complete) == (1, ("n",), True)
    assert one.receive(1, Token("late")) == [Deliver(1, "late")]
    assert (two.channel(0), one.channel(1)) == ((), ("n",))


def test_a_channel_keeps_its_order() -> None:
    one = ChandyLamport(0, 3)
    one.begin()
    for message in ("a", "b"):
        one.receive(1, Token(message))
    one.receive(2, Token("c"))
    one.receive(1, Marker())
    assert (one.channel(1), one.channel(2)) == (("a", "b"), None)


def test_alone_it_is_complete_at_once() -> None:
    process = ChandyLamport(0, 1)
    assert process.begin() == []
    assert process.complete and process.audit(0, PURSE) == []


def test_the_application_waits() -> None:
    process = ChandyLamport(0, 2)
    with pytest.raises(MustWait):
        process.audit(0, 1)
    process.begin()
    for asked in (process.begin, lambda: process.audit(0, 1)):
        with pytest.raises(MustWait):
            asked()
    process.receive(1, Marker())
    assert process.audit(0, 1) == process.audit(1, 0) == []
    for place, tokens in ((0, 0), (1, 1)):
        with pytest.raises(MustWait):
            process.audit(place, tokens)


def test_without_a_token_nothing_is_sent() -> None:
    process = ChandyLamport(0, 2)
    process.causal_send(1, "m")
    assert process.blocked and process.tokens == 0
    with pytest.raises(ValueError, match="no token"):
        process.causal_send(1, "n")
    process.receive(1, Token("o"))
    assert not process.blocked


def test_places_that_there_are_not() -> None:
    process = ChandyLamport(0, 2)
    for place in (2, -1, "x"):
        with pytest.raises(ValueError, match="not one of"):
            process.audit(place, 0)  # type: ignore[arg-type]
    for sender in (0, 2):
        with pytest.raises(ValueError, match="no channel"):
            process.channel(sender)


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Marker(), "comes after"),
        (0, Token("x"), "oneself"),
        (0, Marker(), "oneself"),
        (1, Token(None), "no message"),
        (2, Token("x"), "not one of"),
        (1, "MARKER", "not a packet"),
    ],
)
def test_what_no_correct_peer_sends(
    sender: int, packet: Any, reason: str, snapshot: Callable[[Any], dict[str, Any]]
) -> None:
    process = ChandyLamport(0, 2)
    process.receive(1, Marker())
    before = snapshot(process)
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert snapshot(process) == before


class Bank:
    """A group over a random network with FIFO channels. The history is kept beside it: of each message, whether its
    sender had recorded its state when it was sent, and its receiver when it arrived."""

    def __init__(self, seed: int, *, fifo: bool = True) -> None:
        self.random, self.fifo = random.Random(seed), fifo
        self.group = [ChandyLamport(identity, 2 + seed % 3) for identity in range(2 + seed % 3)]
        self.flight: dict[tuple[int, int], deque[Any]] = {}
        self.sent_after: dict[int, bool] = {}
        self.received_after: dict[int, bool] = {}
        self.route: dict[int, tuple[int, int]] = {}

    def run(self) -> None:
        for _ in range(60):
            process = self.random.randrange(len(self.group))
            match self.random.randrange(6):
                case 0 | 1 if not self.group[process].blocked:
                    self.send(process)
                case 2 if self.random.random() < 0.2 and self.group[process].recorded is None:
                    self.carry_out(process, self.group[process].begin())
                case _:
                    self.arrive()
        if all(process.recorded is None for process in self.group):
            self.carry_out(0, self.group[0].begin())
        while self.flight:
            self.arrive()

    def send(self, process: int) -> None:
        to = self.random.choice([other for other in range(len(self.group)) if other != process])
        message = len(self.route)
        self.route[message] = process, to
        self.sent_after[message] = self.group[process].recorded is not None
        self.carry_out(process, self.group[process].causal_send(to, message))

    def arrive(self) -> None:
        if not self.flight:
            return
        sender, to = self.random.choice(sorted(self.flight))
        channel = self.flight[sender, to]
        if not self.fifo:
            channel.rotate(self.random.randrange(len(channel)))
        packet = channel.popleft()
        if not channel:
            del self.flight[sender, to]
        if packet.message is not None:
            self.received_after[packet.message] = self.group[to].recorded is not None
        self.carry_out(to, self.group[to].receive(sender, packet))

    def carry_out(self, process: int, commands: Any) -> None:
        for command in commands:
            if isinstance(command, Send):
                self.flight.setdefault((process, command.destination), deque()).append(command.packet)

    def recorded_in_channels(self) -> Iterator[tuple[tuple[int, int], tuple[Any, ...]]]:
        for to, process in enumerate(self.group):
            for sender in range(len(self.group)):
                if sender != to:
                    messages = process.channel(sender)
                    assert messages is not None
                    yield (sender, to), messages

    def total(self) -> int:
        in_channels = sum(len(messages) for _, messages in self.recorded_in_channels())
        return in_channels + sum(process.recorded or 0 for process in self.group)


def test_random_networks() -> None:
    """The recorded state is that after the events before each process's record: channels have what was sent before its
    sender's record and received after its receiver's, in order, and nothing is received before that was sent after."""
    recorded = after = 0
    for seed in range(400):
        bank = Bank(seed)
        bank.run()
        assert all(process.complete for process in bank.group)
        assert bank.total() == PURSE * len(bank.group)
        for message, sent_after in bank.sent_after.items():
            assert bank.received_after[message] or not sent_after
            after += sent_after
        for route, messages in bank.recorded_in_channels():
            on_route = [message for message, ends in bank.route.items() if ends == route]
            crossing = [one for one in on_route if bank.received_after[one] and not bank.sent_after[one]]
            assert messages == tuple(crossing)
            recorded += len(messages)
    assert recorded > 100 and after > 1000


def test_channels_that_reorder_falsify_the_record() -> None:
    """The test above can fail: the algorithm needs channels that keep their order."""
    wrong = 0
    for seed in range(400):
        bank = Bank(seed, fifo=False)
        bank.run()
        wrong += bank.total() != PURSE * len(bank.group)
    assert wrong > 20
