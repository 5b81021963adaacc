"""The layout of a space-time diagram: process lines horizontal, logical time from left to right.

An event stands right of the earlier ones of its process, and an arrival right of its send; otherwise as far left as
possible, so that concurrent events of different processes share a column. Units: columns and process numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from thence.spec.diagram_highlight import Highlight
from thence.spec.events import Deliver, Execution, Receive, Send

NUDGE: Final = 0.4
WIDTH_COUNTS: Final = 0.5
COLOUR_COUNTS: Final = 5
NUDGES: Final = 60
CLEARANCE: Final = 0.36
TURN: Final = 0.8
"""Columns between the events that happen once and those that are repeated for ever."""


@dataclass(frozen=True, slots=True)
class Point:
    """Something at a process line.

    Kinds: `send`; `receive`: an arrival that waits or is dropped; `deliver`: out of the buffer, or with no recorded
    arrival, or at once on arrival; `expected`: a delivery that should be there and is not.
    """

    kind: Literal["send", "receive", "deliver", "expected"]
    process: int
    message: str
    column: float
    event_index: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """One journey of a message. `end` is None where it does not arrive."""

    message: str
    start: Point
    destination: int
    end: Point | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message in the buffer of a process. `end` is None where it stays there."""

    start: Point
    end: Point | None


@dataclass(frozen=True, slots=True)
class Layout:
    """A placed execution. `columns` is the width; `turn` is where what is repeated for ever begins, if anything is."""

    processes: int
    columns: float
    points: tuple[Point, ...]
    arrows: tuple[Arrow, ...]
    waiting: tuple[Waiting, ...]
    turn: float | None = None

    def point(self, kind: str, process: int, message: str) -> Point | None:
        """The first such point, or None."""
        for point in self.points:
            if (point.kind, point.process, point.message) == (kind, process, message):
                return point
        return None


def delivered_on_arrival(execution: Execution) -> dict[int, int]:
    """Receives whose process delivers the same message as its very next event: their indices to the deliveries'."""
    upcoming: dict[int, int] = {}
    at_once: dict[int, int] = {}
    for index in range(len(execution.events) - 1, -1, -1):
        event = execution.events[index]
        following = upcoming.get(event.process)
        if isinstance(event, Receive) and following is not None:
            after = execution.events[following]
            if isinstance(after, Deliver) and after.message == event.message:
                at_once[index] = following
        upcoming[event.process] = index
    return at_once


def place(execution: Execution, highlight: Highlight | None = None, repeats_from: int | None = None) -> Layout:
    """Place the events; arrows are nudged off the points of the process lines that they cross.

    The events from `repeats_from` on all stand right of those before.
    """
    at_once = delivered_on_arrival(execution)
    delays: dict[int, float] = {}
    layout = best = _place(execution, highlight, at_once, delays, repeats_from)
    least: float | None = None
    for _ in range(max(1, min(NUDGES, 20_000 // (len(execution.events) + 1)))):
        clashes = sorted(_clashes(layout), key=lambda arrow: not _is_coloured(arrow, highlight))
        cost = WIDTH_COUNTS * layout.columns + sum(
            COLOUR_COUNTS if _is_coloured(arrow, highlight) else 1 for arrow in clashes
        )
        if least is None or cost < least:
            least, best = cost, layout
        if not clashes:
            break
        end = clashes[0].end
        assert end is not None
        delays[end.event_index] = delays.get(end.event_index, 0.0) + NUDGE
        layout = _place(execution, highlight, at_once, delays, repeats_from)
    return best


def _is_coloured(arrow: Arrow, highlight: Highlight | None) -> bool:
    if highlight is None or highlight.role(arrow.message) == "plain":
        return False
    return arrow.destination == highlight.process or arrow.message in highlight.chain[:-1]


def _place(
    execution: Execution,
    highlight: Highlight | None,
    at_once: Mapping[int, int],
    delays: Mapping[int, float],
    repeats_from: int | None,
) -> Layout:
    merged = frozenset(at_once.values())
    free = [0.0] * execution.processes
    sends: dict[str, tuple[Point, tuple[int, ...]]] = {}
    points: list[Point] = []
    arrows: list[Arrow] = []
    buffered: dict[tuple[int, str], list[Point]] = {}
    waiting: list[Waiting] = []
    arrived: set[tuple[int, str]] = set()
    delivered: set[tuple[int, str]] = set()

    def put(kind: Literal["send", "receive", "deliver", "expected"], process: int, message: str, index: int) -> Point:
        column = free[process]
        if kind != "send" and message in sends:
            column = max(column, sends[message][0].column + 1)
        point = Point(kind, process, message, column + delays.get(index, 0.0), index)
        free[process] = point.column + 1
        points.append(point)
        return point

    def arrive(point: Point) -> None:
        arrived.add((point.process, point.message))
        if point.message in sends:
            arrows.append(Arrow(point.message, sends[point.message][0], point.process, point))

    turn: float | None = None
    for index, event in enumerate(execution.events):
        if index == repeats_from:
            turn = max(free)
            free = [turn + TURN] * execution.processes
        match event:
            case Send(process, message, destinations):
                sends[message] = (put("send", process, message, index), destinations)
            case Receive(process, message):
                if index not in at_once:
                    point = put("receive", process, message, index)
                    arrive(point)
                    buffered.setdefault((process, message), []).append(point)
            case Deliver(process, message):
                point = put("deliver", process, message, index)
                delivered.add((process, message))
                if index in merged:
                    arrive(point)
                elif queue := buffered.get((process, message)):
                    waiting.append(Waiting(queue.pop(0), point))
                elif (process, message) not in arrived:
                    arrive(point)

    if highlight is not None:
        end = max(free) if points else 0.0
        for number, message in enumerate(highlight.missing):
            if (highlight.process, message) in delivered or message not in sends:
                continue
            free[highlight.process] = max(free[highlight.process], end)
            point = put("expected", highlight.process, message, len(execution.events) + number)
            if queue := buffered.get((highlight.process, message)):
                waiting.append(Waiting(queue.pop(0), point))
            else:
                arrive(point)
    for (process, message), queue in buffered.items():
        if queue and (process, message) not in delivered:
            waiting.append(Waiting(queue[0], None))
    for message, (start, destinations) in sends.items():
        for destination in destinations:
            if (destination, message) not in arrived:
                arrows.append(Arrow(message, start, destination, None))
    columns = max(free, default=0.0)
    return Layout(execution.processes, columns, tuple(points), tuple(arrows), tuple(waiting), turn)


def _clashes(layout: Layout) -> list[Arrow]:
    """Arrows that run through a point of a process between their ends."""
    columns: dict[int, list[float]] = {}
    for point in layout.points:
        columns.setdefault(point.process, []).append(point.column)
    clashing: list[Arrow] = []
    for arrow in layout.arrows:
        if arrow.end is None:
            continue
        start, end = arrow.start, arrow.end
        step = 1 if end.process > start.process else -1
        for process in range(start.process + step, end.process, step):
            part = (process - start.process) / (end.process - start.process)
            column = start.column + part * (end.column - start.column)
            if any(abs(column - other) < CLEARANCE for other in columns.get(process, ())):
                clashing.append(arrow)
                break
    return clashing
