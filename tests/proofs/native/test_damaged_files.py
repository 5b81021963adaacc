"""A search that goes on from files which are not as it left them: what one search finds, or an error that names one.

NOTE(damaged files), in `kept_search`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest
from tests.proofs.crews import Shaky

from thence.dsl import ir
from thence.proofs.engines import explore
from thence.proofs.explore.crew import Crew
from thence.proofs.explore.exploration import Exploration, Method, Progress, Resources
from thence.proofs.native import disk_search, row_file, state_files, state_store
from thence.proofs.native.kept_search import LOCK, DamagedError, NotOnDisk
from thence.proofs.native.spread import search as spread

Library: TypeAlias = Callable[[str], ir.Specification]

WORKLOAD = ir.Workload(3, (2, 1, 1), ((1, 2), (0, 2), (0, 1)))
LITTLE = 1 << 19


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several parts, levels in pieces, files of many blocks, several tasks."""
    for module, name, value in (
        (disk_search, "PARTS", 4), (state_files, "PARTS", 4), (row_file, "BLOCK", 200),
        (disk_search, "FIRST_INDEX", 1 << 10), (state_store, "FIRST_INDEX", 1 << 10),
        (spread, "FEWEST_PARTS", 4), (spread, "PARTS_EACH", 1), (spread, "WORTH_SENDING", 0),
        (spread, "LARGEST_TASK", 1_000),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr("thence.proofs.explore.exploration.PROGRESS_SECONDS", 0)


def searched(
    library: Library, folder: Path | None, crew: Crew | None = None, progress: Callable[[Progress], None] | None = None
) -> Exploration:
    method = Method("native", Resources(LITTLE, folder=folder, crew=crew), storage="disk")
    return explore(library("cykas").protocols[0], WORKLOAD, ["causal"], progress=progress, method=method)


def figures(found: Exploration) -> tuple[int, int, int, bool]:
    assert not found.violations
    return found.states, found.transitions, found.depth, found.complete


def stopping(states: int) -> Callable[[Progress], None]:
    def stop(progress: Progress) -> None:
        if progress.states > states:
            raise KeyboardInterrupt

    return stop


def damage(random: Random, folder: Path) -> tuple[Path, str]:
    """Damages a file of the search; which and how."""
    files = sorted(path for path in folder.iterdir() if path.name != LOCK and path.stat().st_size)
    path = random.choice(files)
    content = bytearray(path.read_bytes())
    how = random.choice(("bit", "bit", "cut", "gone", "swapped", "zeros"))
    at = random.randrange(len(content))
    if how == "bit":
        content[at] ^= 1 << random.randrange(8)
    elif how == "cut":
        del content[at:]
    elif how == "swapped":
        content = bytearray(random.choice(files).read_bytes())
    elif how == "zeros":
        content[at : at + 64] = bytes(len(content[at : at + 64]))
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(content)
    return path, how


@pytest.mark.parametrize("spreading", [False, True])
def test_whatever_is_damaged_no_count_is_wrong(library: Library, tmp_path: Path, spreading: bool) -> None:
    exact = figures(searched(library, None))
    kept, folder = tmp_path / "kept", tmp_path / "states"
    refused: set[str] = set()
    for stop in (300, 900):
        stopped = searched(library, kept, Shaky() if spreading else None, stopping(stop))
        assert not stopped.complete
        for seed in range(30):
            random = Random(f"{stop} {seed}")
            shutil.copytree(kept, folder)
            path, how = damage(random, folder)
            try:
                found = searched(library, folder, Shaky() if spreading else None)
            except NotOnDisk as error:
                assert isinstance(error, DamagedError), (seed, path, how)
                assert str(folder) in str(error)
                refused.add(path.name.partition("-")[0])
                shutil.rmtree(folder)
            else:
                assert figures(found) == exact, (seed, path, how)
                assert not folder.exists()
    assert figures(searched(library, kept, Shaky() if spreading else None)) == exact
    assert refused == {"level" if spreading else "known", "search.json", "steps", "numbers"}


@pytest.mark.parametrize("kind", ["reached", "known"])
def test_a_file_that_is_damaged_meanwhile(library: Library, tmp_path: Path, kind: str) -> None:
    """By the disk, while the search is running: each bit that is read again counts."""
    folder = tmp_path / "states"

    def spoil(progress: Progress) -> None:
        if progress.states > 300:
            for path in folder.glob(f"{kind}-*"):
                content = path.read_bytes()
                path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:] if content else b"")

    with pytest.raises(DamagedError, match=f"{kind}-0[0-3] is damaged"):
        searched(library, folder, progress=spoil)


@pytest.mark.parametrize("kind", ["found", "level", "tables", "kinds", "again"])
def test_a_file_that_is_damaged_among_workers(library: Library, tmp_path: Path, kind: str) -> None:
    """Their results are thrown away, whoever reads the file."""
    folder = tmp_path / "states"

    class Spoiling(Shaky):
        def map(self, function: Callable[[object], object], tasks: object) -> list[object]:  # type: ignore[override]
            if self.jobs > 12:
                for path in folder.glob(f"{kind}-*"):
                    content = path.read_bytes()
                    path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
            return Shaky.map(self, function, tasks)  # type: ignore[arg-type, return-value]

    met: list[str] = []
    try:
        exact = searched(library, None)
        assert figures(searched(library, folder, Spoiling())) == figures(exact)
    except DamagedError as error:
        met.append(error.path.name)
    if kind in ("found", "level", "tables"):
        assert met and met[0].startswith(f"{kind}-")
