"""Space-time diagrams in plain text: a column for each process, a row for each event, time downwards."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from thence.spec.diagram.highlight import Highlight
from thence.spec.diagram.layout import delivered_on_arrival
from thence.spec.diagram.names import label_of, shown
from thence.spec.events import Aside, Deliver, Execution, Input, Passage, Receive, Send

WIDEST: Final = 100
WIDEST_COLUMN: Final = 16
NARROWEST_COLUMN: Final = 5
NOTES: Final = 18
"""Columns that are kept free at the right for the notes of a highlight."""

_SIGNS: Final[Mapping[str, str]] = {
    "■": "causal send to",
    "▲": "input",
    "●": "delivery",
    "○": "arrival",
    "┊": "a message waits",
    "┄": "control packet",
    "◆": "timer",
    "✗": "lost",
    "⊕": "duplicated",
}

_PACKET: Final = "┄"
"""Stands in the rows of control packets, and in no other row."""

_SIGN_OF_PACKETS: Final = f"   {_PACKET} {_SIGNS[_PACKET]}"
"""What the legend says of them, behind the other signs."""


def draw_text(execution: Execution, highlight: Highlight | None = None, repeats_from: int | None = None) -> str:
    """The space-time diagram of `execution` in Unicode text, without colours; lines end in a line feed.

    The rows have the numbers of the steps, or without steps those of the events, from 1.
    `■m→1,2` is a causal send of m to p1 and p2; an arrow is the journey of a message, in the row where it arrives:
    to `●` where it is delivered at once, to `○` where it waits; `●m` without an arrow comes out of the buffer;
    `▲ask(2)` is an input of the application. While something waits at a process, its line is dashed. A thin arrow
    `┄ACK┄▷` is the arrival of a control packet, in a run whose packets were seen; `┄ACK┄✗` says that the network loses
    one, `┄ACK┄⊕` that it duplicates one. `◆expire` is a timer that changes something, or ends the run. The rows of a
    highlight carry notes. A run of up to six processes with short message names is at most 100 columns wide. A rule
    stands above step `repeats_from`, from which on everything is repeated for ever.
    """
    return _Sheet(execution, highlight, repeats_from).text()


def text_without_packets(text: str) -> str:
    """The diagram, or a text with diagrams in it, without the rows of control packets."""
    signs = text.replace(_SIGN_OF_PACKETS, "").replace(f"{_SIGN_OF_PACKETS.strip()}   ", "")
    return "\n".join(line for line in signs.split("\n") if _PACKET not in line)


@dataclass(slots=True)
class _Row:
    """One line under construction; `number` and `note` stand left and right of the drawing."""

    cells: list[str]
    number: str = ""
    note: str = ""

    def put(self, column: int, text: str) -> None:
        """Write over what is there."""
        missing = column + len(text) - len(self.cells)
        if missing > 0:
            self.cells.extend(" " * missing)
        self.cells[column : column + len(text)] = text


@dataclass(slots=True)
class _Sheet:
    """The drawing; `_waiting[p]` are the messages in p's buffer."""

    _execution: Execution
    _highlight: Highlight | None
    _repeats_from: int | None = None
    _step: int = 0
    _margin: int = 0
    _senders: dict[str, int] = field(default_factory=dict)
    _waiting: list[list[str]] = field(default_factory=list)
    _arrived: set[tuple[int, str]] = field(default_factory=set)
    _signs: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        processes = self._execution.processes
        numbers = (*self._execution.steps, *(aside.step for aside in self._execution.asides))
        largest = max(numbers, default=len(self._execution.events))
        self._margin = len(str(largest)) + 3
        room = WIDEST - self._margin - (NOTES if self._highlight else 6)
        self._step = max(NARROWEST_COLUMN, min(WIDEST_COLUMN, room // processes))
        self._waiting = [[] for _ in range(processes)]

    def text(self) -> str:
        """Caption, names, rows, legend."""
        at_once = delivered_on_arrival(self._execution)
        merged = frozenset(at_once.values())
        notes = self._notes()
        names = _Row([])
        for process in range(self._execution.processes):
            names.put(self._column(process), self._execution.name_of(process)[: self._step - 1])
        rows = [names]
        besides = self._besides()

        def until(index: int) -> None:
            while besides and besides[-1][0] <= index:
                _, step, drawn = besides.pop()
                self._turn(rows, step)
                rows.append(self._signal(drawn) if isinstance(drawn, Passage) else self._aside(drawn))

        for index, event in enumerate(self._execution.events):
            until(index)
            if self._execution.steps:
                self._turn(rows, self._execution.steps[index])
            if index in at_once:
                continue
            # An arrival that is delivered at once is one row, with the number of the arrival's step.
            number = self._number(index - 1 if index - 1 in at_once and at_once[index - 1] == index else index)
            row = self._row(number if self._execution.steps else str(index + 1), notes.get(index, ""))
            match event:
                case Send(process, message, destinations):
                    self._send(row, process, message, destinations)
                case Receive(process, message):
                    self._waiting[process].append(message)
                    self._journey(row, process, message, "○")
                case Deliver(process, message):
                    self._deliver(row, process, message, index in merged)
                case Input(process):
                    self._signs.add("▲")
                    row.put(self._column(process), f"▲{label_of(event.label)}")
            rows.append(row)
        until(len(self._execution.events))
        rows += self._expected()
        caption = self._highlight.caption_in(self._execution) if self._highlight else ""
        lines = [shown(caption), ""] if caption else []
        width = max((len(row.cells) for row in rows if row.note), default=0)
        lines += [self._line(row, width) for row in rows]
        signs = [f"{sign} {meaning}" for sign, meaning in _SIGNS.items() if sign in self._signs]
        if signs:
            lines += ["", "   ".join(signs)]
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _name(self, process: int) -> str:
        return label_of(self._execution.name_of(process))

    def _target(self, process: int) -> str:
        return self._name(process) if self._execution.names else str(process)

    def _number(self, index: int) -> str:
        """The number of the step that the event belongs to, where it begins; of a bare execution that of the event."""
        steps = self._execution.steps
        if not steps:
            return str(index)
        return "" if not steps[index] or (index and steps[index - 1] == steps[index]) else str(steps[index])

    def _column(self, process: int) -> int:
        return process * self._step

    def _row(self, number: str, note: str) -> _Row:
        row = _Row([], number, note)
        for process, waiting in enumerate(self._waiting):
            row.put(self._column(process), "┊" if waiting else "│")
        return row

    def _line(self, row: _Row, width: int) -> str:
        drawing = "".join(row.cells)
        note = f"   {row.note}" if row.note else ""
        return f"{row.number:>{self._margin - 2}}  {drawing:<{width if row.note else 0}}{note}"

    def _send(self, row: _Row, process: int, message: str, destinations: tuple[int, ...]) -> None:
        self._signs.add("■")
        self._senders[message] = process
        others = self._execution.processes - 1
        everyone = others > 2 and set(destinations) >= set(range(self._execution.processes)) - {process}
        targets = "all" if everyone else ",".join(map(self._target, destinations))
        row.put(self._column(process), f"■{label_of(message)}→{targets}")

    def _deliver(self, row: _Row, process: int, message: str, on_arrival: bool) -> None:
        if on_arrival or (message not in self._waiting[process] and (process, message) not in self._arrived):
            self._journey(row, process, message, "●")
            return
        if message in self._waiting[process]:
            self._waiting[process].remove(message)
        self._signs.add("●")
        row.put(self._column(process), f"●{label_of(message)}")

    def _journey(self, row: _Row, process: int, message: str, sign: str) -> None:
        """An arrow from the sender's column, the name upon it, or beside the sign where there is no room."""
        self._signs |= {sign} | ({"┊"} if sign == "○" else set())
        self._arrived.add((process, message))
        here, sender = self._column(process), self._senders.get(message)
        label = label_of(message)
        if sender is None or sender == process:
            row.put(here, sign + label)
            return
        there = self._column(sender)
        rightwards = here > there
        left, right = (there + 1, here - 1) if rightwards else (here + 1, there - 1)
        shaft = ["─"] * (right - left + 1)
        crossed = {self._column(other) - left for other in range(self._execution.processes)}
        for position in crossed:
            if 0 <= position < len(shaft):
                shaft[position] = "┼"
        shaft[-1 if rightwards else 0] = "▶" if rightwards else "◀"
        # The name stands in the gap next to the receiver.
        gap = self._step - 1
        if len(label) + 3 <= gap:
            start = (len(shaft) - gap if rightwards else 0) + (gap - len(label)) // 2
            shaft[start : start + len(label)] = label
            row.put(left, "".join(shaft))
            row.put(here, sign)
        else:
            row.put(left, "".join(shaft))
            row.put(here, sign if not rightwards else sign + label)
            if not rightwards:
                row.put(there + 1, label)
        row.put(there, "├" if rightwards else "┤")

    def _turn(self, rows: list[_Row], step: int) -> None:
        """The rule, before the first row of what is repeated."""
        if self._repeats_from is not None and step >= self._repeats_from:
            rows.append(_Row(list("─" * (self._column(self._execution.processes - 1) + 1)), "", "for ever:"))
            self._repeats_from = None

    def _besides(self) -> list[tuple[int, int, Passage | Aside]]:
        """The arrivals of control packets and what else is no event, the last one first, each with the number of the
        event that it precedes, and its step."""
        execution = self._execution
        if execution.events and not execution.steps:
            return []
        found: list[tuple[int, Passage | Aside]] = [
            (packet.arrived, packet)
            for packet in execution.packets
            if packet.message is None and packet.arrived is not None
        ]
        found += [(aside.step, aside) for aside in execution.asides]
        ordered = sorted(found, key=lambda each: each[0], reverse=True)
        return [(bisect_left(execution.steps, step), step, drawn) for step, drawn in ordered]

    def _signal(self, packet: Passage) -> _Row:
        """A thin arrow with the kind of the packet."""
        self._signs.add(_PACKET)
        row = self._row(str(packet.arrived), "")
        head = "▷" if packet.destination > packet.source else "◁"
        self._thin(
            row, packet.kind, packet.source, packet.destination, head if packet.destination != packet.source else ""
        )
        return row

    def _aside(self, aside: Aside) -> _Row:
        """The sign of a timer with its name, or a thin arrow that ends in the fate of the packet."""
        row = self._row(str(aside.step), "")
        if aside.kind == "timer":
            self._signs.add("◆")
            row.put(self._column(aside.source), f"◆{label_of(aside.name)}")
            return row
        sign = "✗" if aside.kind == "lost" else "⊕"
        self._signs |= {sign} if aside.message else {sign, _PACKET}
        self._thin(
            row, aside.message or aside.name, aside.source, aside.destination, sign, "─" if aside.message else _PACKET
        )
        return row

    def _thin(self, row: _Row, name: str, source: int, destination: int, head: str, shaft_of: str = _PACKET) -> None:
        """An arrow of this head, with a name."""
        here, there = self._column(destination), self._column(source)
        if here == there:
            row.put(here + 1, f"{shaft_of}{label_of(name)}{head}")
            return
        left, right = min(here, there) + 1, max(here, there) - 1
        shaft = [shaft_of] * (right - left + 1)
        for process in range(self._execution.processes):
            if left <= self._column(process) <= right:
                shaft[self._column(process) - left] = "┼"
        shaft[-1 if here > there else 0] = head
        gap = self._step - 1
        name = label_of(name)
        label = name if len(name) + 3 <= gap else f"{name[: max(gap - 4, 1)]}…"
        if len(label) + 2 <= gap:
            start = (len(shaft) - gap if here > there else 0) + (gap - len(label)) // 2
            shaft[start : start + len(label)] = label
        row.put(left, "".join(shaft))

    def _expected(self) -> list[_Row]:
        """The messages that are missing and never came, below the last event."""
        if self._highlight is None:
            return []
        process = self._highlight.process
        delivered = {e.message for e in self._execution.events if isinstance(e, Deliver) and e.process == process}
        rows: list[_Row] = []
        for message in self._highlight.missing:
            if message in delivered:
                continue
            row = self._row("", f"{label_of(message)} is not delivered")
            row.put(self._column(process), f"×{label_of(message)}")
            rows.append(row)
        return rows

    def _notes(self) -> dict[int, str]:
        """By event: why a row matters for the highlight."""
        highlight = self._highlight
        if highlight is None:
            return {}
        events = self._execution.events
        sends = {event.message: index for index, event in enumerate(events) if isinstance(event, Send)}
        notes = {sends[message]: f"{label_of(message)} is sent" for message in highlight.missing if message in sends}
        for earlier, later in pairwise(highlight.chain):
            if later in sends:
                sender = events[sends[later]].process
                notes.setdefault(sends[later], f"{label_of(earlier)} -> {label_of(later)}")
                for index, event in enumerate(events[: sends[later]]):
                    if isinstance(event, Deliver) and (event.process, event.message) == (sender, earlier):
                        notes.setdefault(index, f"{self._name(sender)} knows {label_of(earlier)}")
        missing = ", ".join(map(label_of, highlight.missing))
        if highlight.event_index is not None:
            notes[highlight.event_index] = f"<== before {missing}" if missing else "<== here"
        for index, event in enumerate(events):
            if isinstance(event, Deliver) and event.process == highlight.process and event.message in highlight.missing:
                notes[index] = f"{label_of(event.message)}, too late"
        return notes
