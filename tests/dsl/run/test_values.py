"""Values: maps and windows against plain Python models, order, and how they are shown."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record, Type
from thence.dsl.run.values import (
    ABSENT,
    Message,
    ascending,
    elements,
    lookup,
    messages_in,
    show,
    size,
    with_entry,
    zero,
)

OPTION = Collection("option", NAT)
SET = Collection("set", NAT)
PAIR = Record("Pair", (("left", NAT), ("right", OPTION)))

OPTIONS = st.none() | st.tuples(st.integers(0, 3))
SETS = st.frozensets(st.integers(0, 3))
KEYS: dict[str, st.SearchStrategy[Any]] = {
    "nat": st.integers(0, 4),
    "message": st.builds(Message, st.integers(0, 1), st.integers(0, 2), st.just((0, 1))),
    "option": OPTIONS,
    "set": SETS,
    "record": st.tuples(st.integers(0, 2), OPTIONS),
}


@pytest.mark.parametrize("key", KEYS)
def test_map_against_a_dictionary(key: str) -> None:
    @settings(derandomize=True, deadline=None, max_examples=60)
    @given(st.lists(st.tuples(KEYS[key], st.one_of(st.just(ABSENT), st.integers(1, 3)))))
    def holds(changes: list[tuple[Any, Any]]) -> None:
        model: dict[Any, Any] = {}
        map_: Any = ()
        for known, value in changes:
            map_ = with_entry(map_, known, value)
            if value is ABSENT:
                model.pop(known, None)
            else:
                model[known] = value
            assert dict(map_) == model
            assert len(map_) == len(model)
        for known, _ in changes:
            assert lookup(map_, known) is model.get(known, ABSENT)
        # One value, one representation: whatever the order of the changes.
        again: Any = ()
        for known in random.Random(0).sample(sorted(model, key=repr), len(model)):
            again = with_entry(again, known, model[known])
        assert again == map_

    holds()


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(SETS, unique=True), st.randoms(use_true_random=False))
def test_order_does_not_depend_on_the_order_given(sets: list[frozenset[int]], draw: random.Random) -> None:
    mixed = draw.sample(sets, len(sets))
    assert ascending(mixed) == ascending(sets)
    assert sorted(map(sorted, sets)) == [sorted(known) for known in ascending(mixed)]


def test_order_of_options_and_records() -> None:
    assert ascending([(2,), None, (1,)]) == [None, (1,), (2,)]
    assert ascending([(1, (0,)), (1, None), (0, (5,))]) == [(0, (5,)), (1, None), (1, (0,))]
    assert ascending([Message(1, 0, (0,)), Message(0, 3, (1,))])[0] == Message(0, 3, (1,))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (NAT, 0),
        (BOOL, False),
        (OPTION, None),
        (SET, frozenset()),
        (Collection("queue", MESSAGE), ()),
        (Map(PROCESS, NAT), ()),
        (Collection("sliding array", NAT), (0, ())),
        (Collection("sliding map", NAT), (0, ())),
    ],
    ids=str,
)
def test_zeros(type_: Type, value: Any) -> None:
    assert zero(type_) == value
    assert type(zero(type_)) is type(value)


@pytest.mark.parametrize("type_", [PROCESS, MESSAGE, PAIR], ids=str)
def test_no_zero(type_: Type) -> None:
    with pytest.raises(AssertionError, match="has no zero"):
        zero(type_)


@pytest.mark.parametrize(
    ("type_", "value", "inside"),
    [
        (SET, frozenset({3, 1}), [1, 3]),
        (Collection("queue", NAT), (3, 1, 3), [3, 1, 3]),
        (Map(NAT, NAT), ((1, 7), (4, 2)), [1, 4]),
        (Collection("sliding array", NAT), (5, (9, 8)), [9, 8]),
        (Collection("sliding map", NAT), (5, ((2, 9), (4, 8))), [9, 8]),
        (OPTION, (4,), [4]),
        (OPTION, None, []),
    ],
    ids=str,
)
def test_elements_and_size(type_: Type, value: Any, inside: list[int]) -> None:
    assert list(elements(value, type_)) == inside
    if type_ != OPTION:
        assert size(value, type_) == len(inside)


def test_no_elements_of_a_nat() -> None:
    with pytest.raises(AssertionError, match="has no elements"):
        elements(3, NAT)


def test_messages_inside() -> None:
    first, second = Message(0, 0, (1,)), Message(1, 2, (0,))
    nested = ((3, (first,)), frozenset({second}), None, (7, (first, None)))
    assert list(messages_in(nested)) == [first, second, first]
    assert list(messages_in((1, (2, None)))) == []


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (BOOL, True, "true"),
        (PROCESS, 2, "p2"),
        (MESSAGE, Message(1, 0, (2,)), "m1.1"),
        (PAIR, (3, (4,)), "Pair(left: 3, right: some(4))"),
        (Map(PROCESS, SET), ((0, frozenset({2, 1})),), "[p0: {1, 2}]"),
        (Collection("set", OPTION), frozenset({(1,), None}), "{none, some(1)}"),
        (Collection("queue", PROCESS), (1, 0), "<p1, p0>"),
        (Collection("sliding array", NAT), (4, (7, 8)), "[4: 7, 8]"),
        (Collection("sliding map", NAT), (6, ((2, 7), (5, 8))), "{2: 7, 5: 8 | next 6}"),
    ],
    ids=str,
)
def test_shown(type_: Type, value: Any, text: str) -> None:
    assert show(value, type_) == text
