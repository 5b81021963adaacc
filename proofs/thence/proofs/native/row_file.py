"""A file of rows, each as long as the others, in blocks: after each block stands a checksum.

Whatever is read has been checked, and nothing is read twice to check it. A checksum covers the rows of its block, the
block's number, and the name of the file, so that neither a block nor a file passes for another. The last block may be
short: rows that are added later go into it, and its checksum moves on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final
from zlib import crc32

from thence.proofs.native.kept_search import DamagedError

BLOCK: Final = 4096
"""Bytes of a whole block without its checksum, at most, if a row has no more."""

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
    _rows_each: int = field(init=False)

    def __post_init__(self) -> None:
        self._seed = crc32(f"{self.key}/{self.path.name}".encode())
        self._rows_each = max(1, BLOCK // self._row_bytes)

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
    def _row_bytes(self) -> int:
        return 8 * self.words

    @property
    def _block_bytes(self) -> int:
        return self._rows_each * self._row_bytes + _SUM

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
        pieces: list[bytes | memoryview] = []
        row = self._row_bytes
        count, at = self.count, 0
        while at < len(rows):
            block, have = divmod(count, self._rows_each)
            piece = rows[at : at + (self._rows_each - have) * row]
            self.sum = crc32(piece, self.sum if have else self._start(block))
            pieces += (piece, self.sum.to_bytes(_SUM, "little"))
            at, count = at + len(piece), count + len(piece) // row
            if len(pieces) == 2 * _AT_ONCE or at == len(rows):
                _write(file, memoryview(b"".join(pieces)))
                pieces.clear()
        self.count = count

    # --- reading ---------------------------------------------------------------------------------

    def read(self, start: int, rows: memoryview) -> None:
        """Fills `rows` with those of the file from `start` on.

        Raises:
            OSError. DamagedError: they are not what was written.
        """
        at, row = start, self._row_bytes
        end = start + len(rows) // row
        if end > self.count:
            raise DamagedError(self.path)
        with self.path.open("rb", buffering=0) as file:
            for first, block in self._blocks(file, start // self._rows_each, -(-end // self._rows_each)):
                upto = min(end, first + len(block) // row)
                rows[(at - start) * row : (upto - start) * row] = block[(at - first) * row : (upto - first) * row]
                at = upto

    def _blocks(self, file: IO[bytes], block: int, end: int) -> Iterator[tuple[int, memoryview]]:
        """Blocks by number, each with the number of its first row."""
        file.seek(block * self._block_bytes)
        content = memoryview(bytearray(min(_AT_ONCE, end - block) * self._block_bytes))
        while block < end:
            size = min(min(_AT_ONCE, end - block) * self._block_bytes, self.size - block * self._block_bytes)
            _read(file, content[:size], self.path)
            for at in range(0, size, self._block_bytes):
                whole = content[at : min(size, at + self._block_bytes)]
                found = whole[:-_SUM]
                if crc32(found, self._start(block)) != int.from_bytes(whole[-_SUM:], "little"):
                    raise DamagedError(self.path)
                yield block * self._rows_each, found
                block += 1


def _write(file: IO[bytes], content: memoryview) -> None:
    while content:
        content = content[file.write(content) :]


def _read(file: IO[bytes], content: memoryview, path: Path) -> None:
    """Raises DamagedError where the file has fewer bytes."""
    while content:
        got = file.readinto(content)  # type: ignore[attr-defined]
        if not got:
            raise DamagedError(path)
        content = content[got:]
