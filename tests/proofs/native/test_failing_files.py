"""Protocols that nobody wrote, in files, by searches that are killed, stopped, or out of disk: what memory finds."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest
from tests.proofs.crews import Shaky
from tests.proofs.test_random_protocols import CAPACITY, JUDGED, Draw, drawn, keep_small

from thence.dsl import ir
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import Exploration, ExplorationRequest, Progress, Resources
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.native import row_file
from thence.proofs.native.engine import NativeEngine
from thence.proofs.native.kept_search import MANIFEST, NotOnDisk

Specify: TypeAlias = Callable[[str], ir.Specification]

FEWEST, MOST = 60, 5_000
"""States of the systems that are searched in files."""

CALLS = ("writev", "fsync", "replace")


class Killed(BaseException):
    """The process is gone."""


@dataclass(slots=True)
class Fate:
    """What happens to one of the calls that write: it is the last one, or there is no room; `left` are before it."""

    random: Random
    left: int
    kills: bool

    def meet(self, call: Callable[..., Any], *given: Any) -> Any:
        self.left -= 1
        if self.left > 0 or (self.left < 0 and self.kills):
            return call(*given)
        if call is WRITE:
            descriptor, places = given
            content = b"".join(places)
            os.write(descriptor, content[: self.random.randint(0, len(content) - 1)])
        raise Killed if self.kills else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


WRITE = os.writev


def figures(found: Exploration, apart: Set[str]) -> tuple[int, int, int, dict[str, int], Set[str]]:
    lengths = {name: len(violation.steps) for name, violation in found.violations.items() if name not in apart}
    return found.states, found.transitions, found.depth, lengths, found.undecided.keys() - apart


def request_of(system: System, resources: Resources, progress: Callable[[Progress], None] | None = None) -> Any:
    apart = set() if is_decided_at_rest(system) else {"delivered"}
    names = frozenset((*JUDGED, *(formula.name for formula in system.protocol.formulas))) - apart
    return ExplorationRequest(system, names, resources=resources, storage="disk", progress=progress)


@pytest.mark.long(but=("0",), share=4)
@pytest.mark.parametrize("start", range(0, 180, 12))
def test_what_failed_goes_on(specify: Specify, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, start: int) -> None:
    keep_small(monkeypatch)
    monkeypatch.setattr(row_file, "BLOCK", 400)
    monkeypatch.setattr("thence.proofs.explore.exploration.PROGRESS_SECONDS", 0)
    compared, failed, kept = 0, 0, 0
    for seed in count(start):
        protocol, workload = drawn(specify, seed)
        watched = replace(protocol, properties=(*protocol.properties, "total_order"))
        in_memory = replace(request_of(System(watched, workload), Resources(threads=1)), storage="exact", limit=MOST)
        exact = NativeEngine(in_memory).run(CAPACITY)
        if not exact.complete or exact.states < FEWEST:
            continue
        if compared == 2:
            break
        compared += 1
        for spreading in (False, True):
            random, folder = Random(f"{seed} {spreading}"), tmp_path / f"{seed}-{spreading}"
            for go in range(12):
                resources = Resources(1 << 21, folder=folder, crew=Shaky() if spreading else None)
                kind = random.choice(("kill", "full", "stop")) if go < 11 else "none"
                found = attempt(monkeypatch, System(watched, workload), resources, kind, random)
                if found is not None and found.complete:
                    break
                failed += 1
                if found is not None and kind == "full":
                    assert "No space left" in found.why_incomplete
                if (folder / MANIFEST).exists():
                    kept += 1
                    refuses_others(specify, seed, resources)
            assert found is not None
            apart = found.undecided.keys() & {"delivered"}  # it may need all states at hand
            assert figures(found, apart) == figures(exact, apart), (seed, spreading)
            assert not folder.exists()
    assert failed and kept


@pytest.mark.parametrize("spreading", [False, True])
def test_a_kill_while_files_are_removed_damages_nothing(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, spreading: bool
) -> None:
    """A search is over and removes its files, in any order; another one finds the same, wherever that is cut off."""
    keep_small(monkeypatch)
    protocol, workload = drawn(specify, 0)
    listed, unlink = Path.iterdir, Path.unlink
    found = set()
    for left in (2, 20):
        random = Random(left)

        def shuffled(folder: Path, random: Random = random) -> Iterator[Path]:
            return iter(random.sample(there := list(listed(folder)), len(there)))

        calls = count()

        def killed(path: Path, missing_ok: bool = False, calls: Iterator[int] = calls, left: int = left) -> None:
            if next(calls) >= left:
                raise Killed
            unlink(path, missing_ok)

        def resources(left: int = left) -> Resources:
            return Resources(1 << 21, folder=tmp_path / str(left), crew=Shaky() if spreading else None)

        with monkeypatch.context() as patched, suppress(Killed):
            patched.setattr(Path, "iterdir", shuffled)
            patched.setattr(Path, "unlink", killed)
            NativeEngine(request_of(System(protocol, workload), resources())).run(CAPACITY)
        again = NativeEngine(request_of(System(protocol, workload), resources())).run(CAPACITY)
        found.add((again.complete, again.states, again.transitions))
        assert not (tmp_path / str(left)).exists()
    assert len(found) == 1 and all(complete for complete, *_ in found)


def attempt(
    monkeypatch: pytest.MonkeyPatch, system: System, resources: Resources, kind: str, random: Random
) -> Exploration | None:
    """One go of the search, and what it finds unless it is killed."""

    def stop(progress: Progress) -> None:
        if kind == "stop" and random.random() < 0.2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if kind in ("kill", "full"):
            fate = Fate(random, random.randint(1, 120), kind == "kill")
            for name in CALLS:
                patched.setattr(os, name, failing(fate, getattr(os, name)))
        try:
            return NativeEngine(request_of(system, resources, stop)).run(CAPACITY)
        except Killed:
            return None


def failing(fate: Fate, call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: fate.meet(call, *given)


def refuses_others(specify: Specify, seed: int, resources: Resources) -> None:
    """An edited protocol does not go on with what was kept."""
    protocol, workload = drawn(specify, seed)
    (other,) = specify(Draw(seed).text().replace("    k: nat\n", "    k: nat = 1\n")).protocols
    edited = other, workload
    fewer = protocol, replace(workload, sends=(0, *workload.sends[1:]))
    others: Sequence[tuple[ir.Protocol, ir.Workload]] = (edited, fewer)
    for other, chosen in others:
        with pytest.raises(NotOnDisk, match="another search"):
            NativeEngine(request_of(System(other, chosen), resources)).run(CAPACITY)
