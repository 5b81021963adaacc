"""Packets as bytes."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.impl import cykas, hybrid_basic, ks, rst
from thence.impl.commands import CausalProcess
from thence.impl.hybrid_basic import HybridBasic
from thence.impl.hybrid_optimal import HybridOptimal
from thence.impl.ks import KS
from thence.impl.rst import RST
from thence.impl.transport.codec import DEEPEST, Codec, DecodeError, EncodeError, _with_parts

CODEC = Codec.of(HybridBasic)

values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.text(max_size=20),
        st.binary(max_size=20),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4).map(tuple), st.frozensets(inner, max_size=4)),
    max_leaves=12,
)
packets = st.one_of(
    st.builds(hybrid_basic.Msg, values, values, values, st.booleans()),
    st.builds(hybrid_basic.Ack, st.integers()),
    st.builds(hybrid_basic.Permit, st.integers(0)),
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.one_of(values, packets))
def test_what_is_encoded_is_decoded(value: Any) -> None:
    data = CODEC.encode(value)
    decoded = CODEC.decode(data)
    assert decoded == value
    assert type(decoded) is type(value)
    assert hash(decoded) == hash(value)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(packets, st.data())
def test_what_is_cut_off_or_has_something_behind_it_is_no_packet(packet: Any, data: st.DataObject) -> None:
    encoded = CODEC.encode(packet)
    with pytest.raises(DecodeError):
        CODEC.decode(encoded[: data.draw(st.integers(0, len(encoded) - 1))])
    with pytest.raises(DecodeError, match="left over"):
        CODEC.decode(encoded + b"\0")


@settings(derandomize=True, deadline=None, max_examples=500)
@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_a_decode_error(data: bytes) -> None:
    try:
        value = CODEC.decode(data)
    except DecodeError as error:
        assert str(error)
    else:
        assert CODEC.decode(CODEC.encode(value)) == value or value != value


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, "00"), (127, "7f"), (128, "838001"), (-1, "8400"), (None, "80"), (True, "82"), ("a", "860161"),
        (b"", "8700"),
        ((1, 2), "88020102"), (frozenset({2, 1}), "89020102"), (1.5, "853ff8000000000000"),
        (hybrid_basic.Ack(5), "8a010005"), (hybrid_basic.Msg("m", 3, 0, True), "8a040186016d030082"),
    ],
)  # fmt: skip
def test_the_format(value: Any, data: str) -> None:
    assert CODEC.encode(value).hex() == data


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "1 bytes are missing"), ("ff", "no value of kind 0xff"), ("8602ff", "bytes are missing"),
        ("8601ff", "not text"), ("888f0100", "do not fit"), ("8a0109", "no packet of kind 9"),
        ("8a0200", "does not have 2 fields"), ("83" + "80" * 64, "too long"), ("8801" * 20 + "00", "nested"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_format(data: str, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        CODEC.decode(bytes.fromhex(data))


@pytest.mark.parametrize("value", [[1], {"a": 1}, object(), cykas.Ack(), 1 << 500, "\ud800", {1}])
def test_what_cannot_travel(value: Any) -> None:
    with pytest.raises(EncodeError):
        CODEC.encode((value,))


def test_values_are_not_nested_for_ever() -> None:
    value: Any = 0
    for _ in range(DEEPEST + 1):
        value = (value,)
    with pytest.raises(EncodeError, match="nested"):
        CODEC.encode(value)


def test_packets_are_those_of_the_implementation_and_of_what_it_extends() -> None:
    class Extended(RST):
        pass

    assert [kind.__name__ for kind in CODEC.kinds] == ["Ack", "Msg", "Permit"]
    assert Codec.of(HybridOptimal).kinds == CODEC.kinds
    assert Codec.of(Extended).kinds == (rst.Msg,)
    assert [kind.__name__ for kind in Codec.of(KS).kinds] == ["Entry", "Msg"]
    with pytest.raises(ValueError, match="none"):
        Codec.of(CausalProcess)


def test_small_counts_take_one_byte() -> None:
    size = 30
    packet = rst.Msg("m", tuple((5,) * size for _ in range(size)))
    assert len(Codec.of(RST).encode(packet)) <= size * size + 2 * size + 10


def test_annotations_that_name_nothing() -> None:
    @dataclasses.dataclass(frozen=True)
    class Odd:
        kind = "ODD"
        meta: Nowhere  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(ValueError, match="fields of Odd cannot be told"):
        _with_parts([Odd])


def test_packets_of_packets() -> None:
    codec = Codec.of(KS)
    entry = ks.Entry(0, 2, 6)
    packet = codec.decode(codec.encode(ks.Msg("m", 3, 6, (entry,))))
    assert packet == ks.Msg("m", 3, 6, (entry,))
    assert codec.is_packet(packet)
    assert not codec.is_packet(entry)
    assert not codec.is_packet("m")
