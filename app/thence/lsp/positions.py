"""Places in a text, as the language server protocol counts them.

The language counts lines and columns from 1, columns in characters, and a line ends with a line feed. The protocol
counts from 0, columns in code units of the encoding that client and server agree on (UTF-16 unless they say otherwise),
and a lone carriage return ends a line, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Literal, TypeAlias

from lsprotocol.types import Position, Range

from thence.dsl.text.syntax import Span

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

_UNITS: dict[Encoding, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text) + sum(character > "\uffff" for character in text),
    "utf-32": len,
}
_ENDS = re.compile(r"\r\n|\n|\r")


class Positions:
    """The lines of a text, to turn places into positions and back. A place outside of the text is moved into it."""

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self._text = text
        self._mark = len(text) - len(text.removeprefix("\ufeff"))
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        ends = list(_ENDS.finditer(text))
        self._client_starts = [0, *(found.end() for found in ends)]
        self._client_ends = [*(found.start() for found in ends), len(text)]
        self._units = _UNITS[encoding]

    def position(self, line: int, column: int) -> Position:
        """A place of the language as a position."""
        if line < 1:
            return Position(0, 0)
        if line > len(self._starts):
            return self._position(len(self._text))
        end = self._starts[line] - 1 if line < len(self._starts) else len(self._text)
        offset = self._starts[line - 1] + max(column - 1, 0) + (self._mark if line == 1 else 0)
        return self._position(min(offset, end))

    def _position(self, offset: int) -> Position:
        number = bisect_right(self._client_starts, offset) - 1
        end = min(offset, self._client_ends[number])
        return Position(number, self._units(self._text[self._client_starts[number] : end]))

    def range(self, span: Span) -> Range:
        """A stretch of the language as a range."""
        return Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def whole(self) -> Range:
        """The range of the whole text."""
        return Range(Position(0, 0), self._position(len(self._text)))

    def place(self, position: Position) -> tuple[int, int]:
        """A position as line and column of the language. One inside of a character is at its begin."""
        if position.line >= len(self._client_starts):
            offset = len(self._text)
        else:
            number = max(position.line, 0)
            offset, units = self._client_starts[number], 0
            while offset < self._client_ends[number]:
                units += self._units(self._text[offset])
                if units > position.character:
                    break
                offset += 1
        line = bisect_right(self._starts, offset) - 1
        column = offset - self._starts[line] + 1 - (self._mark if line == 0 else 0)
        return line + 1, max(column, 1)


def contains(span: Span, line: int, column: int) -> bool:
    """Whether the place is in the stretch, or right behind it."""
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)
