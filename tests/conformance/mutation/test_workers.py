"""Judges in processes of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from thence.conformance.mutation.edits import Edit
from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.mutants import Mutant
from thence.conformance.mutation.workers import Judge, judged
from thence.dsl.text.syntax import Span

MUTANTS = [
    Mutant(number, "protocol", "p", Edit("x", Span(1, 1, 1, 2), "y", "here"), "x", "y", "p.thence")
    for number in range(6)
]


def opened(fate: Callable[[Mutant], Fate]) -> Callable[[], AbstractContextManager[Judge]]:
    @contextmanager
    def judge() -> Iterator[Judge]:
        yield fate

    return judge


def test_every_mutant_once() -> None:
    fate = opened(lambda mutant: Fate("killed", f"{mutant.number} in another process: {os.getpid() != parent}"))
    parent = os.getpid()
    done = list(judged(MUTANTS, fate, jobs=2, limit_s=20))
    assert sorted(one.mutant.number for one in done) == list(range(6))
    assert all(one.fate == Fate("killed", f"{one.mutant.number} in another process: True") for one in done)


def test_a_judge_that_dies_or_hangs_costs_its_mutant_only() -> None:
    def fate(mutant: Mutant) -> Fate:
        if mutant.number == 1:
            os._exit(3)
        if mutant.number == 2:
            time.sleep(60)
        return Fate("survived", "")

    done = {one.mutant.number: one.fate for one in judged(MUTANTS, opened(fate), jobs=2, limit_s=1.0)}
    assert len(done) == 6
    assert done[1].outcome == "undecided" and "died" in done[1].reason
    assert done[2].outcome == "undecided" and "no fate after 1 s" in done[2].reason
    assert all(done[number].outcome == "survived" for number in (0, 3, 4, 5))


def test_a_judge_with_a_defect_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    def fate(mutant: Mutant) -> Fate:
        if mutant.number == 1:
            raise TypeError("unhashable")
        if mutant.number == 2:
            raise MemoryError
        return Fate("survived", "")

    done = {one.mutant.number: one.fate for one in judged(MUTANTS, opened(fate), jobs=2, limit_s=20)}
    assert done[1] == Fate("undecided", "a defect of thence itself, please report it: TypeError: unhashable")
    assert done[2].outcome == "undecided" and "out of memory" in done[2].reason
    assert all(done[number].outcome == "survived" for number in (0, 3, 4, 5))
    assert 'raise TypeError("unhashable")' in capfd.readouterr().err


def test_a_deadline_ends_it() -> None:
    def fate(_mutant: Mutant) -> Fate:
        time.sleep(0.5)
        return Fate("killed", "")

    started = time.monotonic()
    done = list(judged(MUTANTS, opened(fate), jobs=1, limit_s=20, deadline=started + 1.2))
    assert 0 < len(done) < 6
    assert time.monotonic() - started < 10


def test_nobody_is_left_when_the_caller_stops() -> None:
    pids = []

    def fate(_mutant: Mutant) -> Fate:
        return Fate("killed", str(os.getpid()))

    for one in judged(MUTANTS, opened(fate), jobs=2, limit_s=20):
        pids.append(int(one.fate.reason))
        break
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert pids


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
