"""Causal broadcast by flooding, where links come and go."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from thence.impl.commands import Command, Deliver, MustWait, ProtocolError, Send
from thence.impl.pc_broadcast import Msg, PCBroadcast, Ping, Pong


def test_a_link_becomes_safe_by_a_ping_and_a_buffer() -> None:
    ann, bob, cy = (PCBroadcast(identity, 3) for identity in range(3))
    a, b = Msg("a", 0, 1), Msg("b", 0, 2)
    assert ann.causal_send("a") == [Send(1, a)]
    assert ann.open(2) == [Send(1, Ping(0, 2, 1))]
    assert ann.causal_send("b") == [Send(1, b)]
    assert (ann.safe, ann.unsafe) == ({1}, {2})
    assert bob.receive(0, a) == [Send(2, a), Deliver(0, "a")]
    assert bob.receive(0, Ping(0, 2, 1)) == [Send(2, Ping(0, 2, 1))]
    assert cy.receive(1, a) == [Send(0, a), Deliver(0, "a")]
    assert cy.receive(1, Ping(0, 2, 1)) == [Send(0, Pong(1))]
    assert ann.receive(2, a) == []
    assert ann.receive(2, Pong(1)) == [Send(2, b)]
    assert (ann.safe, ann.unsafe) == ({1, 2}, set())
    assert ann.causal_send("c") == [Send(1, Msg("c", 0, 3)), Send(2, Msg("c", 0, 3))]


def test_what_others_broadcast_is_kept_too_and_leaves_in_order() -> None:
    ann = PCBroadcast(0, 4)
    ann.open(2)
    x, own = Msg("x", 3, 1), Msg("own", 0, 1)
    assert ann.receive(3, x) == [Send(1, x), Deliver(3, "x")]
    assert ann.causal_send("own") == [Send(1, own)]
    assert ann.receive(2, Pong(1)) == [Send(2, x), Send(2, own)]


def test_the_answer_to_an_earlier_ping_is_not_taken() -> None:
    ann = PCBroadcast(0, 3)
    assert ann.open(2) == [Send(1, Ping(0, 2, 1))]
    assert ann.close(2) == []
    ann.causal_send("a")
    assert ann.open(2) == [Send(1, Ping(0, 2, 2))]
    ann.causal_send("b")
    assert ann.receive(2, Pong(1)) == []
    assert ann.unsafe == {2}
    assert ann.receive(2, Pong(2)) == [Send(2, Msg("b", 0, 2))]
    assert ann.receive(2, Pong(2)) == []
    assert ann.close(2) == [] and ann.safe == {1}


def test_what_comes_again_is_not_delivered_again() -> None:
    process = PCBroadcast(1, 3)
    packet, ping = Msg("a", 0, 1), Ping(0, 2, 1)
    assert process.receive(0, packet) == [Send(2, packet), Deliver(0, "a")]
    assert process.receive(2, packet) == []
    assert process.receive(0, ping) == [Send(2, ping)]
    assert process.receive(2, ping) == []


def test_a_ping_comes_back_to_its_source() -> None:
    process = PCBroadcast(0, 4)
    assert process.open(2) == [Send(1, Ping(0, 2, 1))]
    assert process.receive(3, Ping(0, 2, 1)) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_small_groups(processes: int) -> None:
    process = PCBroadcast(0, processes)
    assert process.causal_send("a") == [Send(1, Msg("a", 0, 1))] * (processes - 1)
    for other in range(processes):
        with pytest.raises(MustWait):
            process.open(other)


def test_when_the_application_has_to_wait(snapshot: Callable[[Any], Any]) -> None:
    process = PCBroadcast(0, 4)
    process.open(2)
    before = snapshot(process)
    for other in (0, 1, 2):
        with pytest.raises(MustWait):
            process.open(other)
    for other in (0, 1, 3):
        with pytest.raises(MustWait):
            process.close(other)
    for wrong in (4, -1, None, "x"):
        for method in (process.open, process.close):
            with pytest.raises(ValueError, match="not one of"):
                method(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a message"):
        process.causal_send(None)
    assert snapshot(process) == before


@pytest.mark.parametrize(
    ("sender", "packet", "reason"),
    [
        (1, Msg(None, 1, 1), "no message"),
        (1, Msg("x", 7, 1), "no process"),
        (1, Msg("x", 1, 2), "comes after"),
        (1, Msg("x", 0, 2), "comes after"),
        (1, Msg("x", 1, 0), "not the number of a message"),
        (1, Msg("x", 1, True), "not the number of a message"),
        (1, Msg("x", 1, None), "not the number of a message"),  # type: ignore[arg-type]
        (0, Msg("x", 1, 1), "nothing to itself"),
        (9, Msg("x", 1, 1), "not one of"),
        (1, Ping(1, 1, 1), "no ping goes"),
        (1, Ping(1, "x", 1), "no ping goes"),  # type: ignore[arg-type]
        (1, Ping(9, 1, 1), "no ping goes"),
        (1, Ping(1, 2, 0), "not the number of a ping"),
        (1, Ping(0, 2, 2), "was not sent"),
        (2, Pong(0), "was not sent"),
        (2, Pong(2), "was not sent"),
        (2, Pong("x"), "was not sent"),  # type: ignore[arg-type]
        (1, Pong(1), "a ping for process 2"),
        (1, "PING", "not a packet"),
    ],
    ids=str,
)
def test_what_no_correct_peer_sends(sender: int, packet: Any, reason: str, snapshot: Callable[[Any], Any]) -> None:
    process = PCBroadcast(0, 3)
    process.causal_send("a")
    process.open(2)
    before = snapshot(process)
    with pytest.raises(ProtocolError, match=reason):
        process.receive(sender, packet)
    assert snapshot(process) == before


class Run:
    """A random run of broadcasts over links that come and go, and what it shows; the oracle is the definition."""

    def __init__(self, factory: Callable[[int, int], PCBroadcast], seed: int, processes: int) -> None:
        self.choice = random.Random(seed)
        self.group = [factory(identity, processes) for identity in range(processes)]
        self.channels: dict[tuple[int, int], list[Any]] = {}
        self.past: list[set[int]] = []
        self.known: list[set[int]] = [set() for _ in self.group]
        self.handed: list[list[int]] = [[] for _ in self.group]
        self.seen: Counter[str] = Counter()
        while len(self.past) < 12:
            self.step()
        while self.network():
            pass

    def step(self) -> None:
        process = self.choice.randrange(len(self.group))
        match self.choice.randrange(8):
            case 0 | 1:
                self.known[process].add(message := len(self.past))
                self.past.append(set(self.known[process]) - {message})
                self.carry_out(process, self.group[process].causal_send(message))
            case 2 | 3:
                name, other = self.choice.choice(["open", "open", "close"]), self.choice.randrange(len(self.group))
                try:
                    commands = getattr(self.group[process], name)(other)
                except MustWait:
                    return
                self.seen[name] += 1
                self.carry_out(process, commands)
            case _:
                self.network()

    def network(self) -> bool:
        if not (ready := sorted(channel for channel, packets in self.channels.items() if packets)):
            return False
        sender, receiver = self.choice.choice(ready)
        packet = self.channels[sender, receiver].pop(0)
        self.seen[packet.kind] += 1
        self.carry_out(receiver, self.group[receiver].receive(sender, packet))
        return True

    def carry_out(self, process: int, commands: list[Command]) -> None:
        for command in commands:
            match command:
                case Send(destination, packet):
                    self.channels.setdefault((process, destination), []).append(packet)
                case Deliver(_, message):
                    self.seen["causal"] += not self.past[message] <= self.known[process]
                    self.seen["duplicate"] += message in self.known[process]
                    self.known[process] |= {message}
                    self.handed[process].append(message)


def test_random_runs() -> None:
    """Causal, once, everything everywhere; and every link that stays open becomes safe."""
    seen: Counter[str] = Counter()
    for seed in range(400):
        run = Run(PCBroadcast, seed, 3 + seed % 3)
        seen += run.seen
        assert not run.seen["causal"] and not run.seen["duplicate"], seed
        assert all(known == set(range(12)) for known in run.known), seed
        assert all(not process.unsafe for process in run.group), seed
    assert min(seen[kind] for kind in ("open", "close", "MSG", "PING", "PONG")) > 100


def test_links_that_are_used_at_once_are_not_causal() -> None:
    """The oracle of the random runs notices."""

    class AtOnce(PCBroadcast):
        def open(self, other: int) -> list[Command]:
            super().open(other)
            self._buffers.clear()
            self._safe.add(other)
            return []

        def _is_known(self, packet: Msg) -> bool:
            return packet.number <= self._received[packet.origin]

    assert sum(Run(AtOnce, seed, 3 + seed % 3).seen["causal"] > 0 for seed in range(200)) > 20
