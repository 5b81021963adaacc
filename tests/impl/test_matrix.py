"""Matrices of counts: rows merged and compared as a whole are what they are entry by entry."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.impl.commands import ProtocolError
from thence.impl.matrix import FEW, counted, covers, joined, merge, require_known, require_matrix, require_row

counts = st.one_of(st.integers(0, 4), st.integers(0, (1 << 63) - 1))
two_rows = st.integers(1, 40).flatmap(
    lambda size: st.tuples(*[st.lists(counts, min_size=size, max_size=size).map(tuple)] * 2)
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(two_rows)
def test_rows_are_joined_and_compared_as_entry_by_entry(rows: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    one, other = rows
    assert joined(one, other) == tuple(map(max, one, other)) == joined(other, one)
    assert covers(one, other) == all(x >= y for x, y in zip(one, other, strict=True))
    assert covers(joined(one, other), one)
    require_row(one, len(one))


@settings(derandomize=True, deadline=None, max_examples=100)
@given(two_rows, st.data())
def test_where_one_row_is_the_maximum_it_is_shared(rows: tuple[tuple[int, ...], ...], data: st.DataObject) -> None:
    row = rows[0]
    place = data.draw(st.integers(0, len(row) - 1))
    if row[place] == (1 << 63) - 1:
        return
    later = counted(row, place)
    assert later[place] == row[place] + 1
    assert joined(row, later) is later
    assert joined(later, row) is later
    assert joined(row, (*row,)) is row


@pytest.mark.parametrize(
    "value", [None, 0, [], (0,), (0, 0, 0), [0, 0], (0, -1), (0, "1"), (0, None), (0, 1.5), (1 << 63, 0), (0, (0,))]
)
def test_what_is_no_row_of_two(value: Any) -> None:
    with pytest.raises(ProtocolError, match="not a vector"):
        require_row(value, 2)
    with pytest.raises(ProtocolError, match="not a matrix"):
        require_matrix(((0, 0), value), [(0, 0), (0, 0)])


def test_what_a_peer_cannot_know() -> None:
    require_known((1, 2), (1, 2), 0)
    require_known((0, 2), (1, 2), 0)
    with pytest.raises(ProtocolError, match="process 0 knows of messages that were not sent"):
        require_known((0, 3), (1, 2), 0)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.sampled_from((1, 3, FEW, FEW + 1, 40)), st.integers(0, 2**32), st.integers(1, 4))
def test_matrices_are_merged_entry_by_entry(size: int, seed: int, largest: int) -> None:
    choice = Random(seed)
    ours, theirs = ([tuple(choice.randrange(largest) for _ in range(size)) for _ in range(size)] for _ in range(2))
    expected = [tuple(map(max, own, other)) for own, other in zip(ours, theirs, strict=True)]
    kept = [other if highest == other else None for other, highest in zip(theirs, expected, strict=True)]
    merge(ours, tuple(theirs))
    assert ours == expected
    assert all(row is None or row == mine for row, mine in zip(kept, ours, strict=True))
