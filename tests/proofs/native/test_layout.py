"""Packed states: no two fields share a bit, and the network as generated code changes it is a sorted list."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.proofs.native.code.assembly import I64, POINTER
from thence.proofs.native.code.emit import define
from thence.proofs.native.code.kernel import link, new_module
from thence.proofs.native.code.packed import Packed
from thence.proofs.native.layout import WORD, Capacity, Layout, Shape
from thence.proofs.native.memory import Array

Native: TypeAlias = Callable[..., int]


def shape(*sends: int, **changes: object) -> Shape:
    count = len(sends)
    others = tuple(tuple((q,) for q in range(count) if q != p) for p in range(count))
    facts: dict[str, object] = {
        "processes": count, "sends": sends, "choices": others, "timers": (), "inputs": (), "duplicates": 0,
        "losses": 0, "fifo": False, "ordered": False,
    }  # fmt: skip
    return Shape(**{**facts, **changes})  # type: ignore[arg-type]


WIDE = tuple(tuple((q, r) for q in range(3) for r in range(q)) for _ in range(3))

LAYOUTS = [
    Layout(shape(3, 3, 3), Capacity(10, 6, 9)),
    Layout(shape(1, 0), Capacity(1, 2, 1)),
    Layout(shape(32, 32), Capacity(20, 12, 11)),
    Layout(shape(2, 2, 2, timers=(3, None), inputs=(((1, 0, 2), 3),), duplicates=2, losses=1), Capacity(17, 9, 30)),
    Layout(shape(2, 1, 2, choices=WIDE, ordered=True, overtakes=True), Capacity(9, 7, 20)),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_two_fields_share_a_bit(layout: Layout) -> None:
    taken = [0] * layout.words
    for field in layout.fields.values():
        for word, shift in field.places():
            mask = (1 << field.bits) - 1 << shift
            assert mask >> WORD == 0
            assert taken[word] & mask == 0
            taken[word] |= mask
    assert layout.slots >= layout.capacity.slots


def test_a_published_scope_takes_four_words() -> None:
    assert LAYOUTS[0].words == 4


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(derandomize=True, deadline=None, max_examples=20)
@given(data=st.data())
def test_fields_are_read_as_written(layout: Layout, data: st.DataObject) -> None:
    words, written = [0] * layout.words, {}
    for name, field in layout.fields.items():
        number = st.integers(0, (1 << field.bits) - 1)
        count = len(list(field.places()))
        written[name] = tuple(data.draw(st.lists(number, min_size=count, max_size=count)))
        field.write(words, written[name])
    assert {name: field.read(words) for name, field in layout.fields.items()} == written


@cache
def network_code(layout: Layout) -> tuple[object, Native, Native]:
    """`put(words, number)`, which gives what did not fit, and `take(words, position)`."""
    module = new_module()
    emit = define(module, "put", [POINTER, I64], I64, internal=False)
    state = Packed(emit, layout, emit.function.args[0])
    emit.give(state.put_packet(emit.function.args[1], state.rank(emit.function.args[1])))
    emit = define(module, "take", [POINTER, I64], I64, internal=False)
    Packed(emit, layout, emit.function.args[0]).take_packet(emit.function.args[1])
    emit.give(0)
    engine = link(module)
    kind = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
    put, take = (kind(engine.get_function_address(name)) for name in ("put", "take"))
    return engine, put, take


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(derandomize=True, deadline=None, max_examples=40)
@given(data=st.data())
def test_the_network_is_a_sorted_list(layout: Layout, data: st.DataObject) -> None:
    """Descending, then zeros; the rest of the words stays as it is."""
    _, put, take = network_code(layout)
    field = layout.fields["network"]
    rest = [sum(each.mask(word) for each in layout.fields.values()) & ~field.mask(word) for word in range(layout.words)]
    words = Array(layout.words)
    words.write(0, rest)
    model: list[int] = []
    numbers = st.integers(1, (1 << field.bits) - 1)
    for _ in range(data.draw(st.integers(0, layout.slots + 6))):
        removes: bool = data.draw(st.booleans())
        if model and removes:
            at = data.draw(st.integers(0, len(model) - 1))
            take(words.address, at)
            del model[at]
        elif len(model) < layout.slots:
            number = data.draw(numbers)
            assert put(words.address, number) == 0
            model = sorted([*model, number], reverse=True)
        held = words.read(0, layout.words)
        assert field.read(held) == (*model, *[0] * (layout.slots - len(model)))
        assert [word & ~field.mask(at) for at, word in enumerate(held)] == rest
    if len(model) == layout.slots:
        assert put(words.address, data.draw(numbers)) != 0
