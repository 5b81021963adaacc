"""Files of rows: what is read is what was written, or else an error."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from thence.proofs.native import row_file
from thence.proofs.native.kept_search import DamagedError
from thence.proofs.native.row_file import RowFile


@pytest.fixture(autouse=True, params=[16, 100, 4096])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are of one row, of a few, or of more than there are; few are read at once."""
    monkeypatch.setattr(row_file, "BLOCK", request.param)
    monkeypatch.setattr(row_file, "_AT_ONCE", 3)


def filled(path: Path, random: Random, words: int) -> tuple[RowFile, bytes]:
    """A file that rows were added to, a few at a time, and what they are."""
    written, content = RowFile(path, words, "key"), b""
    path.touch()
    for _ in range(random.randint(1, 8)):
        rows = random.randbytes(8 * words * random.randint(1, 30))
        with path.open("r+b", buffering=0) as file:
            written.add(file, memoryview(rows))
        content += rows
        assert path.stat().st_size == written.size
    return written, content


def read(file: RowFile, start: int, count: int) -> bytes:
    rows = bytearray(8 * file.words * count)
    file.read(start, memoryview(rows))
    return bytes(rows)


@pytest.mark.parametrize("seed", range(20))
def test_what_was_written_is_read(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    words = random.randint(1, 5)
    file, content = filled(tmp_path / "rows", random, words)
    assert file.count == len(content) // (8 * words)
    for _ in range(20):
        start = random.randint(0, file.count)
        count = random.randint(0, file.count - start)
        assert read(file, start, count) == content[8 * words * start : 8 * words * (start + count)]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_added_later_is_taken_away(tmp_path: Path, seed: int) -> None:
    """Also where the addition was cut off, as by a full disk."""
    random = Random(seed)
    file, content = filled(tmp_path / "rows", random, 3)
    before = RowFile(file.path, 3, "key", file.count, file.sum)
    whole = file.path.read_bytes()
    with file.path.open("r+b", buffering=0) as handle:
        file.add(handle, memoryview(random.randbytes(24 * 20)))
    place = len(whole) if before.count % before._rows_each == 0 else len(whole) - 4
    with file.path.open("r+b") as handle:
        handle.truncate(random.randint(place, file.size))
    before.cut()
    assert file.path.read_bytes() == whole
    assert read(before, 0, before.count) == content


@pytest.mark.parametrize("seed", range(20))
def test_damage_is_found(tmp_path: Path, seed: int) -> None:
    """A bit flipped, a part cut off or repeated, a block in the place of another, a file in the place of another."""
    random = Random(seed)
    file, content = filled(tmp_path / "rows", random, 2)
    whole = file.path.read_bytes()
    block = file._block_bytes
    damaged = []
    for _ in range(20):
        bit = random.randrange(8 * len(whole))
        damaged.append((int.from_bytes(whole, "little") ^ 1 << bit).to_bytes(len(whole), "little"))
        damaged.append(whole[: random.randrange(len(whole))])
    if len(whole) >= 2 * block:
        damaged.append(whole[block : 2 * block] + whole[:block] + whole[2 * block :])
        damaged.append(whole[: 2 * block] + whole[block:])
    for spoilt in damaged:
        if spoilt == whole or spoilt.startswith(whole):
            continue
        file.path.write_bytes(spoilt)
        with pytest.raises(DamagedError, match="rows is damaged"):
            read(file, 0, file.count)
    file.path.write_bytes(whole)
    assert read(file, 0, file.count) == content
    for path, key in ((tmp_path / "others", "key"), (file.path, "another")):
        path.write_bytes(whole)
        with pytest.raises(DamagedError):
            read(RowFile(path, 2, key, file.count), 0, file.count)


def test_how_many_rows_a_whole_file_has(tmp_path: Path) -> None:
    for count in range(1, 40):
        file, path = RowFile(tmp_path / f"rows-{count}", 2), tmp_path / f"rows-{count}"
        with path.open("xb", buffering=0) as handle:
            file.add(handle, memoryview(bytes(16 * count)))
        assert RowFile.written(path, 2).count == count
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(DamagedError):
            RowFile.written(path, 2)
