"""States in files: what is found, in however little memory, and after however many interruptions."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.load import library as library_files
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method, Progress, Resources
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.native import disk_search, kept_search, state_files, state_store
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.kept_search import LOCK, MANIFEST, STEPS, NotOnDisk
from thence.proofs.scopes.scopes import properties_of

Library: TypeAlias = Callable[[str], ir.Specification]
Explored: TypeAlias = Callable[[str], Iterator[tuple[str, Interpretation]]]

TWO = ir.Workload(3, (2, 2, 2), ((1, 2), (0, 2), (0, 1)))
LITTLE = 1 << 19
"""Bytes: a few hundred states at a time."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little fits into memory, so that levels come in pieces."""
    for module in (disk_search, state_files):
        monkeypatch.setattr(module, "PARTS", 4)
    for module in (disk_search, state_store):
        monkeypatch.setattr(module, "FIRST_INDEX", 1 << 10)


def lengths(found: Exploration) -> dict[str, int]:
    return {name: len(violation.steps) for name, violation in found.violations.items()}


def figures(found: Exploration) -> tuple[int, int, int, bool, dict[str, int]]:
    return found.states, found.transitions, found.depth, found.complete, lengths(found)


def kept_in(folder: Path, memory: int | None = LITTLE) -> Method:
    return Method("native", resources=Resources(memory, folder=folder), storage="disk")


def faulty(library: Library) -> ir.Protocol:
    mutated = next(each.mutated for each in library("cykas").mutants if each.name == "tells_too_early")
    assert isinstance(mutated, ir.Protocol)
    return mutated


@pytest.mark.long(but=("happens_before", "tree_printed", "execution", "hybrid_basic_printed"))
@pytest.mark.parametrize("name", [path.stem for path in library_files()])
def test_the_same_as_the_interpreter(explored: Explored, name: str) -> None:
    """States, transitions, depth, and the length of every shortest counterexample."""
    for label, interpretation in islice(explored(name), 2):
        expected, request = interpretation.result, interpretation.request
        apart = set() if is_decided_at_rest(request.system) else {"delivered"}
        chosen = replace(
            request, properties=request.properties - apart, storage="disk", limit=None,
            resources=Resources(memory=LITTLE, threads=1),
        )  # fmt: skip
        found = NativeEngine(chosen).run(Sample.of(request.system, interpretation.origins).capacity)
        assert figures(found)[:4] == figures(expected)[:4], label
        assert lengths(found) == {at: most for at, most in lengths(expected).items() if at not in apart}, label


@pytest.mark.parametrize("reductions", [(), ("symmetry",)])
def test_in_little_memory(library: Library, reductions: tuple[str, ...]) -> None:
    protocol = library("cykas").protocols[0]
    judged = [*properties_of(protocol), "total_order"]
    exact = explore(protocol, TWO, judged, method=Method("native", reductions=reductions))
    found = explore(
        protocol, TWO, judged,
        method=Method("native", resources=Resources(memory=LITTLE), reductions=reductions, storage="disk"),
    )  # fmt: skip
    assert figures(found) == figures(exact)
    assert (found.reductions, found.storage) == (exact.reductions, "disk")
    assert found.memory <= LITTLE < exact.memory


def test_the_memory_is_too_little(library: Library) -> None:
    found = explore(library("cykas").protocols[0], TWO, ["causal"], method=kept_in(Path("unused"), 1 << 12))
    assert (found.complete, found.states) == (False, 0)
    assert "used up" in found.why_incomplete
    assert not Path("unused").exists()


def stopping(states: int) -> Callable[[Progress], None]:
    def stop(progress: Progress) -> None:
        if progress.states > states:
            raise KeyboardInterrupt

    return stop


@pytest.mark.parametrize("mutated", [False, True])
def test_stopped_again_and_again(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutated: bool
) -> None:
    """What is found in several goes is what is found in one; counterexamples of earlier goes are there."""
    monkeypatch.setattr("thence.proofs.explore.exploration.PROGRESS_SECONDS", 0)
    protocol = faulty(library) if mutated else library("cykas").protocols[0]
    judged = (*properties_of(protocol), "sps")
    exact = explore(protocol, TWO, judged, method=Method("native", resources=Resources(threads=1)))
    folder = tmp_path / "states"
    goes, before = 0, -1
    for states in (200, 2_000, 9_000, 30_000, 60_000, 1_000_000):
        found = explore(protocol, TWO, judged, progress=stopping(states), method=kept_in(folder))
        goes += 1
        if found.complete:
            break
        assert found.why_incomplete == "interrupted; the same command goes on where it was"
        assert found.states > before
        before = found.states
    assert goes > 3
    assert figures(found) == figures(exact)
    assert bool(lengths(found)) == mutated
    assert not folder.exists()


KILLED = """
import sys
from pathlib import Path
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Method, Resources
from thence.dsl import ir
protocol = load("cykas").specification.protocols[0]
workload = ir.Workload(3, (2, 2, 2), ((1, 2), (0, 2), (0, 1)))
method = Method("native", resources=Resources({memory}, folder=Path(sys.argv[1])), storage="disk")
found = explore(protocol, workload, ["causal"], method=method)
print(found.states, found.transitions, found.depth, found.complete)
"""


