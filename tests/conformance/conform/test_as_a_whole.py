"""A step that the protocol does not take, in a case of which it has a run: that is said, and not called an order."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from thence.conformance.cases.network import Settings
from thence.conformance.conform.conform import Report, conform
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Opposite
from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.impl.commands import Deliver, Send

GOSSIP = b"""
protocol gossip:
  delivery broadcast
  network reliable, reordering
  message PUSH(known: set of message)
  state:
    known: set of message
  on causal_send(m): known.add(m)
  periodically:
    for p in process:
      if p != self and known is not empty: send PUSH(known) to p
  on receive PUSH(theirs) from j:
    for m in theirs:
      if m not in known:
        known.add(m)
        deliver m
  eventually delivered
"""


@dataclass(frozen=True)
class Push:
    known: frozenset[str]
    kind: str = "PUSH"
    message: None = None


class Gossip:
    """What is told of a message before it is delivered: once, as in the protocol."""

    delivery = "broadcast"
    TOLD = 1

    def __init__(self, identity: int, processes: int) -> None:
        self.others = [process for process in range(processes) if process != identity]
        self.known: set[str] = set()
        self.told: dict[str, int] = {}

    def causal_send(self, message: str) -> list[object]:
        self.known.add(message)
        return []

    def tick(self) -> list[object]:
        return [Send(other, Push(frozenset(self.known))) for other in self.others if self.known]

    def receive(self, sender: int, packet: Push) -> list[object]:
        commands: list[object] = []
        for message in sorted(packet.known - self.known):
            self.told[message] = self.told.get(message, 0) + 1
            if self.told[message] >= self.TOLD:
                self.known.add(message)
                commands.append(Deliver(int(message[1]), message))
        return commands


class Slow(Gossip):
    """Delivers what it was told twice. No packet says which message it moves, so arrivals are not among the events."""

    TOLD = 2


@pytest.fixture(scope="module")
def gossip() -> ir.Protocol:
    loaded = load_bytes(Path("gossip.thence"), GOSSIP)
    assert loaded.specification is not None, loaded.diagnostics
    return loaded.specification.protocols[0]


def driven(make: type[Gossip], protocol: ir.Protocol, closely: str = "as promised") -> Report:
    settings = Settings(2, channels="reordering", delivery="broadcast").claiming(("conforming", "delivered", "once"))
    return conform(make, Opposite(protocol, closely), settings, Sampling(cases=20, operations=4))  # type: ignore[arg-type]


def test_a_step_that_differs_is_not_called_another_order(gossip: ir.Protocol) -> None:
    report = driven(Slow, gossip)
    assert (report.failures, report.other_order) == (0, None)
    assert report.as_a_whole is not None
    assert "the subject does nothing more" in report.as_a_whole.first.as_a_whole
    assert driven(Slow, gossip, "strictly").failures > 0


def test_where_no_step_differs_nothing_is_said(gossip: ir.Protocol) -> None:
    report = driven(Gossip, gossip)
    assert (report.failures, report.other_order, report.as_a_whole) == (0, None, None)
    assert report.fields == {"PUSH.known": True}
