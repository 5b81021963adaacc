"""Rows in columns that fit a width. A line is broken between words only: a longer word stands on a line of its own."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from thence.cli.readers.colours import Ink, Painter

LEAST, MOST, PIPED = 40, 160, 140
"""Columns: the fewest and the most that are used, and those of output that goes to no terminal."""

GAP = 2
"""Blanks between columns."""

NARROW = 24
"""Columns: a text that is longer is not broken into lines shorter than this."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The text of a cell of a table, without line ends, and its ink."""

    text: str
    ink: Ink = Ink.PLAIN


def width_of(stream: TextIO) -> int:
    """The columns to use: COLUMNS, else those of the terminal, else `PIPED`."""
    if os.environ.get("COLUMNS", "").isdigit() or stream.isatty():
        return max(LEAST, min(MOST, shutil.get_terminal_size((80, 24)).columns))
    return PIPED


def length(text: str) -> int:
    """The columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text
    )


def wrapped(text: str, width: int) -> list[str]:
    """The words of a text, on lines of at most `width` columns; only a word that is longer exceeds it."""
    lines: list[str] = []
    for word in text.split():
        if lines and length(lines[-1]) + 1 + length(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def fitted(text: str, width: int) -> list[str]:
    """The lines of a text; longer ones are broken between words, and go on further in. Diagrams are kept."""
    lines = []
    for line in text.split("\n"):
        inside = line.lstrip(" ")
        if length(line) <= width or any("\u2500" <= letter <= "\u257f" for letter in line):
            lines.append(line)
            continue
        indent = len(line) - len(inside)
        first, *others = wrapped(inside, width - indent - GAP)
        lines += [f"{' ' * indent}{first}", *(f"{' ' * (indent + GAP)}{other}" for other in others)]
    return lines


def laid_out(rows: Sequence[Sequence[Entry]], width: int, paint: Painter, *, indent: int = 0) -> list[list[str]]:
    """The lines of each row: in columns, or each cell under the other where columns would not fit.

    Columns that are empty in all rows are left out.
    """
    kept = [at for at in range(max(map(len, rows), default=0)) if any(at < len(row) and row[at].text for row in rows)]
    cells = [[row[at] if at < len(row) else Entry("") for at in kept] for row in rows]
    widths = _widths(cells, width - indent)
    return [
        [
            f"{' ' * indent}{line}".rstrip()
            for line in (_stacked(row, width - indent, paint) if widths is None else _side_by_side(row, widths, paint))
        ]
        for row in cells
    ]


def _widths(rows: Sequence[Sequence[Entry]], width: int) -> list[int] | None:
    """The width of each column: at least its longest word, at most its longest text. None where that does not fit."""
    columns = list(zip(*rows, strict=True))
    given = [max((length(word) for cell in column for word in cell.text.split()), default=0) for column in columns]
    wanted = [max(length(cell.text) for cell in column) for column in columns]
    room = width - GAP * (len(columns) - 1) - sum(given)
    if room < 0:
        return None
    by_need = sorted(range(len(columns)), key=lambda at: wanted[at] - given[at])
    for left, at in zip(range(len(columns), 0, -1), by_need, strict=True):
        more = min(wanted[at] - given[at], room // left)
        given[at] += more
        room -= more
    narrow = any(have < min(want, NARROW) for have, want in zip(given, wanted, strict=True))
    return None if narrow else given


def _side_by_side(row: Sequence[Entry], widths: Sequence[int], paint: Painter) -> list[str]:
    broken = [wrapped(cell.text, width) for cell, width in zip(row, widths, strict=True)]
    lines = []
    for number in range(max(map(len, broken), default=0)):
        line, used, column = "", 0, 0
        for cell, part, width in zip(row, broken, widths, strict=True):
            if number < len(part) and part[number]:
                line += " " * (column - used) + paint(part[number], cell.ink)
                used = column + length(part[number])
            column += width + GAP
        lines.append(line)
    return lines


def _stacked(row: Sequence[Entry], width: int, paint: Painter) -> list[str]:
    """The first cell, and the others below it, indented; none of the lines is broken within a word."""
    first, *others = row
    lines = [paint(line, first.ink) for line in wrapped(first.text, width)]
    line, used = "", 0
    for cell in others:
        if not cell.text:
            continue
        fits = used + (GAP if used else 0) + length(cell.text) <= width - GAP
        if used and not fits:
            lines.append(f"{' ' * GAP}{line}")
            line, used = "", 0
        if length(cell.text) <= width - GAP:
            line += f"{' ' * GAP if used else ''}{paint(cell.text, cell.ink)}"
            used += (GAP if used else 0) + length(cell.text)
        else:
            lines += [f"{' ' * GAP}{paint(part, cell.ink)}" for part in wrapped(cell.text, width - GAP)]
    return [*lines, f"{' ' * GAP}{line}"] if used else lines


def grid(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """A table of numbers: the first row is the heading, the first column the name. Numbers are flush right.

    Columns that do not fit beside the others follow below, with the names once more.
    """
    columns = list(zip(*rows, strict=True))
    wide = [max(map(length, column)) for column in columns]
    lines: list[str] = []
    at = 1
    while at < len(columns):
        end, used = at + 1, wide[0] + GAP + wide[at]
        while end < len(columns) and used + GAP + wide[end] <= width:
            used += GAP + wide[end]
            end += 1
        for row in rows:
            numbers = (f"{' ' * (wide[one] - length(row[one]) + GAP)}{row[one]}" for one in range(at, end))
            lines.append(f"{row[0]}{' ' * (wide[0] - length(row[0]))}{''.join(numbers)}".rstrip())
        at = end
        lines += [""] if at < len(columns) else []
    return lines
