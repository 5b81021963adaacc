"""Places: parts of values are changed in place, refs stay bound, and copies are copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl.run import values
from thence.dsl.run.values import Fault

Handle = Callable[..., Any]

STATE = """
n: nat
S: set of nat
Q: queue of nat
QQ: queue of queue of nat
M: map nat to nat
MM: map nat to map nat to nat
MQ: map nat to queue of set of nat
PART: map nat to Entry
A: sliding array of Pair = window(1)
"""


def test_what_is_put_is_read(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        MM[1][2] := 5
        MM[1][3] := MM[1][2] + 1
        MM[4][4] := 1
        MM[4][4] := 0
        PART[2] := Entry(who: self, many: 3)
        PART[2].many := PART[2].many + 1
        A.add(Pair(left: 1, right: none))
        A.add(Pair(left: 2, right: none))
        A[2].right := some(9)
        """,
    )
    # An entry that holds the zero of its type is no entry: equal maps are equal values.
    assert done["MM"] == ((1, ((2, 5), (3, 6))),)
    assert done["PART"] == ((2, (0, 4)),)
    assert done["A"] == (1, ((1, None), (2, (9,))))


def test_values_are_copied(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        S := {1}
        MQ[0].push(S)
        S.add(2)
        MQ[0].push(S)
        let before = S
        S.clear()
        n := before.size
        MQ[1] := MQ[0]
        MQ[1].pop()
        """,
    )
    one, both = frozenset({1}), frozenset({1, 2})
    assert done["MQ"] == ((0, (one, both)), (1, (both,)))
    assert (done["n"], done["S"]) == (2, frozenset())


def test_a_ref_keeps_its_index(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        n := 1
        ref x = M[n]
        n := 2
        x := 7
        ref y = MQ[n]
        y.push({4})
        n := y.size + x
        """,
    )
    assert (done["M"], done["MQ"], done["n"]) == (((1, 7),), ((2, (frozenset({4}),)),), 8)


def test_a_ref_reads_what_is_there_now(handle: Handle) -> None:
    done = handle(STATE, "ref x = M[1]\nM[1] := 4\nn := x\nx := x + 1\nn := n + M[1]")
    assert (done["n"], done["M"]) == (9, ((1, 5),))


@pytest.mark.parametrize(
    ("setup", "collection", "after"),
    [
        ("Q.push(1)\nQ.push(2)", "Q", (11, 12)),
        ("M[3] := 1\nM[1] := 2", "M", ((1, 12), (3, 11))),
    ],
)
def test_for_ref_changes_each_element(handle: Handle, setup: str, collection: str, after: Any) -> None:
    assert handle(STATE, f"{setup}\nfor ref x in {collection}: x := x + 10")[collection] == after


def test_for_ref_in_nested_places(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        MQ[1].push({1, 2})
        MQ[1].push({2})
        MQ[5].push({2, 3})
        for ref q in MQ:
          for ref s in q: s.remove(2)
        A.add(Pair(left: 1, right: none))
        A.add(Pair(left: 2, right: none))
        for ref a in A: a.left := a.left + a.left
        """,
    )
    assert done["MQ"] == ((1, (frozenset({1}), frozenset())), (5, (frozenset({3}),)))
    assert done["A"] == (1, ((2, None), (4, None)))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("Q.push(1)\nfor ref x in Q:\n  Q.pop()\n  x := 5", "no longer has"),
        ("Q.push(1)\nfor ref x in Q:\n  Q.pop()\n  n := x", "no longer has"),
        ("PART[1].many := 4", "does not have"),
        ("ref x = PART[1]\nn := x.many", "does not have"),
        ("A[1].left := 3", "outside the window"),
        ("A.add(Pair(left: 1, right: none))\nref x = A[1]\nA.remove()\nx.left := 3", "outside the window"),
        ("A.add(Pair(left: 1, right: none))\nref x = A[1]\nA.remove()\nn := x.left", "outside the window"),
    ],
)
def test_faults(handle: Handle, body: str, reason: str) -> None:
    with pytest.raises(Fault, match=reason):
        handle(STATE, body)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_map_entries_against_a_dictionary(changes: list[tuple[int, int]]) -> None:
    held: Any = ()
    model = dict[int, int]()
    for key, value in changes:
        held = values.with_entry_or(held, key, value, 0)
        model[key] = value
        assert values.entry_or(held, key, 0) == value
        assert held == tuple(sorted((known, kept) for known, kept in model.items() if kept))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 5), st.lists(st.integers(0, 9)), st.integers(0, 12), st.integers(0, 9))
def test_window_elements_against_a_list(first: int, items: list[int], index: int, value: int) -> None:
    window = (first, tuple(items))
    if first <= index < first + len(items):
        assert values.window_item(window, index) == items[index - first]
        items[index - first] = value
        assert values.with_window_item((first, window[1]), index, value) == (first, tuple(items))
        return
    with pytest.raises(Fault):
        values.window_item(window, index)
    with pytest.raises(Fault):
        values.with_window_item(window, index, value)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 9)), st.integers(0, 5), st.integers(0, 9))
def test_queue_elements_against_a_list(items: list[int], position: int, value: int) -> None:
    held = tuple(items)
    if position < len(items):
        items[position] = value
        changed = values.with_queue_item(held, position, value)
        assert (values.queue_item(changed, position), changed) == (value, tuple(items))
        return
    with pytest.raises(Fault):
        values.with_queue_item(held, position, value)


def test_a_partial_map_has_no_entry_until_one_is_put() -> None:
    with pytest.raises(Fault, match="does not have"):
        values.entry((), 3)
    assert values.entry(values.with_entry((), 3, 0), 3) == 0


@pytest.mark.parametrize("change", ["S.remove(9)", "S.add(1)", "M.remove(9)", "Q.remove(9)"])
def test_a_change_of_nothing(handle: Handle, change: str) -> None:
    setup = "S := {1, 2}\nM[1] := 4\nQ.push(3)\n"
    assert handle(STATE, setup + change) == handle(STATE, setup)


@pytest.mark.parametrize(
    ("type_", "change"),
    [
        ("nat", "v := v + 1"),
        ("set of nat", "v.add(1)"),
        ("queue of nat", "v.push(1)"),
        ("map nat to nat", "v[1] := 2"),
        ("map nat to set of nat", "v[1].add(2)"),
        ("map nat to queue of set of nat", "v[1].push({2})\nfor ref s in v[1]: s.add(3)"),
        ("map nat to set of nat", "v[1].add(2)\nv.remove(1)"),
        ("map nat to set of nat", "v[1] := {2, 3}\nfor ref s in v: s.remove(2)"),
    ],
)
@pytest.mark.parametrize("depth", [0, 14, 15, 40])
def test_a_variable_is_changed_at_any_depth(handle: Handle, type_: str, change: str, depth: int) -> None:
    """Python's blocks go to 100 levels, so deep ones are functions, which have to say whose variable they change."""
    inside = [f"{'  ' * at}if n < {at + 1}:" for at in range(depth)]
    lines = [f"var v: {type_} = {'0' if type_ == 'nat' else 'empty'}", *inside]
    lines += [f"{'  ' * depth}{line}" for line in change.splitlines()]
    state = f"n: nat\nkept: {type_}"
    straight = handle(state, "\n".join([lines[0], *change.splitlines(), "kept := v"]))["kept"]
    assert handle(state, "\n".join([*lines, "kept := v"]))["kept"] == straight
