"""Placing events: order is kept, and arrows go from left to right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from thence.spec.diagram import highlight_of
from thence.spec.diagram.layout import delivered_on_arrival, place
from thence.spec.events import Deliver, Execution, Receive, Send
from thence.spec.oracle import Finding

CHOICES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 7), st.integers(0, 200)), max_size=60)
Build = Callable[[int, Sequence[tuple[int, int, int]]], Execution]

TRIANGLE = Execution(
    3,
    (
        Send(0, "a", (2,)),
        Send(0, "b", (1,)),
        Receive(1, "b", 0),
        Deliver(1, "b"),
        Send(1, "c", (2,)),
        Receive(2, "c", 1),
        Deliver(2, "c"),
    ),
)


def test_an_arrival_that_is_delivered_at_once_is_one_point() -> None:
    assert delivered_on_arrival(TRIANGLE) == {2: 3, 5: 6}
    layout = place(TRIANGLE)
    assert [(p.kind, p.process, p.message) for p in layout.points] == [
        ("send", 0, "a"),
        ("send", 0, "b"),
        ("deliver", 1, "b"),
        ("send", 1, "c"),
        ("deliver", 2, "c"),
    ]
    assert layout.point("deliver", 2, "c") is not None
    assert layout.point("deliver", 2, "a") is None
    assert [arrow.message for arrow in layout.arrows if arrow.end is None] == ["a"]


def test_a_missing_delivery_is_expected_at_the_end() -> None:
    layout = place(TRIANGLE, highlight_of(Finding("causal", 2, "c", ("a",), 6, ("a", "b", "c"))))
    expected = layout.points[-1]
    assert (expected.kind, expected.process, expected.message) == ("expected", 2, "a")
    assert expected.column == max(point.column for point in layout.points)
    assert all(arrow.end is not None for arrow in layout.arrows)


def test_what_waits_for_ever_has_no_end() -> None:
    events = (Send(0, "a", (1,)), Receive(1, "a", 0), Send(1, "b", (0,)))
    waiting = place(Execution(2, events)).waiting
    assert [(w.start.message, w.end) for w in waiting] == [("a", None)]
    stuck = place(Execution(2, events), highlight_of(Finding("stuck", 1, "a", (), 0))).waiting
    assert [w.end.kind for w in stuck if w.end] == ["expected"]


@settings(derandomize=True, deadline=None, max_examples=150)
@given(processes=st.integers(2, 8), choices=CHOICES)
def test_order_is_kept(execution_of: Build, processes: int, choices: list[tuple[int, int, int]]) -> None:
    execution = execution_of(processes, choices)
    layout = place(execution)
    for process in range(processes):
        own = [point for point in layout.points if point.process == process]
        assert [p.event_index for p in own] == sorted(p.event_index for p in own)
        assert all(right.column >= left.column + 1 for left, right in pairwise(own))
    assert all(arrow.end is None or arrow.end.column >= arrow.start.column + 1 for arrow in layout.arrows)
    assert all(w.end is None or w.end.column > w.start.column for w in layout.waiting)
    merged = delivered_on_arrival(execution)
    assert len(layout.points) == len(execution.events) - len(merged)
    assert all(point.column < layout.columns for point in layout.points)
