"""Whatever arrives, every unicast implementation takes it or raises ProtocolError, and what raises changes nothing."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.impl.chandy_lamport import ChandyLamport
from thence.impl.client_server import ClientServer
from thence.impl.commands import Deliver, ProtocolError, Send
from thence.impl.cykas import Cykas
from thence.impl.cykas_live import CykasLive
from thence.impl.fifo import Fifo
from thence.impl.hybrid_basic import HybridBasic
from thence.impl.hybrid_optimal import HybridOptimal
from thence.impl.hybrid_remembering import HybridRemembering
from thence.impl.mf import MF
from thence.impl.mf_pipelined import MFPipelined
from thence.impl.rst import RST
from thence.impl.rst_hunch import RSTHunch
from thence.impl.rst_mf import RSTMF
from thence.impl.ses import SES
from thence.impl.synchronous import Synchronous
from thence.impl.tree import Tree

ALL: list[Any] = [
    MF, MFPipelined, Synchronous, Cykas, CykasLive, RST, RSTMF, RSTHunch, SES, ClientServer, Fifo, HybridBasic,
    HybridOptimal, HybridRemembering, Tree, ChandyLamport,
]  # fmt: skip
TELLS_COPIES = [RST, RSTMF, RSTHunch, SES, Fifo, HybridBasic, HybridOptimal, HybridRemembering]
"""Those whose packets say which message they move. The packets of the others are all alike."""

NO_SELF_SENDS = [Synchronous, RST, RSTMF, SES, ClientServer, HybridOptimal, HybridRemembering, Tree, ChandyLamport]

PROCESSES = 3

JUNK = st.one_of(
    st.none(), st.integers(-3, 9), st.text(max_size=2), st.floats(), st.lists(st.integers(), max_size=2), st.booleans(),
    st.lists(st.integers(-1, 5), max_size=4).map(tuple),
    st.lists(st.lists(st.integers(-1, 5), min_size=3, max_size=3).map(tuple), min_size=2, max_size=4).map(tuple),
)  # fmt: skip


class Run:
    """A group in the middle of a random run, and every packet that was sent: (sender, receiver, packet)."""

    def __init__(self, factory: Any, seed: int) -> None:
        choice = random.Random(seed)
        self.group: list[Any] = [factory(identity, PROCESSES) for identity in range(PROCESSES)]
        self.sent: list[tuple[int, int, Any]] = []
        self.flight: list[tuple[int, int, Any]] = []
        self.arrived: list[tuple[int, int, Any]] = []
        self.delivered: list[set[Any]] = [set() for _ in range(PROCESSES)]
        fifo = factory.channels == "fifo"
        for number in range(choice.randrange(4, 30)):
            if self.flight and choice.random() < 0.6:
                chosen = choice.randrange(len(self.flight))
                if fifo:
                    ends = self.flight[chosen][:2]
                    chosen = next(place for place, flight in enumerate(self.flight) if flight[:2] == ends)
                sender, receiver, packet = self.flight.pop(chosen)
                self.arrived.append((sender, receiver, packet))
                self.carry_out(receiver, self.group[receiver].receive(sender, packet))
            else:
                sender, receiver = choice.sample(range(PROCESSES), 2)
                if not getattr(self.group[sender], "blocked", False):
                    self.carry_out(sender, self.group[sender].causal_send(receiver, f"m{number}"))

    def carry_out(self, process: int, commands: Any) -> None:
        for command in commands:
            match command:
                case Send(destination, packet):
                    self.sent.append((process, destination, packet))
                    self.flight.append((process, destination, packet))
                case Deliver(_, message):
                    self.delivered[process].add(message)


def altered(packet: Any, data: st.DataObject) -> Any:
    """The packet with one of its fields changed; cut off, if you like."""
    fields = dataclasses.fields(packet)
    if not fields:
        return packet
    field = data.draw(st.sampled_from(fields)).name
    value = getattr(packet, field)
    if isinstance(value, tuple) and value and data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(value) - 1))
        one = (*value[:place], data.draw(JUNK), *value[place + 1 :])
        return dataclasses.replace(packet, **{field: data.draw(st.sampled_from([value[:place], one]))})
    return dataclasses.replace(packet, **{field: data.draw(JUNK)})


@pytest.mark.long(but=("MFPipelined", "MF", "Tree"))
@pytest.mark.parametrize("factory", ALL)
@settings(derandomize=True, deadline=None, max_examples=250)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_what_arrives_is_taken_or_refused_and_what_is_refused_changes_nothing(
    factory: Any, snapshot: Callable[[Any], Any], seed: int, data: st.DataObject
) -> None:
    run = Run(factory, seed)
    sender, receiver, packet = data.draw(st.sampled_from(run.sent))
    match data.draw(st.sampled_from(["replayed", "altered", "misdirected", "from another", "junk"])):
        case "altered":
            packet = altered(packet, data)
        case "misdirected":
            receiver = data.draw(st.integers(0, PROCESSES - 1))
        case "from another":
            sender = data.draw(st.one_of(st.integers(-1, PROCESSES), JUNK))  # type: ignore[assignment]
        case "junk":
            packet = data.draw(JUNK)
    process = run.group[receiver]
    before = snapshot(process)
    try:
        commands = process.receive(sender, packet)
    except ProtocolError as error:
        assert str(error)
        assert snapshot(process) == before
    else:
        assert all(isinstance(command, Send | Deliver) for command in commands)
        assert not any(command.message is None for command in commands if isinstance(command, Deliver))


@pytest.mark.parametrize("factory", TELLS_COPIES)
@settings(derandomize=True, deadline=None, max_examples=150)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_a_packet_that_arrives_again_delivers_nothing_again(factory: Any, seed: int, data: st.DataObject) -> None:
    run = Run(factory, seed)
    if not run.arrived:
        return
    sender, receiver, packet = data.draw(st.sampled_from(run.arrived))
    try:
        commands = run.group[receiver].receive(sender, packet)
    except ProtocolError as error:
        assert "before" in str(error)
    else:
        again = [command.message for command in commands if isinstance(command, Deliver)]
        assert not run.delivered[receiver].intersection(again)
        assert len(again) == len(set(again))


@pytest.mark.parametrize("factory", ALL)
@settings(derandomize=True, deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), destination=st.one_of(st.integers(-2, 5), JUNK), message=JUNK)
def test_what_cannot_be_sent_changes_nothing(
    factory: Any, snapshot: Callable[[Any], Any], seed: int, destination: Any, message: Any
) -> None:
    process = Run(factory, seed).group[1]
    before = snapshot(process)
    known = isinstance(destination, int) and 0 <= destination < PROCESSES
    refused = not known or message is None or (destination == 1 and factory in NO_SELF_SENDS)
    if not refused and not getattr(process, "blocked", False):
        assert all(isinstance(command, Send | Deliver) for command in process.causal_send(destination, message))
        return
    with pytest.raises(ValueError):
        process.causal_send(destination, message)
    assert snapshot(process) == before


@pytest.mark.parametrize("factory", ALL)
def test_an_empty_set_of_destinations_is_no_destination(factory: Any, snapshot: Callable[[Any], Any]) -> None:
    process = factory(0, PROCESSES)
    before = snapshot(process)
    for destinations in (set(), frozenset(), (), []):
        with pytest.raises(ValueError, match="destination"):
            process.causal_send(destinations, "m")
    assert snapshot(process) == before
