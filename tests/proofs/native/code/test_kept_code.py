"""Machine code that was kept is the code that would be generated: never stale, and damage is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from tests.proofs.careful_code import careful_kernel

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration, Method
from thence.proofs.native import search
from thence.proofs.native.code import kept_code
from thence.proofs.native.code.kept_code import MOST_KEPT, keep, recall
from thence.proofs.native.code.kernel import compile_kernel
from thence.proofs.scopes.scopes import properties_of

NAMES = ("cykas", "rst", "hybrid_basic", "fifo", "mf", "cbcast")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the code, which is empty. All code is optimised at once: only such code is kept."""
    monkeypatch.setattr(search, "compile_kernel", careful_kernel)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("THENCE_CACHE", raising=False)
    found = kept_code.folder()
    assert found is not None
    return found


def explored(name: str, sends: tuple[int, ...]) -> Exploration:
    specification = load(name).specification
    assert specification is not None
    protocol = specification.protocols[0]
    others = tuple(tuple(q for q in range(len(sends)) if q != p) for p in range(len(sends)))
    compile_kernel.cache_clear()
    workload = ir.Workload(len(sends), sends, others)
    return explore(protocol, workload, properties_of(protocol), method=Method("native"))


def counts(found: Exploration) -> tuple[object, ...]:
    return found.states, found.transitions, found.depth, sorted(found.violations), found.complete


def test_kept_code_explores_the_same(folder: Path) -> None:
    random = Random(5)
    scopes = [(name, tuple(random.randint(0, 2) for _ in range(random.randint(2, 3)))) for name in NAMES]
    fresh = [counts(explored(*scope)) for scope in scopes]
    written = {path: path.stat().st_ino for path in folder.iterdir()}
    assert written
    random.shuffle(scopes_again := list(zip(scopes, fresh, strict=True)))
    for scope, expected in scopes_again:
        assert counts(explored(*scope)) == expected
    assert {path: path.stat().st_ino for path in folder.iterdir()} == written, "all of it was recalled"


@pytest.mark.parametrize("spoil", [lambda code: code[:-1], lambda code: code[:60] + b"x" + code[61:], lambda code: b""])
def test_damaged_code_is_generated_anew(spoil: object, folder: Path) -> None:
    assert callable(spoil)
    expected = counts(explored("fifo", (2, 1)))
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(spoil(whole))
    assert counts(explored("fifo", (2, 1))) == expected
    assert path.read_bytes() == whole
    (folder / ("0" * 64)).write_bytes(whole)
    assert recall("0" * 64) is None, "the code of another key"


def test_no_more_is_kept_than_is_useful(folder: Path) -> None:
    for number in range(MOST_KEPT + 5):
        keep(f"{number:064x}", b"code")
        os.utime(folder / f"{number:064x}", (number, number))
    keep("f" * 64, b"new")
    assert len(list(folder.iterdir())) == MOST_KEPT
    assert recall("f" * 64) == b"new"
    assert recall(f"{0:064x}") is None


def test_nothing_is_kept_where_that_is_forbidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THENCE_CACHE", "off")
    explored("fifo", (1, 1))
    assert not list(folder.iterdir())
    monkeypatch.delenv("THENCE_CACHE")
    folder.chmod(0o777)
    explored("fifo", (1, 1))
    assert not list(folder.iterdir()), "a folder that others may write to"


def test_two_processes_keep_the_same_at_once(folder: Path) -> None:
    command = [str(Path(sys.executable).parent / "thence"), "explore", "fifo", "--engine", "native", "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert all(recall(path.name) is not None for path in folder.iterdir())
    for process in both:
        assert process.stdout is not None
        process.stdout.close()
