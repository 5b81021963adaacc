"""The places of labels in a diagram: beside their points, off the arrows, and never one upon another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Segment: TypeAlias = tuple[float, float, float, float]
"""x1, y1, x2, y2."""

HEIGHT: Final = 11.0
GAP: Final = 4.5
FURTHEST: Final = 20.0
TOUCHES_LABEL: Final = 20.0
TOUCHES_LINE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Anchor:
    """A point that wants a label of some width, rather below it than above or the other way round.

    `radius` is that of its sign, from which the label keeps away.
    """

    x: float
    y: float
    width: float
    below: bool
    radius: float = 4.5


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a label. Its text is centred at `x` and stands on `bottom`."""

    x: float
    bottom: float
    width: float

    def overlaps(self, other: Box) -> bool:
        """Whether two labels touch."""
        return (
            abs(self.x - other.x) < (self.width + other.width) / 2 + 4 and abs(self.bottom - other.bottom) < HEIGHT + 1
        )

    def meets(self, segment: Segment) -> bool:
        """Whether a straight line runs through (Liang and Barsky's clipping)."""
        x1, y1, x2, y2 = segment
        left, right = self.x - self.width / 2 - 1, self.x + self.width / 2 + 1
        enter, leave = 0.0, 1.0
        for start, change, low, high in (
            (x1, x2 - x1, left, right),
            (y1, y2 - y1, self.bottom - HEIGHT, self.bottom + 1),
        ):
            if change == 0:
                if not low <= start <= high:
                    return False
                continue
            first, last = sorted(((low - start) / change, (high - start) / change))
            enter, leave = max(enter, first), min(leave, last)
        return enter <= leave


def place_labels(anchors: Sequence[Anchor], segments: Sequence[Segment]) -> list[Box]:
    """A box for each anchor, in turn the one that costs least: on its preferred side and centred, if that is free."""
    placed: list[Box] = []
    rows: dict[float, list[Box]] = {}
    for anchor in anchors:
        row = rows.setdefault(anchor.y, [])
        near = [
            segment
            for segment in segments
            if min(segment[0], segment[2]) < anchor.x + 2 * anchor.width
            and max(segment[0], segment[2]) > anchor.x - 2 * anchor.width
            and min(segment[1], segment[3]) < anchor.y + FURTHEST + HEIGHT + 2
            and max(segment[1], segment[3]) > anchor.y - FURTHEST - HEIGHT - 2
        ]
        best, least = None, 0.0
        for penalty, box in _candidates(anchor):
            cost = (
                penalty
                + TOUCHES_LINE * sum(box.meets(segment) for segment in near)
                + TOUCHES_LABEL * sum(box.overlaps(other) for other in row)
            )
            if best is None or cost < least:
                best, least = box, cost
        assert best is not None
        row.append(best)
        placed.append(best)
    return placed


def _candidates(anchor: Anchor) -> list[tuple[float, Box]]:
    """Places for the label, each with what it costs to be there: aside, on the other side, further away."""
    away = anchor.radius + GAP
    half, third = anchor.width / 2 + 1, anchor.width / 3
    shifts = ((0.0, 0.0), (0.2, -third), (0.25, third), (0.3, -half), (0.35, half))
    return [
        (
            turned + moved + lifted,
            Box(anchor.x + shift, anchor.y + away + lift + HEIGHT if below else anchor.y - away - lift, anchor.width),
        )
        for lifted, lift in ((0.0, 0.0), (0.3, 9.0))
        for turned, below in ((0.0, anchor.below), (0.4, not anchor.below))
        for moved, shift in shifts
    ]
