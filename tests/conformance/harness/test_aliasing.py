"""Packets that change after they were sent."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Receive, Send
from thence.conformance.conform.conform import conform
from thence.conformance.conform.sampling import Sampling
from thence.conformance.harness.aliasing import SentPackets
from thence.conformance.harness.harness import run_case
from thence.impl.commands import Deliver
from thence.impl.commands import Send as Transmit
from thence.impl.rst import RST


@dataclass
class Packet:
    message: str
    clock: Any
    kind: str = "MSG"


class Sharing:
    """Sends its own list of counts, which it goes on counting in."""

    def __init__(self, identity: int, processes: int) -> None:
        self.counts = [0] * processes

    def held(self) -> Any:
        return self.counts

    def causal_send(self, destination: int, message: str) -> list[Any]:
        self.counts[destination] += 1
        return [Transmit(destination, Packet(message, self.held()))]

    def receive(self, sender: int, packet: Packet) -> list[Any]:
        return [Deliver(sender, packet.message)]


class Copying(Sharing):
    def held(self) -> Any:
        return list(self.counts)


class Again(Copying):
    """Writes into a packet only where no copy of it is in flight, and sends it again."""

    packet: Packet | None = None

    def causal_send(self, destination: int, message: str) -> list[Any]:
        if self.packet is None:
            self.packet = Packet(message, [0])
        self.packet.message = message
        return [Transmit(destination, self.packet)]


def test_it_is_found_and_named() -> None:
    outcome = run_case(Sharing, (Send(0, 1), Send(0, 2)), Settings())
    [finding] = outcome.findings
    assert (finding.kind, finding.process) == ("aliasing", 0)
    assert "the packet from p0 to p1 has changed since it was sent: .clock[2] was 0 and is 1" in finding.text
    report = conform(Sharing, None, Settings(), Sampling(cases=40, operations=8))
    assert {kind for shown in report.counterexamples for kind in shown.kinds} >= {"aliasing"}
    assert "aliasing" not in run_case(Copying, (Send(0, 1), Send(0, 2)), Settings()).kinds


def test_what_nobody_shares_may_be_written_to() -> None:
    schedule = (Send(0, 1), Receive(0, (0, 1)), Send(0, 1), Receive(0, (0, 1)))
    assert run_case(Again, schedule, Settings()).findings == ()
    assert run_case(Again, (Send(0, 1), Send(0, 2)), Settings()).kinds == {"aliasing"}


class Colour(Enum):
    RED = 1


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner


@dataclass(frozen=True)
class Frozen:
    inner: Any
    memory: dict[str, Any] = field(default_factory=dict, compare=False)


class Plain:
    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self._found: int | None = None


def made(random: Random, depth: int) -> Any:
    """A random value that packets may hold."""
    inner = lambda: made(random, depth - 1)  # noqa: E731
    leaves = [lambda: random.randrange(9), lambda: "text", lambda: None, lambda: Decimal(3), lambda: Colour.RED]
    nodes = [
        lambda: [inner(), inner()], lambda: (inner(), inner()), lambda: {"a": inner(), 2: inner()},
        lambda: {1, 2, random.randrange(9)}, lambda: deque([inner()]), lambda: bytearray(b"ab"), lambda: Plain(inner()),
        lambda: Slotted(inner()), lambda: Frozen(inner()), lambda: SimpleNamespace(x=inner()), lambda: frozenset({1}),
        lambda: {(1, Colour.RED): inner()},
    ]  # fmt: skip
    return random.choice(leaves if depth == 0 else nodes)()


def written(random: Random, value: Any) -> bool:
    """Writes somewhere into the value; false where nothing in it can be written to."""
    match value:
        case list() | deque():
            if random.random() < 0.5 and any(written(random, one) for one in value):
                return True
            value.append(77)
        case bytearray():
            value[0] ^= 1
        case set():
            value.add(77)
        case dict():
            if random.random() < 0.5 and any(written(random, one) for one in value.values()):
                return True
            value["new"] = 77
        case tuple():
            return any(written(random, one) for one in value)
        case Plain() | Slotted():
            value.inner = [value.inner]
        case SimpleNamespace():
            value.x = [value.x]
        case Frozen():
            return written(random, value.inner)
        case _:
            return False
    return True


@pytest.mark.parametrize("seed", range(400))
def test_every_change_is_noticed_and_nothing_else(seed: int) -> None:
    random = Random(seed)
    packet = Packet("m0.1", made(random, random.randrange(4)))
    sent = SentPackets()
    sent.sent(packet)
    assert sent.keeps(packet) and sent.change(packet) == ""
    if written(random, packet.clock):
        assert " was " in sent.change(packet), packet
        assert sent.change(packet).isprintable() and len(sent.change(packet)) < 400
    else:
        assert sent.change(packet) == ""


def test_what_is_computed_and_remembered_is_no_change() -> None:
    packet = Plain([1])
    sent = SentPackets()
    sent.sent(packet)
    packet._found = 3
    packet.size = 1  # type: ignore[attr-defined]
    assert sent.change(packet) == ""


def test_packets_that_hold_nothing_mutable_cost_nothing_after_a_while() -> None:
    sent = SentPackets()
    one = RST(0, 3).causal_send(1, "m0.1")[0].packet  # type: ignore[union-attr]
    for _ in range(100):
        sent.sent(one)
    assert not sent.keeps(one)
    begun = time.process_time()
    for _ in range(10_000):
        sent.sent(one)
    assert time.process_time() - begun < 0.5


def test_a_packet_that_holds_itself_is_no_trouble() -> None:
    packet = Packet("m0.1", [])
    packet.clock.append(packet)
    sent = SentPackets()
    sent.sent(packet)
    assert sent.change(packet) == ""
    packet.clock.append(1)
    assert sent.change(packet)
