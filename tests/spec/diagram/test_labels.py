"""Labels: their preferred place if it is free, off lines, and never on one another."""

from __future__ import annotations

import pytest

from thence.spec.diagram.labels import Anchor, Box, Segment, place_labels


def test_a_free_label_is_centred_on_its_side() -> None:
    above, below = place_labels([Anchor(50, 100, 20, False), Anchor(150, 100, 20, True)], [])
    assert (above.x, below.x) == (50, 150)
    assert above.bottom < 100 < below.bottom


def test_a_label_leaves_a_line() -> None:
    line: Segment = (50, 100, 50, 0)
    (box,) = place_labels([Anchor(50, 100, 20, False)], [line])
    assert not box.meets(line)


def test_labels_leave_one_another() -> None:
    first, second = place_labels([Anchor(50, 100, 20, False), Anchor(55, 100, 20, False)], [])
    assert not first.overlaps(second)


@pytest.mark.parametrize(
    ("segment", "meets"),
    [
        ((0, 95, 100, 95), True),
        ((0, 50, 100, 50), False),
        ((50, 0, 50, 200), True),
        ((90, 0, 90, 200), False),
        ((0, 0, 100, 200), True),
        ((0, 0, 10, 20), False),
        ((50, 95, 50, 95), True),
    ],
)
def test_lines_through_a_box(segment: Segment, meets: bool) -> None:
    assert Box(50, 100, 20).meets(segment) is meets
