"""Answers that are kept are those about the very same objects."""

from __future__ import annotations

from thence.dsl.ir import remembered as module
from thence.dsl.ir.remembered import remembered


def test_the_same_objects_are_asked_about_once_and_equal_ones_again() -> None:
    asked: list[tuple[object, ...]] = []

    @remembered
    def pair(one: list[int], other: list[int]) -> int:
        asked.append((one, other))
        return len(asked)

    first, equal = [1], [1]
    assert pair(first, equal) == pair(first, equal) == 1
    assert pair(equal, first) == 2
    assert pair(first, first) == 3
    assert pair(first, other=equal) == 4 and pair(first, other=equal) == 5


def test_no_other_object_takes_the_place_of_one_that_is_kept() -> None:
    @remembered
    def first(given: list[int]) -> int:
        return given[0]

    assert [first([number]) for number in range(2 * module.MOST)] == [*range(2 * module.MOST)]
