"""A file of rows, each as long as the others, in blocks: after each block stands a checksum.

Whatever is read has been checked, and nothing is read twice to check it. A checksum covers the rows of its block, the
block's number, and the name of the file, so that neither a block nor a file passes for another. The last block may be
short: rows that are added later go into it, and its checksum moves on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from struct import unpack
from typing import IO, Final
from zlib import crc32

from thence.proofs.native.kept_search import DamagedError

BLOCK: Final = 16384
"""Bytes of a block without its checksum, at most, where a row has no more."""

_SUM: Final = 4
_AT_ONCE: Final = 64
"""Blocks that are read or written at once."""


@dataclass(slots=True)
class RowFile:
    """The file at `path`.

    Attributes:
        words: 64-bit words of a row.
        key: tells files of the same name apart.
        count: rows that are in the file.
        sum: the checksum of the last block, while that is short.
    """

    path: Path
    words: int
    key: str = ""
    count: int = 0
    sum: int = 0
    _seed: int = field(init=False)
    _row_bytes: int = field(init=False)
    _rows_each: int = field(init=False)
    _block_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        self._seed = crc32(f"{self.key}/{self.path.name}".encode())
        self._row_bytes = 8 * self.words
        self._rows_each = max(1, BLOCK // self._row_bytes)
        self._block_bytes = self._rows_each * self._row_bytes + _SUM

    @staticmethod
    def written(path: Path, words: int) -> RowFile:
        """A file that is complete. Raises: OSError; DamagedError, where it ends within a row."""
        file = RowFile(path, words)
        size = path.stat().st_size
        file.count = size // file._block_bytes * file._rows_each
        file.count += max(0, size % file._block_bytes - _SUM) // file._row_bytes
        if file.size != size:
            raise DamagedError(path)
        return file

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        return self._place + _SUM * bool(self.count % self._rows_each)

    @property
    def _place(self) -> int:
        """Where the next row goes: over the checksum of the last block, if that is short."""
        whole, more = divmod(self.count, self._rows_each)
        return whole * self._block_bytes + more * self._row_bytes

    def _start(self, block: int) -> int:
        """The checksum of a block without rows."""
        return crc32(block.to_bytes(8, "little"), self._seed)

    # --- writing ---------------------------------------------------------------------------------

    def cut(self) -> None:
        """What was added after the first `count` rows is taken away, of which the last block had the checksum `sum`.

        Raises:
            OSError. DamagedError: there are fewer rows.
        """
        with self.path.open("ab") as file:
            if file.tell() < self._place:
                raise DamagedError(self.path)
            file.truncate(self._place)
            if self.count % self._rows_each:
                file.write(self.sum.to_bytes(_SUM, "little"))

    def add(self, file: IO[bytes], rows: memoryview) -> None:
        """Adds rows by this handle of the file, which is not buffered. Raises: OSError; then the file is of no use."""
        file.seek(self._place)
        pieces: list[memoryview] = []
        row = self._row_bytes
        count, at = self.count, 0
        while at < len(rows):
            block, have = divmod(count, self._rows_each)
            piece = rows[at : at + (self._rows_each - have) * row]
            self.sum = crc32(piece, self.sum if have else self._start(block))
            pieces += (piece, memoryview(self.sum.to_bytes(_SUM, "little")))
            at, count = at + len(piece), count + len(piece) // row
            if len(pieces) == 2 * _AT_ONCE or at == len(rows):
                if not _wholly(os.writev, file, pieces):
                    raise OSError(f"{self.path} takes no more")
                pieces = []
        self.count = count

    # --- reading ---------------------------------------------------------------------------------

    def read(self, start: int, rows: memoryview) -> None:
        """Fills `rows` with those of the file from `start` on.

        Raises:
            OSError. DamagedError: they are not what was written.
        """
        end = start + len(rows) // self._row_bytes
        if end > self.count:
            raise DamagedError(self.path)
        first, last = start // self._rows_each, -(-end // self._rows_each)
        with self.path.open("rb", buffering=0) as file:
            file.seek(first * self._block_bytes)
            for block in range(first, last, _AT_ONCE):
                self._read_blocks(file, range(block, min(last, block + _AT_ONCE)), start, rows)

    def _read_blocks(self, file: IO[bytes], blocks: range, start: int, rows: memoryview) -> None:
        """Reads the blocks, which come next in the file; of the first and the last only some rows may be wanted."""
        row, sums = self._row_bytes, memoryview(bytearray(_SUM * len(blocks)))
        contents, places = list[memoryview](), list[memoryview]()
        for at, block in enumerate(blocks):
            begin = block * self._rows_each
            size = min(self._rows_each, self.count - begin) * row
            place = (begin - start) * row
            inside = place >= 0 and place + size <= len(rows)
            contents.append(rows[place : place + size] if inside else memoryview(bytearray(size)))
            places += (contents[-1], sums[at * _SUM : (at + 1) * _SUM])
        if not _wholly(os.readv, file, places):
            raise DamagedError(self.path)
        for block, content, found in zip(blocks, contents, unpack(f"<{len(blocks)}I", sums), strict=True):
            if crc32(content, self._start(block)) != found:
                raise DamagedError(self.path)
        for block, content in {blocks[0]: contents[0], blocks[-1]: contents[-1]}.items():
            if content.obj is not rows.obj:
                place = (block * self._rows_each - start) * row
                skipped, end = max(0, -place), min(len(content), len(rows) - place)
                rows[place + skipped : place + end] = content[skipped:end]


def _wholly(move: Callable[[int, list[memoryview]], int], file: IO[bytes], places: list[memoryview]) -> bool:
    """Reads or writes all bytes of the places; whether there were as many."""
    while places:
        moved = move(file.fileno(), places)
        if not moved:
            return False
        while places and moved >= len(places[0]):
            moved -= len(places.pop(0))
        if places:
            places[0] = places[0][moved:]
    return True
