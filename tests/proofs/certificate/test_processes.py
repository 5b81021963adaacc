"""Programs side by side: in order, within their time, and gone at once when they are not wanted any more."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import pytest

from thence.proofs.certificate import processes
from thence.proofs.certificate.processes import Processes, side_by_side


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_outcomes_come_in_order() -> None:
    def work(programs: Processes, batch: Sequence[int]) -> list[int]:
        told = programs.output(python("import sys; print(sys.stdin.read())"), 30, repr(list(batch)).encode())
        return [10 * int(number) for number in told.strip().strip("[]").split(",")]

    assert side_by_side(work, range(7), 3, 2) == tuple(range(0, 70, 10))


def test_a_program_that_takes_too_long_is_killed_and_what_it_said_counts() -> None:
    slow = python("print('first', flush=True)\nwhile True: pass")
    assert Processes().output(slow, 0.5) == "first\n"


def test_a_program_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "STUCK", 2)
    started = time.monotonic()
    assert Processes().output(python("import time; time.sleep(60)"), 2.0) == ""
    assert time.monotonic() - started < 30


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not show the clocks of processes")
def test_a_program_that_gets_no_processor_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given time by the clock, and does not use it, as on a machine that is busy with others."""
    monkeypatch.setattr(processes, "STUCK", 100_000)
    assert Processes().output(python("import time; time.sleep(2); print('done')"), 1.0) == "done\n"


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
