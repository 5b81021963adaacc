"""The contract of `CausalProcess`, for every implementation: what raises changes nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.impl import cykas, hybrid_basic, hybrid_optimal, mf, rst
from thence.impl.commands import CausalProcess, Deliver, ProtocolError, Send
from thence.impl.cykas import Cykas
from thence.impl.hybrid_basic import HybridBasic
from thence.impl.hybrid_optimal import HybridOptimal
from thence.impl.mf import MF
from thence.impl.rst import RST

ALL: list[type[CausalProcess]] = [MF, RST, Cykas, HybridBasic, HybridOptimal]

naturals = st.integers(-2, 6)
messages = st.one_of(st.none(), st.text(max_size=2), st.integers())
junk = st.one_of(st.none(), st.integers(), st.text(max_size=3), st.lists(st.integers(), max_size=2))
rows = st.lists(naturals, min_size=2, max_size=4).map(tuple)
matrices = st.one_of(junk, st.lists(st.one_of(rows, junk), min_size=2, max_size=4).map(tuple))

PACKETS: dict[type[CausalProcess], st.SearchStrategy[Any]] = {
    MF: st.one_of(junk, st.builds(mf.Msg, messages), st.builds(mf.Ack), st.builds(cykas.Yct)),
    RST: st.one_of(junk, st.builds(rst.Msg, messages, matrices), st.builds(mf.Ack)),
    Cykas: st.one_of(
        junk,
        st.builds(cykas.Normal, messages),
        st.builds(cykas.Eager, messages),
        st.builds(cykas.Ack),
        st.builds(cykas.Yct),
    ),
    HybridBasic: st.one_of(
        junk,
        st.builds(hybrid_basic.Msg, messages, st.one_of(naturals, junk), st.one_of(naturals, junk), st.booleans()),
        st.builds(hybrid_basic.Ack, st.one_of(naturals, junk)),
        st.builds(hybrid_basic.Permit, st.one_of(naturals, junk)),
    ),
}
PACKETS[HybridOptimal] = PACKETS[HybridBasic]


@pytest.mark.parametrize("factory", ALL)
@settings(derandomize=True, deadline=None, max_examples=150)
@given(data=st.data())
def test_a_packet_is_taken_or_raises_protocol_error_and_changes_nothing(
    factory: type[CausalProcess],
    settled: Callable[..., list[CausalProcess]],
    snapshot: Callable[[CausalProcess], dict[str, Any]],
    data: st.DataObject,
) -> None:
    process = settled(factory, data.draw(st.integers(0, 50)))[0]
    before = snapshot(process)
    sender = data.draw(st.one_of(st.integers(-1, 3), junk))
    packet = data.draw(PACKETS[factory])
    try:
        commands = process.receive(sender, packet)  # type: ignore[arg-type]
    except ProtocolError as error:
        assert str(error)
        assert snapshot(process) == before
    else:
        assert all(isinstance(command, Send | Deliver) for command in commands)


@pytest.mark.parametrize("factory", ALL)
@pytest.mark.parametrize("destination", [-1, 3, "1", None, 0.5])
def test_an_unknown_destination_is_a_value_error_and_changes_nothing(
    factory: type[CausalProcess],
    destination: Any,
    settled: Callable[..., list[CausalProcess]],
    snapshot: Callable[[CausalProcess], dict[str, Any]],
) -> None:
    process = settled(factory, 7)[0]
    before = snapshot(process)
    with pytest.raises(ValueError, match="destination"):
        process.causal_send(destination, "m")
    with pytest.raises(ValueError, match="not a message"):
        process.causal_send(1, None)
    assert snapshot(process) == before


@pytest.mark.parametrize("factory", ALL)
def test_a_process_outside_the_group_cannot_be_built(factory: type[CausalProcess]) -> None:
    for identity, processes in ((3, 3), (-1, 2), (0, 0)):
        with pytest.raises(ValueError, match="process"):
            factory(identity, processes)


@pytest.mark.parametrize("module", [mf, rst, cykas, hybrid_basic, hybrid_optimal], ids=lambda module: module.__name__)
def test_packets_are_immutable_hashable_values_that_say_what_they_move(module: Any) -> None:
    classes = [c for c in vars(module).values() if dataclasses.is_dataclass(c) and hasattr(c, "kind")]
    assert len(classes) >= 1
    for packet_class in classes:
        names = [field.name for field in dataclasses.fields(packet_class)]
        packet = packet_class(*range(1, len(names) + 1))
        assert packet.kind == packet.kind.upper()
        assert packet.message == (1 if names[:1] == ["message"] else None)
        assert hash(packet) == hash(packet_class(*range(1, len(names) + 1)))
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            packet.message = 3


def test_commands_are_values() -> None:
    assert Send(1, mf.Msg("a")) == Send(1, mf.Msg("a"))
    assert Deliver(1, "a") != Deliver(2, "a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Deliver(1, "a").sender = 2  # type: ignore[misc]
