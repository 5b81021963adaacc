"""Space-time diagrams as SVG, in the style of the papers; no scripts, no fonts, no links: one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil, floor, hypot, inf
from textwrap import wrap
from typing import Final, assert_never

from thence.spec.diagram.highlight import Highlight, Role
from thence.spec.diagram.labels import Anchor, Segment, place_labels
from thence.spec.diagram.layout import TURN, Arrow, Layout, Point, Signal, Waiting, place
from thence.spec.diagram.names import label_of, shown
from thence.spec.diagram.style import KINDS, STYLE
from thence.spec.events import Execution

ROW: Final = 66.0
MARGIN: Final = 18.0
RADIUS: Final = 4.5
HEAD: Final = 8.5
STUB: Final = 24.0
CHARACTER: Final = 7.0
NARROWEST: Final = 420.0
WIDEST: Final = 1300.0
"""Of a whole picture; a longer run goes on in the next band below, as text goes on in the next line."""
_DIAMOND: Final = "l5 6l-5 6l-5 -6Z"
_FATES: Final = {"lost": "m0 -3l6 6m0 -6l-6 6", "duplicated": "h6m-3 -3v6"}
"""What is drawn at the end of a packet that does not arrive, from the left of it."""
_CHAIN: Final = re.compile(r"\([^()]* -> [^()]*\)")
_BOUND: Final = "\N{NO-BREAK SPACE}"
BETWEEN: Final = 34.0
"""Between two bands."""


def draw_svg(
    execution: Execution, highlight: Highlight | None = None, repeats_from: int | None = None, title: str = ""
) -> str:
    """The space-time diagram of `execution` as an SVG document.

    Process lines run from left to right; a square is a causal send, a ring an arrival, a dot a delivery; between ring
    and dot the message waits (dashed), as it does between a send and an arrow that leaves later. Control
    packets are thin lines, where the execution has packets. A packet that is lost ends in a cross, one that is
    duplicated in a plus; a diamond is a timer that changes something, or ends the run. With a highlight, the missing
    message, the one that overtook it and the happens-before chain between them are in colour, and a delivery that
    should be there is a dashed ring. What is done from step `repeats_from` on is marked as a cycle that is repeated for
    ever. `title` stands above a picture without a highlight.
    """
    return _Picture(execution, highlight, repeats_from, title).svg()


def without_packets(svg: str) -> str:
    """The picture without its control packets."""
    return "\n".join(line for line in svg.split("\n") if '<path class="packet ' not in line)


@dataclass(frozen=True, slots=True)
class _Link:
    """A step of the happens-before chain, along one process line. `start` is a send or a delivery, `end` a send."""

    start: Point
    end: Point


class _Picture:
    """One picture: a layout in columns, and what turns columns into pixels."""

    def __init__(self, execution: Execution, highlight: Highlight | None, repeats_from: int | None, title: str) -> None:
        self._processes = execution.processes
        self._highlight = highlight
        self._layout: Layout = place(execution, highlight, repeats_from)
        self._arrows_of: dict[str, list[Arrow]] = {}
        for arrow in self._layout.arrows:
            self._arrows_of.setdefault(arrow.message, []).append(arrow)
        self._links = tuple(self._chain_links())
        self._chain_deliveries = {(link.start.message, link.start.process) for link in self._links}

        self._kinds = sorted({signal.kind for signal in self._layout.signals})
        longest = max((len(label_of(point.message)) for point in self._layout.points), default=0)
        self._step = max(34.0, longest * CHARACTER + 14)
        self._names = [label_of(execution.name_of(process)) for process in range(execution.processes)]
        self._left = MARGIN + max(map(len, self._names), default=2) * 8.5 + 26
        whole = max(NARROWEST, self._left + max(self._layout.columns, 1.0) * self._step + MARGIN)
        self._width = min(WIDEST, whole)
        self._right = whole - MARGIN
        room = self._width - self._left - MARGIN - 2 * _margin(self._step)
        self._page = self._step * max(1, floor(room / self._step))
        self._bands = 1 if whole <= WIDEST else ceil((self._right - self._left) / self._page)
        caption = highlight.caption_in(execution) if highlight else title
        self._caption = _broken(shown(caption), int((self._width - 2 * MARGIN) / 6.9))
        self._top = MARGIN + 18 * len(self._caption) + (32 if self._layout.turn is None else 46)
        self._band_height = (execution.processes - 1) * ROW + 38
        self._bottom = self._top + self._bands * self._band_height + (self._bands - 1) * BETWEEN

    def svg(self) -> str:
        """The document."""
        legend, height = self._legend()
        drawing = self._whole() if self._bands == 1 else self._paged()
        body = [*self._caption_lines(), *drawing, *legend]
        size = f'width="{self._width:.0f}" height="{height:.0f}" viewBox="0 0 {self._width:.0f} {height:.0f}"'
        title = " ".join(self._caption) or f"Space-time diagram of {self._processes} processes"
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" class="thence-diagram" {size} role="img">',
                f"<title>{escape(title)}</title>",
                f"<style>\n{STYLE}</style>",
                '<rect class="paper" width="100%" height="100%"/>',
                *body,
                "</svg>\n",
            )
        )

    def _lines(self) -> Iterator[tuple[float, float, str]]:
        """What is drawn below the signs, with its first and last x: an element may be longer than a band."""
        plain_first = sorted(self._layout.arrows, key=lambda arrow: self._arrow_role(arrow) != "plain")
        for line in self._turn():
            yield -inf, inf, line
        for signal in self._layout.signals:
            ends = self._x(signal.start), self._x(signal.start if signal.end is None else signal.end)
            yield min(ends) - HEAD, max(ends) + HEAD, self._signal(signal)
        for link in self._links:
            yield self._x(link.start.column), self._x(link.end.column), self._path(link)
        for arrow in plain_first:
            ends = self._x(arrow.start.column), self._arrow_end(arrow)[0]
            for line in self._arrow(arrow):
                yield min(ends) - HEAD, max(ends) + HEAD, line
        for waiting in self._layout.waiting:
            end = self._right if waiting.end is None else self._x(waiting.end.column)
            yield self._x(waiting.start.column), end, self._waiting(waiting)

    def _whole(self) -> list[str]:
        signs = [line for point in self._layout.points for line in self._glyph(point)]
        labels = [line for lines in self._labels() for line in lines]
        return [*self._process_lines(), *(line for _, _, line in self._lines()), *signs, *labels]

    def _paged(self) -> list[str]:
        """The picture in bands, one below the other. A line that leaves a band at the right comes in from the left."""
        left, top = self._left - 10 + _margin(self._step), self._top - ROW / 2
        lines = [*self._lines()]
        points = [*zip(self._layout.points, self._labels(), strict=True)]
        drawn: list[str] = []
        for band in range(self._bands):
            start, down = self._left + band * self._page, band * (self._band_height + BETWEEN)
            shown = [line for low, high, line in lines if low <= start + self._page and high >= start]
            names = [line for line in self._process_lines() if line.startswith("<text")]
            width, height = self._page, self._band_height + 22
            drawn += [
                f'<g transform="translate(0 {down:.1f})">',
                *names,
                f'<svg x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
                f'viewBox="{start:.1f} {top:.1f} {width:.1f} {height:.1f}">',
                *(line for line in self._process_lines() if line.startswith("<path")),
                *shown,
                "</svg>",
                "</g>",
                f'<g class="band" transform="translate({left - start:.1f} {down:.1f})">',
            ]
            for point, label in points:
                if min(int((self._x(point.column) - self._left) / self._page), self._bands - 1) == band:
                    drawn += [*self._glyph(point), *label]
            drawn.append("</g>")
        return drawn

    def _x(self, column: float) -> float:
        return self._left + (column + 0.5) * self._step

    def _y(self, process: float) -> float:
        return self._top + process * ROW

    def _at(self, point: Point) -> tuple[float, float]:
        return self._x(point.column), self._y(point.process)

    # Roles: a message of the highlight is coloured where it matters, that is at its send, at the place of the finding,
    # and where the chain passes.

    def _role(self, message: str, process: int) -> Role:
        if self._highlight is None:
            return "plain"
        if process == self._highlight.process:
            return self._highlight.role(message)
        return "chain" if (message, process) in self._chain_deliveries else "plain"

    def _arrow_role(self, arrow: Arrow) -> Role:
        return self._role(arrow.message, arrow.destination)

    def _point_role(self, point: Point) -> Role:
        if self._highlight is not None and point.kind == "send":
            return self._highlight.role(point.message)
        return self._role(point.message, point.process)

    def _chain_links(self) -> Iterator[_Link]:
        sends = {point.message: point for point in self._layout.points if point.kind == "send"}
        for earlier, later in pairwise(self._highlight.chain if self._highlight else ()):
            if earlier not in sends or later not in sends:
                continue
            start, end = sends[earlier], sends[later]
            if start.process == end.process and start.column < end.column:
                yield _Link(start, end)
            elif delivery := self._layout.point("deliver", end.process, earlier):
                yield _Link(delivery, end)

    def _caption_lines(self) -> Iterator[str]:
        for number, line in enumerate(self._caption):
            yield f'<text class="caption" x="{MARGIN:.0f}" y="{MARGIN + 12 + 18 * number:.0f}">{escape(line)}</text>'

    def _process_lines(self) -> Iterator[str]:
        for process in range(self._processes):
            y = self._y(process)
            yield f'<text class="name" x="{MARGIN:.0f}" y="{y + 4.5:.1f}">{escape(self._names[process])}</text>'
            yield f'<path class="process" d="M{self._left - 16:.1f} {y:.1f}H{self._right:.1f}"/>'

    def _turn(self) -> Iterator[str]:
        if self._layout.turn is not None:
            x = self._left + (self._layout.turn + TURN / 2) * self._step
            yield f'<path class="turn" d="M{x:.1f} {self._top - 38:.1f}V{self._bottom - 14:.1f}"/>'
            yield f'<text class="turn" x="{x + 6:.1f}" y="{self._top - 31:.1f}">for ever</text>'

    def _path(self, link: _Link) -> str:
        (x1, y), (x2, _) = self._at(link.start), self._at(link.end)
        return f'<path class="path" d="M{x1:.1f} {y:.1f}H{x2:.1f}"/>'

    def _arrow(self, arrow: Arrow) -> Iterator[str]:
        role = self._arrow_role(arrow)
        x1, y1 = self._at(arrow.start)
        x2, y2 = self._arrow_end(arrow)
        if arrow.end is None:
            yield f'<path class="arrow unfinished {role}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'
            yield f'<path class="arrow {role}" d="M{x2 - 3:.1f} {y2 - 3:.1f}l6 6m0 -6l-6 6"/>'
            return
        dashed = " unfinished" if arrow.end.kind == "expected" else ""
        if y1 == y2:
            curve = f"M{x1:.1f} {y1:.1f}Q{(x1 + x2) / 2:.1f} {y1 - 34:.1f} {x2:.1f} {y2:.1f}"
            yield f'<path class="arrow{dashed} {role}" d="{curve}"/>'
            return
        length = hypot(x2 - x1, y2 - y1)
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        tip_x, tip_y = x2 - ux * (RADIUS + 1), y2 - uy * (RADIUS + 1)
        back_x, back_y = tip_x - ux * HEAD, tip_y - uy * HEAD
        yield f'<path class="arrow{dashed} {role}" d="M{x1:.1f} {y1:.1f}L{back_x:.1f} {back_y:.1f}"/>'
        yield (
            f'<path class="head {role}" d="M{tip_x:.1f} {tip_y:.1f}L{back_x - uy * 3.4:.1f} {back_y + ux * 3.4:.1f}'
            f'L{back_x + uy * 3.4:.1f} {back_y - ux * 3.4:.1f}Z"/>'
        )

    def _arrow_end(self, arrow: Arrow) -> tuple[float, float]:
        """Of an arrow that arrives nowhere: the end of a short stub, fanned out among those of the same send."""
        if arrow.end is not None:
            return self._at(arrow.end)
        x, y = self._at(arrow.start)
        down = arrow.destination > arrow.start.process
        stubs = [
            other
            for other in self._arrows_of[arrow.message]
            if other.end is None and (other.destination > arrow.start.process) == down
        ]
        stubs.sort(key=lambda other: abs(other.destination - arrow.start.process), reverse=True)
        share = (self._step - 8) / max(3, len(stubs))
        return x + 5 + share * stubs.index(arrow), y + (STUB if down else -STUB)

    def _signal(self, signal: Signal) -> str:
        """A thin line, whose dashes tell the kind, with an open head; short where it does not arrive."""
        x1, y1 = self._x(signal.start), self._y(signal.source)
        x2, y2 = self._x(signal.start + 1 if signal.end is None else signal.end), self._y(signal.destination)
        style = f'class="packet {self._style_of(signal.kind)}"'
        if signal.source == signal.destination:
            return f'<path {style} d="M{x1:.1f} {y1:.1f}Q{(x1 + x2) / 2:.1f} {y1 + 26:.1f} {x2:.1f} {y2:.1f}"/>'
        length = hypot(x2 - x1, y2 - y1)
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        if signal.end is None:
            fate = f"m-3 0{_FATES[signal.fate]}" if signal.fate else ""
            return f'<path {style} d="M{x1:.1f} {y1:.1f}l{ux * STUB:.1f} {uy * STUB:.1f}{fate}"/>'
        head = f"M{x2 - ux * 6 - uy * 2.6:.1f} {y2 - uy * 6 + ux * 2.6:.1f}L{x2:.1f} {y2:.1f}"
        head += f"L{x2 - ux * 6 + uy * 2.6:.1f} {y2 - uy * 6 - ux * 2.6:.1f}"
        return f'<path {style} d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}{head}"/>'

    def _style_of(self, kind: str) -> str:
        return f"k{self._kinds.index(kind) % KINDS}"

    def _waiting(self, waiting: Waiting) -> str:
        x1, y = self._at(waiting.start)
        lift = -15.0 if self._prefers_below(waiting.start) else 15.0
        if waiting.end:
            x2 = self._x(waiting.end.column)
            path = f"M{x1:.1f} {y:.1f}C{x1 + 5:.1f} {y + lift:.1f} {x2 - 5:.1f} {y + lift:.1f} {x2:.1f} {y:.1f}"
        else:
            lift *= 0.8
            path = f"M{x1:.1f} {y:.1f}Q{x1 + 4:.1f} {y + lift:.1f} {x1 + 14:.1f} {y + lift:.1f}H{self._right:.1f}"
        return f'<path class="arrow waiting {self._point_role(waiting.start)}" d="{path}"/>'

    def _glyph(self, point: Point) -> Iterator[str]:
        x, y = self._at(point)
        role = self._point_role(point)
        match point.kind:
            case "send":
                yield f'<rect class="dot {role}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'
            case "input":
                yield f'<path class="dot {role}" d="M{x:.1f} {y - 6.5:.1f}l5.5 10h-11Z"/>'
            case "timer":
                yield f'<path class="dot {role}" d="M{x:.1f} {y - 6:.1f}{_DIAMOND}"/>'
            case "receive":
                yield f'<circle class="ring {role}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS - 0.5}"/>'
            case "deliver":
                yield f'<circle class="dot {role}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}"/>'
                if self._highlight and point.event_index == self._highlight.event_index:
                    yield f'<circle class="offence" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS + 4}"/>'
            case "post":
                return
            case "expected":
                yield f'<circle class="ring expected {role}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS + 1.5}"/>'
            case _:
                assert_never(point.kind)

    def _radius(self, point: Point) -> float:
        """Of the sign of a point, with what is drawn round it."""
        if point.kind == "deliver" and self._highlight and point.event_index == self._highlight.event_index:
            return RADIUS + 4
        return RADIUS + 1.5 if point.kind == "expected" else RADIUS

    def _prefers_below(self, point: Point) -> bool:
        """Labels go where the arrows of their point do not."""
        arrows = self._arrows_of.get(point.message, [])
        if point.kind == "send":
            if any(arrow.destination == point.process for arrow in arrows):
                return True
            return sum(1 if arrow.destination > point.process else -1 for arrow in arrows) < 0
        return any(arrow.start.process <= point.process for arrow in arrows)

    def _labels(self) -> Iterator[tuple[str, str]]:
        """The label of each point, with its halo."""
        segments: list[Segment] = [(*self._at(a.start), *self._arrow_end(a)) for a in self._layout.arrows]
        anchors = [
            Anchor(
                *self._at(point),
                len(label_of(point.message)) * CHARACTER + 2,
                self._prefers_below(point),
                self._radius(point),
            )
            for point in self._layout.points
        ]
        for point, box in zip(self._layout.points, place_labels(anchors, segments), strict=True):
            text = escape(label_of(point.message))
            where = f'x="{box.x:.1f}" y="{box.bottom - 1:.1f}" text-anchor="middle"'
            yield (
                f'<text class="halo" {where} aria-hidden="true">{text}</text>',
                f'<text class="{self._point_role(point)}" {where}>{text}</text>',
            )

    def _legend(self) -> tuple[list[str], float]:
        """The signs that occur, and the height of the whole picture."""
        kinds = {point.kind for point in self._layout.points}
        roles = {self._point_role(point) for point in self._layout.points}
        fates = {signal.fate for signal in self._layout.signals}
        fault = "overtakes it" if "missing" in roles else "at fault"
        signs = [
            ("send" in kinds, '<rect class="dot" x="-4" y="-4" width="8" height="8"/>', "causal send"),
            ("timer" in kinds, f'<path class="dot" d="M0 -6{_DIAMOND}"/>', "timer"),
            ("input" in kinds, '<path class="dot" d="M0 -6l5.5 10h-11Z"/>', "input"),
            ("receive" in kinds, '<circle class="ring" r="4"/>', "arrival"),
            ("deliver" in kinds, '<circle class="dot" r="4.5"/>', "delivery"),
            (bool(self._layout.waiting), '<path class="arrow waiting" d="M-9 0H9"/>', "waits"),
            (
                any(arrow.end is None for arrow in self._layout.arrows),
                '<path class="arrow" d="M-3 -3l6 6m0 -6l-6 6"/>',
                "has not arrived",
            ),
            ("missing" in roles, '<circle class="dot missing" r="4.5"/>', "missing"),
            ("expected" in kinds, '<circle class="ring expected missing" r="6"/>', "not delivered"),
            ("overtaking" in roles, '<circle class="dot overtaking" r="4.5"/>', fault),
            (bool(self._links), '<path class="path" d="M-7 0H7"/>', "happens before"),
            *(
                (True, f'<path class="packet {self._style_of(kind)}" d="M-9 0H9"/>', escape(label_of(kind)))
                for kind in self._kinds
            ),
            *((fate in fates, f'<path class="packet k0" d="M-3 0{_FATES[fate]}"/>', fate) for fate in _FATES),
        ]
        drawn: list[str] = []
        x, y = MARGIN + 9, self._bottom + 14
        for occurs, glyph, text in signs:
            if not occurs:
                continue
            width = len(text) * 6.3 + 38
            if x + width > self._width and x > MARGIN + 9:
                x, y = MARGIN + 9, y + 20
            drawn.append(f'<g transform="translate({x:.1f} {y:.1f})">{glyph}<text x="15" y="4">{text}</text></g>')
            x += width
        return drawn, y + MARGIN


def _broken(caption: str, width: int) -> list[str]:
    """The lines of a caption. A chain stays on one line where it has room there, and is broken before an arrow else."""

    def bound(chain: re.Match[str]) -> str:
        return re.sub(" " if len(chain[0]) <= width else "(?<=->) ", _BOUND, chain[0])

    return [line.replace(_BOUND, " ") for line in wrap(_CHAIN.sub(bound, caption), width)]


def _margin(step: float) -> float:
    """On both sides of a band: a label beside its point has room in it."""
    return step * 0.9
