"""The early end of a run: a time budget, Ctrl-C, or the signal SIGTERM."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

SHORTENING_SHARE: Final = 0.25
"""The share of the time budget that is kept for shortening failures, once there are any."""

PROGRESS_EVERY: Final = 20
"""Cases after which progress is told."""

PROGRESS_EVERY_S: Final = 2.0
"""Seconds after which progress is told of slow cases."""


class Stopping:
    """Says when a run ends before all of its cases have run.

    A signal raises `KeyboardInterrupt` where the run is. A callback of an interpreter may swallow that: `check` raises
    it again, and is called before each case.

    Attributes:
        budget_s: seconds for the whole run, shortening included; None is no budget.
    """

    def __init__(self, budget_s: float | None = None) -> None:
        self.budget_s = budget_s
        self._begun = time.monotonic()
        self._signalled = False

    @property
    def left_s(self) -> float | None:
        """Seconds of the budget that are left; None without a budget."""
        return None if self.budget_s is None else self._begun + self.budget_s - time.monotonic()

    def out_of_time(self, *, failed: bool) -> bool:
        """Whether no more cases run: the budget is spent, but for the share of shortening where a case has failed."""
        left = self.left_s
        if left is None or self.budget_s is None:
            return False
        return left <= (SHORTENING_SHARE * self.budget_s if failed else 0)

    def check(self) -> None:
        """Raises: KeyboardInterrupt, after a signal that asked for the end."""
        if self._signalled:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """In the block, Ctrl-C and SIGTERM end the run; in the main thread only, where signals arrive."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(number, self._ended) for number in numbers]
        unraisable = sys.unraisablehook

        def unraised(what: sys.UnraisableHookArgs) -> None:
            if not issubclass(what.exc_type, KeyboardInterrupt):  # Of that one, `check` knows.
                unraisable(what)

        sys.unraisablehook = unraised
        try:
            yield
        finally:
            sys.unraisablehook = unraisable
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)

    def _ended(self, _number: int, _frame: FrameType | None) -> None:
        self._signalled = True
        raise KeyboardInterrupt
