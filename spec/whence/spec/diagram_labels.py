"""Where the labels of a diagram go: beside their points, off the arrows, and never one upon another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Segment: TypeAlias = tuple[float, float, float, float]
"""x1, y1, x2, y2."""

HEIGHT: Final = 11.0
AWAY: Final = 9.0
TOUCHES_LABEL: Final = 20.0
TOUCHES_LINE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Anchor:
    """A point that wants a label of some width, rather below it than above or the other way round."""

    x: float
    y: float
    width: float
    below: bool


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
            and min(segment[1], segment[3]) < anchor.y + AWAY + HEIGHT + 2
            and max(segment[1], segment[3]) > anchor.y - AWAY - HEIGHT - 2
        ]
        best, least = None, 0.0
        for rank, box in enumerate(_candidates(anchor)):
            cost = (
                0.3 * rank
                + TOUCHES_LINE * sum(box.meets(segment) for segment in near)
                + TOUCHES_LABEL * sum(box.overlaps(other) for other in row)
            )
            if best is None or cost < least:
                best, least = box, cost
        assert best is not None
        row.append(best)
        placed.append(best)
    return placed


def _candidates(anchor: Anchor) -> list[Box]:
    sides = (anchor.below, not anchor.below)
    shifts = (0.0, -anchor.width / 2 - 1, anchor.width / 2 + 1)
    return [
        Box(anchor.x + shift, anchor.y + AWAY + HEIGHT if below else anchor.y - AWAY, anchor.width)
        for below in sides
        for shift in shifts
    ]
