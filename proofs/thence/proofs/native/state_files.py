"""Files of packed states, which are rows of the same length, in parts by their hash.

A part has two files: what is known, level after level, and what the level being expanded reaches, which may be known
and may come up several times.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from thence.proofs.native.memory import Array

PARTS: Final = 64
"""Into so many parts states are dealt, a power of two: two files each are open."""


def write_rows(file: IO[bytes], rows: memoryview) -> None:
    """Writes all bytes to a file that is not buffered."""
    while rows:
        rows = rows[file.write(rows) :]


def read_rows(path: Path, start: int, rows: memoryview) -> None:
    """Fills `rows` with the bytes of the file from `start` on.

    Raises:
        OSError: it has fewer.
    """
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while rows:
            got = file.readinto(rows)
            if not got:
                raise OSError(f"{path} is shorter than it was")
            rows = rows[got:]


@dataclass(slots=True)
class StateFiles:
    """The files in a folder of their own. `ends`: by level and part, how many rows are known up to its end.

    Raises, as all that is done with them: OSError.
    """

    folder: Path
    words: int
    ends: list[list[int]] = field(default_factory=lambda: [[0] * PARTS])

    def __post_init__(self) -> None:
        for part, end in enumerate(self.ends[-1]):
            with self._known(part).open("ab") as file:
                if file.tell() < end * 8 * self.words:
                    raise OSError(f"{self._known(part)} is shorter than it was")
                file.truncate(end * 8 * self.words)
            self._reached(part).write_bytes(b"")

    def _known(self, part: int) -> Path:
        return self.folder / f"known-{part:02}"

    def _reached(self, part: int) -> Path:
        return self.folder / f"reached-{part:02}"

    @property
    def bytes_used(self) -> int:
        """The size of all files."""
        return sum(path.stat().st_size for part in range(PARTS) for path in (self._known(part), self._reached(part)))

    # --- rows ------------------------------------------------------------------------------------

    def add_reached(self, rows: Array, counts: list[int]) -> None:
        """Rows that lie part after part are noted as reached."""
        at = 0
        for part, count in enumerate(counts):
            if count:
                self._append(self._reached(part), rows, at, count)
            at += count

    def add_known(self, part: int, rows: Array, count: int) -> None:
        """Rows of a part become known, at the level that is being made."""
        if count:
            self._append(self._known(part), rows, 0, count)

    def _append(self, path: Path, rows: Array, at: int, count: int) -> None:
        with path.open("ab", buffering=0) as file:
            write_rows(file, rows.view(at * self.words, count * self.words))

    def end_level(self) -> bool:
        """What became known since the last call is a level; whether there is anything in it."""
        ends = [self._known(part).stat().st_size // (8 * self.words) for part in range(PARTS)]
        more = ends != self.ends[-1]
        if more:
            self.ends.append(ends)
        return more

    def sync(self) -> None:
        """Returns when what is known outlasts the machine's failing."""
        for part in range(PARTS):
            with self._known(part).open("rb") as file:
                os.fsync(file.fileno())

    def level(self, level: int, rows: Array, most: int) -> Iterator[int]:
        """Reads the rows of a level, 0 for the initial state's, at most so many at a time; how many there are."""
        have = 0
        for part, (start, end) in enumerate(zip(self.ends[level], self.ends[level + 1], strict=True)):
            while start < end:
                count = min(most - have, end - start)
                self._fill(self._known(part), rows, have, start, count)
                start, have = start + count, have + count
                if have == most:
                    yield have
                    have = 0
        if have:
            yield have

    def known(self, part: int, rows: Array, most: int) -> Iterator[int]:
        """Reads all that is known in a part, at most so many rows at a time; how many there are."""
        yield from self._read(self._known(part), rows, most)

    def reached(self, part: int, rows: Array, most: int) -> Iterator[int]:
        """Reads what is reached in a part, at most so many rows at a time, and then forgets it."""
        path = self._reached(part)
        if path.stat().st_size:
            yield from self._read(path, rows, most)
            path.write_bytes(b"")

    def _read(self, path: Path, rows: Array, most: int) -> Iterator[int]:
        start, end = 0, path.stat().st_size // (8 * self.words)
        while start < end:
            count = min(most, end - start)
            self._fill(path, rows, 0, start, count)
            start += count
            yield count

    def _fill(self, path: Path, rows: Array, at: int, start: int, count: int) -> None:
        """Reads `count` rows of the file, from `start` on, to the place `at` of the rows."""
        read_rows(path, start * 8 * self.words, rows.view(at * self.words, count * self.words))
