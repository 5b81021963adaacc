"""The layout of a space-time diagram: process lines horizontal, logical time from left to right.

An event stands right of the earlier ones of its process, and an arrival right of its send; otherwise as far left as
possible, so that concurrent events of different processes share a column. Units: columns and process numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Final, Literal

from thence.spec.diagram.highlight import Highlight
from thence.spec.events import Aside, Deliver, Execution, Input, Passage, Receive, Send

NUDGE: Final = 0.4
WIDTH_COUNTS: Final = 0.5
COLOUR_COUNTS: Final = 5
NUDGES: Final = 60
CLEARANCE: Final = 0.36
SIGNAL: Final = 0.6
"""Columns that the arrival of a control packet takes."""
TURN: Final = 0.8
"""Columns between the events that happen once and those that are repeated for ever."""


@dataclass(frozen=True, slots=True)
class Point:
    """Something at a process line.

    Kinds: `send`; `input`: of the application, its text in place of a message; `timer`: its name in place of one;
    `post`: the first packet with a message that waited at its sender; `receive`: an arrival that waits or is dropped;
    `deliver`: out of the buffer, or with no recorded arrival, or at once on arrival; `expected`: a delivery that should
    be there and is not.
    """

    kind: Literal["send", "input", "timer", "post", "receive", "deliver", "expected"]
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
    """A message in the buffer of its sender or of a receiver. `end` is None where it stays there."""

    start: Point
    end: Point | None


@dataclass(frozen=True, slots=True)
class Signal:
    """The way of a control packet, or what became of any packet. `end` is the column of its arrival, None where it does
    not arrive."""

    kind: str
    source: int
    start: float
    destination: int
    end: float | None
    fate: Literal["", "lost", "duplicated"] = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """A placed execution. `columns` is the width; `turn` is where what is repeated for ever begins, if anything is."""

    processes: int
    columns: float
    points: tuple[Point, ...]
    arrows: tuple[Arrow, ...]
    waiting: tuple[Waiting, ...]
    turn: float | None = None
    signals: tuple[Signal, ...] = ()

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

    What belongs to the steps from `repeats_from` on stands right of what was before; without steps, to these events.
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
    last = [0.0] * execution.processes
    sends: dict[str, tuple[Point, tuple[int, ...]]] = {}
    posts: dict[tuple[str, int], Point] = {}
    """Where the first packet with a message leaves, of each message and destination that waited for that."""
    points: list[Point] = []
    arrows: list[Arrow] = []
    buffered: dict[tuple[int, str], list[Point]] = {}
    waiting: list[Waiting] = []
    arrived: set[tuple[int, str]] = set()
    delivered: set[tuple[int, str]] = set()

    def put(
        kind: Literal["send", "input", "timer", "receive", "deliver", "expected"],
        process: int,
        message: str,
        index: int,
    ) -> Point:
        column = free[process]
        if kind not in ("send", "input", "timer") and message in sends:
            column = max(column, posts.get((message, process), sends[message][0]).column + 1)
        point = Point(kind, process, message, column + delays.get(index, 0.0), index)
        last[process], free[process] = point.column, point.column + 1
        points.append(point)
        return point

    def arrive(point: Point) -> None:
        arrived.add((point.process, point.message))
        if point.message in sends:
            start = posts.get((point.message, point.process), sends[point.message][0])
            arrows.append(Arrow(point.message, start, point.process, point))

    signals: list[Signal] = []
    posted: set[tuple[str, int]] = set()
    starts: dict[int, float] = {}
    moments = _moments(execution)
    lost = {aside.packet for aside in execution.asides if aside.kind == "lost"}

    def leave(number: int, packet: Passage) -> None:
        column = last[packet.source]
        starts[number] = column
        message = packet.message
        if message is None:
            if packet.arrived is None and number not in lost:
                signals.append(Signal(packet.kind, packet.source, column, packet.destination, None))
        elif message in sends and (message, packet.destination) not in posted:
            posted.add((message, packet.destination))
            send = sends[message][0]
            if packet.source == send.process and column > send.column:
                posts[message, packet.destination] = Point("post", packet.source, message, column, send.event_index)
                if not any(one.start is send for one in waiting):
                    waiting.append(Waiting(send, posts[message, packet.destination]))

    def come(number: int, packet: Passage) -> None:
        if packet.message is None:
            column = max(free[packet.destination], starts[number] + 1)
            signals.append(Signal(packet.kind, packet.source, starts[number], packet.destination, column))
            last[packet.destination], free[packet.destination] = column, column + SIGNAL

    def until(step: float) -> None:
        while moments and moments[0][:2] < (step, 1):
            _, phase, number = moments.popleft()
            if phase == 1:
                happen(execution.asides[number])
            else:
                (leave if phase == 2 else come)(number, execution.packets[number])

    def happen(aside: Aside) -> None:
        if aside.kind == "timer":
            put("timer", aside.source, aside.name, len(execution.events) + aside.step)
        else:
            start = last[aside.source] if aside.kind == "duplicated" else starts.get(aside.packet, last[aside.source])
            signals.append(Signal(aside.name, aside.source, start, aside.destination, None, aside.kind))

    def begin(step: float) -> float:
        """The column of what is repeated, from a step on."""
        until(step)
        column = max(free)
        free[:] = [column + TURN] * execution.processes
        return column

    turn: float | None = None
    for index, event in enumerate(execution.events):
        step = execution.steps[index] if execution.steps else index
        if repeats_from is not None and turn is None and step >= repeats_from:
            turn = begin(repeats_from)
        if moments:
            until(step)
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
            case Input(process):
                put("input", process, event.label, index)

    if repeats_from is not None and turn is None:
        turn = begin(repeats_from)
    until(inf)
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
            if (destination, message) in arrived:
                continue
            if not execution.packets or any(name == message for name, _ in posted):
                start = posts.get((message, destination), start)
                arrows.append(Arrow(message, start, destination, None))
            elif not any(one.start is start for one in waiting):
                waiting.append(Waiting(start, None))
    columns = max(free, default=0.0)
    return Layout(execution.processes, columns, tuple(points), tuple(arrows), tuple(waiting), turn, tuple(signals))


def _moments(execution: Execution) -> deque[tuple[float, int, int]]:
    """When packets arrive and leave: the step, 0 for an arrival and 2 for leaving, since the step's events are between
    them, and the packet's place; 1 and its place for what is aside, in a step without events."""
    if execution.events and not execution.steps:
        return deque()
    found: list[tuple[float, int, int]] = []
    for number, packet in enumerate(execution.packets):
        found.append((packet.sent, 2, number))
        if packet.arrived is not None:
            found.append((packet.arrived, 0, number))
    found += [(aside.step, 1, number) for number, aside in enumerate(execution.asides)]
    return deque(sorted(found))


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
