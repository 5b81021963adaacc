"""Line charts for reports, as SVG: values that grow with the cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

WIDTH: Final = 640
HEIGHT: Final = 200
LEFT: Final = 64
BOTTOM: Final = 28
TOP: Final = 32


def chart(points: Sequence[tuple[float, float]], across: str, up: str) -> str:
    """A line over (x, y) from zero on, with the ranges written at the axes. Nothing for fewer than two points."""
    if len(points) < 2:
        return ""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    high, most = max(xs), max(ys)
    if high <= 0:
        return ""

    def place(x: float, y: float) -> str:
        across_ = LEFT + x / high * (WIDTH - LEFT - 16)
        height = (y / most if most else 0.0) * (HEIGHT - TOP - BOTTOM)
        return f"{across_:.1f},{HEIGHT - BOTTOM - height:.1f}"

    line = " ".join(place(x, y) for x, y in points)
    base = HEIGHT - BOTTOM
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{up} over {across}" '
        f'style="max-width:{WIDTH}px" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">'
        f'<path d="M{LEFT} {TOP} V{base} H{WIDTH - 16}" fill="none" stroke="currentColor" stroke-opacity=".4"/>'
        f'<polyline points="{line}" fill="none" stroke="#2f6fd0" stroke-width="2"/>'
        f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{_short(most)}</text>'
        f'<text x="{LEFT - 6}" y="{base}" text-anchor="end">0</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 8}">0</text>'
        f'<text x="{WIDTH - 16}" y="{HEIGHT - 8}" text-anchor="end">{_short(high)} {across}</text>'
        f'<text x="{LEFT}" y="{TOP - 14}" font-weight="600">{up}</text>'
        "</svg>"
    )


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.2g}"
