"""Programs side by side: in order, within their time, and gone at once when they are not wanted any more."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import pytest

from thence.proofs.certificate.processes import Processes, side_by_side


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_outcomes_come_in_order() -> None:
    def work(programs: Processes, batch: Sequence[int]) -> list[int]:
        told = programs.output(python("import sys; print(sys.stdin.read())"), 30, repr(list(batch)).encode())
        return [10 * int(number) for number in told.strip().strip("[]").split(",")]

    assert side_by_side(work, range(7), 3, 2) == tuple(range(0, 70, 10))


def test_a_program_that_takes_too_long_is_killed_and_what_it_said_counts() -> None:
    started = time.monotonic()
    slow = python("import time; print('first', flush=True); time.sleep(60)")
    assert Processes().output(slow, 2.0) == "first\n"
    assert time.monotonic() - started < 30


def test_an_error_ends_all_programs() -> None:
    started = time.monotonic()

    def work(programs: Processes, batch: Sequence[str]) -> list[str]:
        if batch[0] == "breaks":
            time.sleep(0.5)
            raise KeyboardInterrupt
        return [programs.output(python("import time; time.sleep(60)"), 60)]

    with pytest.raises(KeyboardInterrupt):
        side_by_side(work, ["breaks", "sleeps", "sleeps"], 1, 2)
    assert time.monotonic() - started < 30


def test_after_killing_nothing_is_started() -> None:
    programs = Processes()
    programs.kill()
    assert programs.output(python("print(1)"), 30) == ""