@pytest.mark.process
def test_killed(tmp_path: Path) -> None:
    folder = tmp_path / "states"
    words = [sys.executable, "-c", KILLED.format(memory=1 << 21), str(folder)]
    levels: list[int] = []
    while len(levels) < 3:
        with subprocess.Popen(words, stdout=subprocess.PIPE) as running:
            until = time.monotonic() + 120
            while running.poll() is None and time.monotonic() < until:
                path = folder / MANIFEST
                reached = len(json.loads(path.read_text())["rows"]["ends"]) if path.exists() else 0
                if reached > (levels[-1] if levels else 2):
                    os.kill(running.pid, signal.SIGKILL)
                    levels.append(reached)
                    break
                time.sleep(0.002)
            assert running.wait(120) in (0, -signal.SIGKILL)
            if running.returncode == 0:
                break
    assert levels and levels == sorted(levels)
    if running.returncode:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["52521", "221934", "18", "True"]


def test_a_folder_of_something_else(library: Library, tmp_path: Path) -> None:
    protocol = library("cykas").protocols[0]
    (tmp_path / "precious").write_text("mine")
    with pytest.raises(NotOnDisk, match="holds something else"):
        explore(protocol, TWO, ["causal"], method=kept_in(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


@pytest.fixture
def stopped(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("thence.proofs.explore.exploration.PROGRESS_SECONDS", 0)
    found = explore(
        library("cykas").protocols[0], TWO, ["causal"], progress=stopping(2_000), method=kept_in(tmp_path / "states")
    )
    assert not found.complete
    return tmp_path / "states"


def test_another_search(library: Library, stopped: Path) -> None:
    before = sorted((path.name, path.stat().st_size) for path in stopped.iterdir())
    for protocol, workload, judged in (
        (library("mf").protocols[0], TWO, ["causal"]),
        (library("cykas").protocols[0], replace(TWO, sends=(2, 2, 1)), ["causal"]),
        (library("cykas").protocols[0], TWO, ["causal", "fifo"]),
    ):
        with pytest.raises(NotOnDisk, match="another search"):
            explore(protocol, workload, judged, method=kept_in(stopped))
    assert sorted((path.name, path.stat().st_size) for path in stopped.iterdir()) == before


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (MANIFEST, b"{"),
        (MANIFEST, b"{}"),
        (STEPS, b""),
        (STEPS, None),
    ],
)
def test_a_damaged_search(library: Library, stopped: Path, file: str, content: bytes | None) -> None:
    path = stopped / file
    swapped = path.read_bytes()
    path.write_bytes(swapped[8:16] + swapped[:8] + swapped[16:] if content is None else content)
    with pytest.raises(NotOnDisk, match=r"damaged|another version"):
        explore(library("cykas").protocols[0], TWO, ["causal"], method=kept_in(stopped))


def test_two_at_once(library: Library, stopped: Path) -> None:
    def again(_: Progress) -> None:
        with pytest.raises(NotOnDisk, match="another search uses"):
            explore(library("cykas").protocols[0], TWO, ["causal"], method=kept_in(stopped))
        raise KeyboardInterrupt

    found = explore(library("cykas").protocols[0], TWO, ["causal"], progress=again, method=kept_in(stopped))
    assert "interrupted" in found.why_incomplete


def test_a_folder_that_is_removed_meanwhile(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a search that is over, after this one has opened the lock: the lock of a file that is gone is none."""
    folder, calls = tmp_path / "states", list[int]()

    def lock(file: IO[bytes], how: int) -> None:
        calls.append(how)
        if len(calls) == 1:
            kept_search.remove(folder)
        else:
            assert (folder / LOCK).stat().st_ino == os.fstat(file.fileno()).st_ino
        flock(file, how)

    flock = fcntl.flock
    monkeypatch.setattr(kept_search.fcntl, "flock", lock)
    found = explore(library("cykas").protocols[0], replace(TWO, sends=(2, 1, 1)), ["causal"], method=kept_in(folder))
    assert found.complete and len(calls) == 2


def test_the_lock_goes_last(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes meanwhile finds a folder of states, and not of something else."""
    gone: list[str] = []

    def unlink(path: Path, missing_ok: bool = False) -> None:
        assert (stopped / LOCK).exists()
        gone.append(path.name)
        original(path, missing_ok)

    original = Path.unlink
    monkeypatch.setattr(Path, "unlink", unlink)
    kept_search.remove(stopped)
    assert len(gone) > 8 and gone[-1] == LOCK and not stopped.exists()


def test_what_is_about_endless_runs_is_refused(library: Library) -> None:
    protocol = library("hybrid_basic").protocols[0]
    with pytest.raises(NotOnDisk, match="delivered"):
        explore(protocol, TWO, ["delivered"], method=Method("native", storage="disk"))
    assert explore(
        protocol, replace(TWO, sends=(1, 1, 1)), ["causal"], method=Method("native", storage="disk")
    ).complete
