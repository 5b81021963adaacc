"""The contracts of `MulticastProcess` and `BroadcastProcess`, for every implementation: what raises changes nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.impl import cbcast, hybrid_basic, ks, newtop, skeen
from thence.impl.cbcast import CBCAST
from thence.impl.commands import BroadcastProcess, Deliver, MulticastProcess, ProtocolError, Send
from thence.impl.hybrid_multicast import HybridMulticast
from thence.impl.ks import KS
from thence.impl.newtop import Newtop
from thence.impl.skeen import Skeen

MULTICAST: list[type[MulticastProcess]] = [HybridMulticast, KS, Skeen]
BROADCAST: list[type[BroadcastProcess]] = [CBCAST, Newtop]
ALL: list[type[Any]] = [*MULTICAST, *BROADCAST]

naturals = st.integers(-2, 8)
messages = st.one_of(st.none(), st.text(max_size=2), st.integers())
junk = st.one_of(st.none(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
anything = st.one_of(naturals, junk)
clocks = st.one_of(junk, st.lists(naturals, min_size=2, max_size=4).map(tuple))
logs = st.one_of(
    junk, st.lists(st.one_of(st.builds(ks.Entry, anything, anything, anything), junk), max_size=3).map(tuple)
)

PACKETS: dict[type[Any], st.SearchStrategy[Any]] = {
    HybridMulticast: st.one_of(
        junk,
        st.builds(hybrid_basic.Msg, messages, anything, anything, st.booleans()),
        st.builds(hybrid_basic.Ack, anything),
        st.builds(hybrid_basic.Permit, anything),
    ),
    KS: st.one_of(junk, st.builds(ks.Msg, messages, anything, anything, logs), st.builds(hybrid_basic.Ack, anything)),
    Skeen: st.one_of(
        junk,
        st.builds(skeen.Msg, messages, anything),
        st.builds(skeen.Propose, anything, anything),
        st.builds(skeen.Final, anything, anything, anything),
    ),
    CBCAST: st.one_of(junk, st.builds(cbcast.Msg, messages, clocks), st.builds(newtop.Msg, messages, naturals)),
    Newtop: st.one_of(
        junk,
        st.builds(newtop.Msg, messages, anything),
        st.builds(newtop.Null, anything),
        st.builds(cbcast.Msg, messages, clocks),
    ),
}


@pytest.mark.parametrize("factory", ALL)
@settings(derandomize=True, deadline=None, max_examples=150)
@given(data=st.data())
def test_a_packet_is_taken_or_raises_protocol_error_and_changes_nothing(
    factory: type[Any],
    settled: Callable[..., list[Any]],
    snapshot: Callable[[Any], dict[str, Any]],
    data: st.DataObject,
) -> None:
    channel = {"fifo": True, "self_sends": True} if factory is Newtop else {}
    process = settled(factory, data.draw(st.integers(0, 50)), **channel)[0]
    before = snapshot(process)
    sender = data.draw(st.one_of(st.integers(-1, 3), junk))
    packet = data.draw(PACKETS[factory])
    try:
        commands = process.receive(sender, packet)
    except ProtocolError as error:
        assert str(error)
        assert snapshot(process) == before
    else:
        assert all(isinstance(command, Send | Deliver) for command in commands)


@pytest.mark.parametrize("factory", ALL)
@settings(derandomize=True, deadline=None, max_examples=60)
@given(data=st.data())
def test_a_second_copy_is_refused_or_delivers_nothing_again(
    factory: type[Any], snapshot: Callable[[Any], dict[str, Any]], data: st.DataObject
) -> None:
    one, two = factory(0, 2), factory(1, 2)
    sends = []
    for number in range(data.draw(st.integers(1, 4))):
        made = one.causal_send({1}, number) if factory in MULTICAST else one.causal_send(number)
        sends += [command.packet for command in made if isinstance(command, Send)]
    for packet in sends if factory is Newtop else data.draw(st.permutations(sends)):
        two.receive(0, packet)
    before = snapshot(two)
    again = data.draw(st.sampled_from(sends))
    try:
        commands = two.receive(0, again)
    except ProtocolError:
        assert factory is not HybridMulticast, "its channels may duplicate"
        assert snapshot(two) == before
    else:
        assert factory is HybridMulticast
        assert commands == [Send(0, hybrid_basic.Ack(again.mid))]
        assert snapshot(two) == before


@pytest.mark.parametrize("factory", MULTICAST)
@settings(derandomize=True, deadline=None, max_examples=60)
@given(destinations=st.one_of(st.sets(st.integers(-1, 4)), st.frozensets(st.one_of(st.integers(), st.text())), junk))
def test_destinations_are_a_set_of_processes_and_not_none(
    factory: type[Any],
    settled: Callable[..., list[Any]],
    snapshot: Callable[[Any], dict[str, Any]],
    destinations: Any,
) -> None:
    process = settled(factory, 7)[0]
    before = snapshot(process)
    if isinstance(destinations, set | frozenset) and destinations and destinations <= {0, 1, 2}:
        assert all(isinstance(command, Send) for command in process.causal_send(destinations, "m"))
        return
    with pytest.raises(ValueError, match="destination"):
        process.causal_send(destinations, "m")
    assert snapshot(process) == before


@pytest.mark.parametrize("factory", ALL)
def test_none_is_not_a_message(
    factory: type[Any], settled: Callable[..., list[Any]], snapshot: Callable[[Any], dict[str, Any]]
) -> None:
    process = settled(factory, 7)[0]
    before = snapshot(process)
    with pytest.raises(ValueError, match="not a message"):
        if factory in MULTICAST:
            process.causal_send({1}, None)
        else:
            process.causal_send(None)
    assert snapshot(process) == before


@pytest.mark.parametrize("factory", ALL)
def test_a_process_outside_the_group_cannot_be_built(factory: type[Any]) -> None:
    for identity, processes in ((3, 3), (-1, 2), (0, 0)):
        with pytest.raises(ValueError, match="process"):
            factory(identity, processes)


@pytest.mark.parametrize("factory", ALL)
def test_a_class_says_where_its_messages_go(factory: type[Any]) -> None:
    assert factory.delivery == ("multicast" if factory in MULTICAST else "broadcast")


@pytest.mark.parametrize("module", [cbcast, newtop, ks, skeen], ids=lambda module: module.__name__)
def test_packets_are_immutable_hashable_values_that_say_what_they_move(module: Any) -> None:
    classes = [c for c in vars(module).values() if dataclasses.is_dataclass(c) and hasattr(c, "kind")]
    assert len(classes) >= 1
    for packet_class in classes:
        names = [field.name for field in dataclasses.fields(packet_class)]
        packet: Any = packet_class(*range(1, len(names) + 1))
        assert packet.kind == packet.kind.upper()
        assert packet.message == (1 if names[:1] == ["message"] else None)
        assert hash(packet) == hash(packet_class(*range(1, len(names) + 1)))
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            packet.message = 3
