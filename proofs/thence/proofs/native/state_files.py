"""Files of packed states, which are rows of the same length, in parts by their hash.

A part has two files: what is known, level after level, and what the level being expanded reaches, which may be known
and may come up several times.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from thence.proofs.native.memory import Array
from thence.proofs.native.row_file import RowFile

PARTS: Final = 64
"""Into so many parts states are dealt, a power of two: two files each are open."""


@dataclass(slots=True)
class StateFiles:
    """The files in a folder of their own.

    Attributes:
        key: of the search, which tells its files from those of others.
        ends: by level and part, how many rows are known up to its end.
        sums: by part, the checksum at the end of the last level, see `RowFile`.

    Raises, as all that is done with them: OSError, DamagedError.
    """

    folder: Path
    words: int
    key: str
    ends: list[list[int]] = field(default_factory=lambda: [[0] * PARTS])
    sums: list[int] = field(default_factory=lambda: [0] * PARTS)
    _known: list[RowFile] = field(init=False)
    _reached: list[RowFile] = field(init=False)

    def __post_init__(self) -> None:
        self._reached = [self._file(f"reached-{part:02}") for part in range(PARTS)]
        self._known = [
            self._file(f"known-{part:02}", count, checksum)
            for part, (count, checksum) in enumerate(zip(self.ends[-1], self.sums, strict=True))
        ]
        for file in self._known:
            file.cut()
        for file in self._reached:
            file.path.write_bytes(b"")

    def _file(self, name: str, count: int = 0, checksum: int = 0) -> RowFile:
        return RowFile(self.folder / name, self.words, self.key, count, checksum)

    # --- rows ------------------------------------------------------------------------------------

    def add_reached(self, rows: Array, counts: list[int]) -> None:
        """Rows that lie part after part are noted as reached."""
        at = 0
        for file, count in zip(self._reached, counts, strict=True):
            self._add(file, rows, at, count)
            at += count

    def add_known(self, part: int, rows: Array, count: int) -> None:
        """Rows of a part become known, at the level that is being made."""
        self._add(self._known[part], rows, 0, count)

    def _add(self, to: RowFile, rows: Array, at: int, count: int) -> None:
        if count:
            with to.path.open("r+b", buffering=0) as file:
                to.add(file, rows.view(at * self.words, count * self.words))

    def end_level(self) -> bool:
        """What became known since the last call is a level; whether there is anything in it."""
        ends = [file.count for file in self._known]
        more = ends != self.ends[-1]
        if more:
            self.ends.append(ends)
            self.sums = [file.sum for file in self._known]
        return more

    def sync(self) -> None:
        """Returns when what is known outlasts the machine's failing."""
        for known in self._known:
            with known.path.open("rb") as file:
                os.fsync(file.fileno())

    def level(self, level: int, rows: Array, most: int) -> Iterator[int]:
        """Reads the rows of a level, 0 for the initial state's, at most so many at a time; how many there are."""
        have = 0
        for file, start, end in zip(self._known, self.ends[level], self.ends[level + 1], strict=True):
            while start < end:
                count = min(most - have, end - start)
                self._fill(file, rows, have, start, count)
                start, have = start + count, have + count
                if have == most:
                    yield have
                    have = 0
        if have:
            yield have

    def known(self, part: int, rows: Array, most: int) -> Iterator[int]:
        """Reads all that is known in a part, at most so many rows at a time; how many there are."""
        yield from self._read(self._known[part], rows, most)

    def reached(self, part: int, rows: Array, most: int) -> Iterator[int]:
        """Reads what is reached in a part, at most so many rows at a time, and then forgets it."""
        file = self._reached[part]
        if file.count:
            yield from self._read(file, rows, most)
            file.path.write_bytes(b"")
            file.count = 0

    def _read(self, file: RowFile, rows: Array, most: int) -> Iterator[int]:
        start, end = 0, file.count
        while start < end:
            count = min(most, end - start)
            self._fill(file, rows, 0, start, count)
            start += count
            yield count

    def _fill(self, file: RowFile, rows: Array, at: int, start: int, count: int) -> None:
        """Reads `count` rows of the file, from `start` on, to the place `at` of the rows."""
        file.read(start, rows.view(at * self.words, count * self.words))
