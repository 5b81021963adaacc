"""The sliding array and the sliding map against models that keep everything."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.impl.sliding import IndexedSlidingMap, SlidingArray, SlidingMap

SETTINGS = settings(derandomize=True, deadline=None, max_examples=100)


@SETTINGS
@given(start=st.integers(0, 3), operations=st.lists(st.sampled_from(["add", "remove"]), max_size=400))
def test_sliding_array_is_a_list_that_forgets_its_front(start: int, operations: list[str]) -> None:
    array: SlidingArray[int | None] = SlidingArray(first=start)
    everything: list[int | None] = []
    first = 0
    for position, operation in enumerate(operations):
        if operation == "add":
            element = position if position % 5 else None
            assert array.add(element) == start + len(everything)
            everything.append(element)
        elif first < len(everything):
            assert array.peek() == everything[first]
            assert array.remove() == everything[first]
            first += 1
        assert (array.first, array.next) == (start + first, start + len(everything))
        assert array.size == len(array) == len(everything) - first
    assert list(array) == everything[first:]
    assert [array[index] for index in range(array.first, array.next)] == everything[first:]


def test_sliding_array_rejects_what_is_outside_the_window() -> None:
    array: SlidingArray[str] = SlidingArray(first=1)
    with pytest.raises(IndexError):
        array.peek()
    with pytest.raises(IndexError):
        array.remove()
    array.add("a")
    array.add("b")
    array.remove()
    for index in (-1, 0, 1, 3):
        with pytest.raises(IndexError, match=f"index {index} is outside the window 2 .. 2"):
            array[index]
    assert array[2] == "b"


def test_sliding_array_keeps_at_most_twice_its_window() -> None:
    array: SlidingArray[int] = SlidingArray()
    for index in range(100):
        array.add(index)
    for index in range(100, 20_000):
        array.add(index)
        array.remove()
        assert len(array._slots) <= 2 * array.size + 128
    assert (array.first, array.next) == (19_900, 20_000)


def test_sliding_arrays_are_equal_by_window_not_by_history() -> None:
    one: SlidingArray[int] = SlidingArray(first=0)
    for index in range(200):
        one.add(index)
    for _ in range(150):
        one.remove()
    other: SlidingArray[int] = SlidingArray(first=150)
    for index in range(150, 200):
        other.add(index)
    assert one == other
    other.add(200)
    assert one != other
    assert one != list(one)
    assert "first=150" in repr(one)


@SETTINGS
@given(
    start=st.integers(0, 2),
    operations=st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.integers(0, 15)), max_size=300),
)
def test_sliding_map_is_a_log_of_additions_with_some_struck_out(start: int, operations: list[tuple[str, int]]) -> None:
    window: SlidingMap[int] = SlidingMap(first=start)
    log: list[int | None] = []
    for operation, element in operations:
        if operation == "remove":
            assert window.remove(element) == (element in log)
            log = [None if entry == element else entry for entry in log]
        elif element in log:
            with pytest.raises(ValueError, match="present already"):
                window.add(element)
        else:
            assert window.add(element) == start + len(log)
            log.append(element)
        present = [entry for entry in log if entry is not None]
        oldest = next((index for index, entry in enumerate(log) if entry is not None), len(log))
        assert (window.first, window.next) == (start + oldest, start + len(log))
        assert list(window) == present
        assert window.size == len(window) == len(present)
        assert all(entry in window and window.index(entry) == start + log.index(entry) for entry in present)
    assert 99 not in window


def test_sliding_map_does_not_keep_what_is_before_the_window() -> None:
    window: SlidingMap[int] = SlidingMap()
    window.add(-1)
    for element in range(5_000):
        window.add(element)
        window.remove(element)
    assert (window.first, window.next, len(window._present)) == (0, 5_001, 5_001)
    window.remove(-1)
    assert (window.first, window.next, len(window._present)) == (5_001, 5_001, 0)


def test_sliding_map_index_of_an_absent_element_is_a_key_error() -> None:
    window: SlidingMap[str] = SlidingMap()
    window.add("a")
    with pytest.raises(KeyError):
        window.index("b")
    assert window.index("a") == 0


def test_sliding_maps_are_equal_by_window_and_elements() -> None:
    one: SlidingMap[str] = SlidingMap()
    one.add("a")
    one.add("b")
    one.remove("a")
    other: SlidingMap[str] = SlidingMap(first=1)
    other.add("b")
    assert one == other
    other.remove("b")
    assert one != other
    assert one != ["b"]
    assert "next=2" in repr(one)


@SETTINGS
@given(
    start=st.integers(0, 2),
    operations=st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.integers(0, 15)), max_size=300),
)
def test_indexed_sliding_map_is_a_sliding_map_that_can_be_read(start: int, operations: list[tuple[str, int]]) -> None:
    both: tuple[IndexedSlidingMap[int], SlidingMap[int]] = (IndexedSlidingMap(first=start), SlidingMap(first=start))
    indexed, plain = both
    everything: list[int] = []
    for operation, element in operations:
        if operation == "remove":
            assert indexed.remove(element) == plain.remove(element)
        elif element in plain:
            with pytest.raises(ValueError, match="present already"):
                indexed.add(element)
        else:
            assert indexed.add(element) == plain.add(element)
            everything.append(element)
        assert (indexed.first, indexed.next, indexed.size) == (plain.first, plain.next, plain.size)
        assert list(indexed) == list(plain)
    for index in range(indexed.first, indexed.next):
        element = everything[index - start]
        present = element in indexed and indexed.index(element) == index
        assert indexed[index] == (element if present else None)
    if indexed.size:
        assert indexed.peek() == next(iter(indexed))
    assert indexed.index(99) is None


def test_indexed_sliding_map_keeps_nothing_removed_at_its_front() -> None:
    window: IndexedSlidingMap[str] = IndexedSlidingMap()
    for element in "abcd":
        window.add(element)
    window.remove("b")
    assert (window.first, window[1], window.peek()) == (0, None, "a")
    window.remove("a")
    assert (window.first, window.peek()) == (2, "c")
    with pytest.raises(IndexError):
        window[1]
    other: IndexedSlidingMap[str] = IndexedSlidingMap(first=2)
    for element in "cd":
        other.add(element)
    assert window == other
    assert window != "cd"
    assert "first=2, next=4" in repr(window)
