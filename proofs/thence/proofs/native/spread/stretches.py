"""Rows in files that are written once, under names that nobody else uses, and are never changed.

So a task that is done twice, or by a worker that is lost, spoils nothing: its files are there, and nobody names them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from uuid import uuid4

from thence.proofs.native.memory import Array
from thence.proofs.native.row_file import RowFile


@dataclass(frozen=True, slots=True)
class Stretch:
    """So many rows of a file, from `start` on."""

    file: str
    start: int
    count: int


def cut(stretches: Iterable[Stretch], most: int) -> Iterator[list[Stretch]]:
    """The same rows in pieces of so many, the last one excepted."""
    piece: list[Stretch] = []
    have = 0
    for stretch in stretches:
        start, end = stretch.start, stretch.start + stretch.count
        while start < end:
            count = min(most - have, end - start)
            piece.append(Stretch(stretch.file, start, count))
            start, have = start + count, have + count
            if have == most:
                yield piece
                piece, have = [], 0
    if piece:
        yield piece


def read(folder: Path, stretches: Iterable[Stretch], rows: Array, words: int, most: int) -> Iterator[int]:
    """Reads the rows, at most so many at a time; how many there are.

    Raises:
        OSError: a file is not there. DamagedError: it is not what was written.
    """
    for piece in cut(stretches, most):
        at = 0
        for each in piece:
            RowFile.written(folder / each.file, words).read(each.start, rows.view(at * words, each.count * words))
            at += each.count
        yield at


@dataclass(slots=True)
class RowWriter:
    """A new file of rows in the folder, made with the first row and open for a block. Its name begins with `kind`."""

    folder: Path
    kind: str
    words: int
    _rows: RowFile | None = field(init=False, default=None)
    _file: IO[bytes] | None = field(init=False, default=None)

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def count(self) -> int:
        """How many rows were written."""
        return 0 if self._rows is None else self._rows.count

    @property
    def name(self) -> str:
        """The name of the file, once there is one."""
        return "" if self._rows is None else self._rows.path.name

    def write(self, rows: Array, at: int, count: int) -> None:
        """Writes so many rows, from the place `at` on."""
        if count:
            self._write(rows.view(at * self.words, count * self.words))

    def write_row(self, row: bytes) -> None:
        """Writes a row."""
        self._write(memoryview(row))

    def _write(self, rows: memoryview) -> None:
        if self._rows is None or self._file is None:
            self._rows = RowFile(self.folder / new_name(self.kind), self.words)
            self._file = self._rows.path.open("xb", buffering=0)
        self._rows.add(self._file, rows)

    def close(self, *, lasting: bool = False) -> Stretch | None:
        """All that was written, if anything. `lasting`: it outlasts the machine's failing."""
        if self._file is None:
            return None
        if lasting:
            os.fsync(self._file.fileno())
        self._file.close()
        return Stretch(self.name, 0, self.count)


def new_name(kind: str) -> str:
    """A name that nobody else uses."""
    return f"{kind}-{uuid4().hex}"
