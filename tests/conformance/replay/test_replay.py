"""Replay beside the subject: where they part, and the guard that decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from faults import cykas, hybrid_basic, mf, rst

from thence.conformance.cases.network import Settings
from thence.conformance.cases.schedule import Receive, Schedule, Send, Tick
from thence.conformance.cases.schedulers import SCHEDULERS
from thence.conformance.conform.conform import settings_for
from thence.conformance.harness.harness import run_case, run_scheduled
from thence.conformance.implementations import SHIPPED
from thence.conformance.replay.divergence import Divergence
from thence.conformance.replay.replay import Replay
from thence.conformance.systems.subject import load_subject
from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.impl.commands import Command, Deliver
from thence.impl.commands import Send as Transmit
from thence.impl.cykas import Cykas
from thence.impl.mf import MF, Ack
from thence.impl.rst import RST

Library = Callable[[str], ir.Protocol]


def divergence(subject: Any, protocol: ir.Protocol, schedule: Schedule) -> Divergence:
    outcome = run_case(subject, schedule, Settings(), Replay(protocol, 3))
    found = [finding.divergence for finding in outcome.findings if finding.divergence is not None]
    assert len(found) == 1, outcome.findings
    return found[0]


@pytest.mark.long(but=("synchronous", "tree", "mf", "client_server"))
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_implementation_and_its_protocol_go_together(name: str, library: Library) -> None:
    replay, settings = Replay(library(name), 3), settings_for(library(name))
    make = load_subject(SHIPPED[name]).make_process
    matched = 0
    for scheduler in SCHEDULERS.values():
        for seed in range(25):
            outcome = run_scheduled(make, scheduler, seed, 25, settings, replay)
            assert outcome.findings == ()
            assert outcome.matched >= len(outcome.log)
            matched += outcome.matched
    assert matched > 500


def test_the_matched_events_are_inputs_sends_and_deliveries(library: Library) -> None:
    outcome = run_case(MF, (Send(0, 1),), Settings(), Replay(library("mf"), 3))
    # causal_send, MSG sent; MSG received, ACK sent, delivered; ACK received; three timers.
    assert outcome.matched == 2 + 3 + 1 + 3


def test_a_send_too_early_names_the_early_return(library: Library) -> None:
    found = divergence(mf.NoAckWait, library("mf"), (Send(0, 1), Send(0, 2)))
    assert (found.expected, found.got, found.matched) == (None, "sends MSG(m0.2) to p2", 3)
    assert found.guard is not None
    assert (found.guard.condition, found.guard.outcome) == ("waiting or OB is empty", True)
    assert found.guard.label == "OB.wait"
    assert found.guard.values == (("waiting", "true"), ("OB", "<m0.2>"))
    assert str(found) == (
        "p0, causal_send to p2: the protocol does nothing more, the subject sends MSG(m0.2) to p2, "
        "after 3 matching events; [line 29, # OB.wait] waiting or OB is empty was true (waiting = true, OB = <m0.2>)"
    )


def test_secret_mode_is_named(library: Library) -> None:
    schedule = (Send(0, 1), Send(0, 2), Receive(0, (0, 2)), Send(2, 1))
    found = divergence(cykas.SecretModeIgnored, library("cykas"), schedule)
    assert found.got == "sends NORMAL(m2.1) to p1"
    assert found.guard is not None
    assert (found.guard.label, found.guard.values) == ("A2.2", (("MODE", "1"),))


def test_the_guard_is_that_of_the_receiver_meant(library: Library) -> None:
    """TRY_SEND_YCT is called for each receiver in turn: the last call is not the one that decided."""
    schedule = (Send(0, 2), Send(0, 1), Receive(0, (0, 1)), Receive(0, (1, 0)))
    found = divergence(cykas.TellsTooEarly, library("cykas"), schedule)
    assert found.got == "sends YCT to p1"
    assert found.guard is not None
    assert found.guard.label == "A4.14"
    assert dict(found.guard.values) == {"EAGER_SENT[r].first": "{p2}", "r": "p1", "UNACK": "{p2}"}


def test_another_kind_of_packet_names_the_choice(library: Library) -> None:
    found = divergence(cykas.AlwaysNormal, library("cykas"), (Send(0, 1), Send(0, 2)))
    assert (found.expected, found.got) == ("sends EAGER(m0.2) to p2", "sends NORMAL(m0.2) to p2")
    assert found.guard is not None
    assert (found.guard.label, found.guard.outcome, found.guard.values) == ("A2.9", False, (("UNACK", "{p1}"),))


def test_a_delivery_too_early_names_the_condition(library: Library) -> None:
    found = divergence(rst.SenderLeftOut, library("rst"), (Send(0, 1), Send(0, 1), Receive(1, (0, 1))))
    assert found.input == "receive MSG(m0.2, [p0: [p1: 1]]) from p0"
    assert found.got == "delivers m0.2"
    assert found.guard is not None
    assert not found.guard.outcome
    assert ("DELIV", "[]") in found.guard.values


def test_a_delivery_that_does_not_come_names_what_allowed_it(library: Library) -> None:
    found = divergence(rst.TimerDelivers, library("rst"), (Send(0, 1),))
    assert (found.expected, found.got) == ("delivers m0.1", None)
    assert found.guard is not None
    assert (found.guard.outcome, found.guard.label) == (True, "deliverable")


def test_permits_are_named(library: Library) -> None:
    schedule = (Send(0, 1), Send(0, 2), Receive(0, (0, 2)), Send(2, 1))
    found = divergence(hybrid_basic.PermitNotAwaited, library("hybrid_basic"), schedule)
    assert found.guard is not None
    assert (found.guard.label, found.guard.condition) == ("31", "p.first < m.perm")
    assert dict(found.guard.values) == {"p.first": "0", "m.perm": "1"}


def test_where_nothing_decided_there_is_no_guard(library: Library) -> None:
    found = divergence(mf.AckMissing, library("mf"), (Send(0, 1),))
    assert (found.expected, found.got, found.guard) == ("sends ACK() to p0", "delivers m0.1", None)


def test_a_timer_that_the_protocol_has_not_does_nothing(library: Library) -> None:
    found = divergence(mf.RetransmissionWithoutFilter, library("mf"), (Send(0, 1), Tick(0)))
    assert (found.input, found.expected, found.got) == ("periodically", None, "sends MSG(m0.1) to p1")


def test_packets_without_a_kind_are_said(library: Library) -> None:
    class Bare(RST):
        def causal_send(self, destination: int, message: Any) -> list[Command]:
            return [Transmit(destination, message)]

    found = divergence(Bare, library("rst"), (Send(0, 1),))
    assert (found.expected, found.got) == ("sends MSG(m0.1, []) to p1", "sends None to p1")


def test_a_fault_of_the_protocols_text_is_a_nonconformance(library: Library) -> None:
    """Cykas in which a YCT is told without an eager message: its receiver takes MODE below zero."""
    cykas_protocol = library("cykas")
    eager = next(h for h in cykas_protocol.handlers if h.kind == "EAGER")
    deaf = replace(eager, body=tuple(s for s in eager.body if not isinstance(s, ir.Assign)))
    broken = replace(cykas_protocol, handlers=tuple(deaf if h is eager else h for h in cykas_protocol.handlers))
    found = divergence(Cykas, broken, (Send(0, 1), Send(0, 2)))
    assert found.fault is not None
    assert (found.input, found.expected, found.got) == ("receive YCT() from p0", None, None)
    assert "p2, receive YCT() from p0: the protocol cannot take this step" in str(found)


def test_after_they_part_only_the_oracle_judges(library: Library) -> None:
    outcome = run_case(mf.NoAckWait, (Send(0, 1), Send(0, 1), Receive(1, (0, 1))), Settings(), Replay(library("mf"), 3))
    assert [finding.kind for finding in outcome.findings] == ["nonconformance", "causal", "fifo"]
    assert outcome.matched == 3


def test_an_acknowledgement_to_another_process_is_another_event(library: Library) -> None:
    class Misdirected(MF):
        def receive(self, sender: int, packet: Any) -> list[Command]:
            commands = super().receive(sender, packet)
            return [
                Transmit((c.destination + 1) % 3, c.packet) if isinstance(c, Transmit) and c.packet == Ack() else c
                for c in commands
            ]

    found = divergence(Misdirected, library("mf"), (Send(0, 1),))
    assert (found.expected, found.got) == ("sends ACK() to p0", "sends ACK to p1")


def test_remembered_steps_are_forgotten_in_the_end(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    replay = Replay(library("cykas"), 3)
    make = load_subject(SHIPPED["cykas"]).make_process
    scheduler = SCHEDULERS["uniform"]
    fresh = [run_scheduled(make, scheduler, seed, 20, Settings(), replay) for seed in range(20)]
    monkeypatch.setattr("thence.conformance.replay.replay.REMEMBERED", 10)
    assert [run_scheduled(make, scheduler, seed, 20, Settings(), replay) for seed in range(20)] == fresh


TIMED = """
protocol timed:
  message MSG(m: message) carries m
  message ALIVE()
  state: kept: set of message
  on causal_send(m): kept.add(m)
  on receive MSG(m) from j: deliver m
  periodically post:
    for m in kept: send MSG(m) to m.dst
    kept.clear()
  periodically beat:
    for p in process:
      if p != self: send ALIVE() to p
  property at_most_once
