"""Total order of deliveries, from executions alone."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest

from thence.spec.delivery_order import Crossing, first_crossing
from thence.spec.events import Deliver, Event, Execution, Send


def delivering(*orders: str) -> Execution:
    """Messages by letters, in the order in which each process delivers them, one process after the other."""
    names = sorted({name for order in orders for name in order})
    everyone = tuple(range(len(orders)))
    sends: list[Event] = [Send(0, name, everyone) for name in names]
    deliveries = [Deliver(process, name) for process, order in enumerate(orders) for name in order]
    return Execution(len(orders), (*sends, *deliveries))


@pytest.mark.parametrize("orders", [("abc", "abc"), ("ab", "c"), ("ac", "bc", "ab"), ("", "ba"), ("aba", "ab")])
def test_deliveries_that_agree(orders: tuple[str, ...]) -> None:
    assert first_crossing(delivering(*orders)) is None


def test_two_processes_that_differ() -> None:
    found = first_crossing(delivering("abc", "cab"))
    assert found == Crossing("a", "c", 0, 1)
    assert str(found) == "p0 delivers a before c, p1 the other way round"


def test_against_the_definition() -> None:
    for one, other in combinations(["".join(order) for size in range(4) for order in permutations("abc", size)], 2):
        common = [name for name in one if name in other]
        agree = common == [name for name in other if name in one]
        assert (first_crossing(delivering(one, other)) is None) == agree