"""


@dataclass(frozen=True)
class Packet:
    kind: str
    message: str | None = None


class Timed:
    """Follows the protocol above; `mute` are timers in which it does nothing."""

    delivery = "unicast"
    mute: tuple[str, ...] = ()

    def __init__(self, process: int, processes: int) -> None:
        self.others = [other for other in range(processes) if other != process]
        self.kept: list[tuple[int, str]] = []

    def causal_send(self, destination: int, message: str) -> list[Command]:
        self.kept.append((destination, message))
        return []

    def receive(self, sender: int, packet: Packet) -> list[Command]:
        return [] if packet.message is None else [Deliver(sender, packet.message)]

    def tick(self, timer: str) -> list[Command]:
        if timer in self.mute:
            return []
        if timer == "beat":
            return [Transmit(other, Packet("ALIVE")) for other in self.others]
        assert timer == "post"
        kept, self.kept = self.kept, []
        return [Transmit(destination, Packet("MSG", message)) for destination, message in kept]


class Silent(Timed):
    mute = ("beat",)


def test_timers_with_names_fire_by_their_names() -> None:
    specification = load_bytes(Path("timed.thence"), TIMED.encode()).specification
    assert specification is not None
    protocol = specification.protocols[0]
    replay, settings = Replay(protocol, 3), settings_for(protocol)
    assert settings.timers == ("post", "beat")
    assert Settings.from_json(settings.to_json()) == settings
    matched = 0
    for seed in range(20):
        outcome = run_scheduled(Timed, SCHEDULERS["uniform"], seed, 25, settings, replay)
        assert outcome.findings == ()
        matched += outcome.matched
    assert matched > 500
    found = divergence(Silent, protocol, (Send(0, 1), Tick(0, "post"), Tick(0), Tick(0, "beat")))
    assert (found.input, found.expected, found.got) == ("periodically beat", "sends ALIVE() to p1", None)
