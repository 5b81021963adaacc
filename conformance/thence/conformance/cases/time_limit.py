"""A time limit on foreign code in this process."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import Final

PATIENCE: Final = 4
"""So many times as long again has code under test on a busy machine, before it is said to hang."""


MOST_S: Final = 1e9
"""Longer limits are none: some thirty years, which a timer of the system still takes."""


class OutOfTime(BaseException):
    """The time limit has passed. Not an Exception, so that the code under the limit does not catch it by mistake."""


def limited(seconds: float | None, more: int = 0) -> AbstractContextManager[None]:
    """Raise `OutOfTime` in the block after `seconds`; where it is caught, again after as long, and at the end.

    None is no limit, nor is more than `MOST_S`. The block has up to `more` times as long again while this process has
    had less than half of `seconds` of processor time: a machine that is busy, or was asleep, is no fault of the block.

    Signals reach the main thread only: in any other there is no limit. Where a limit is in force already, it stays.
    """
    return _UNLIMITED if seconds is None or seconds > MOST_S else _ringing(seconds, more)


_UNLIMITED: Final = nullcontext()


@contextmanager
def _ringing(seconds: float, more: int) -> Iterator[None]:
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    rung = False
    begun_s = time.process_time()

    def ring(_number: int, _frame: FrameType | None) -> None:
        nonlocal rung, more
        if not rung and more and time.process_time() - begun_s < seconds / 2:
            more -= 1
            return
        rung = True
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
        if rung:
            raise OutOfTime  # It was caught in the block, which went on.
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def was_out_of_time(error: BaseException) -> bool:
    """Whether the error is due to the limit: it was raised while `OutOfTime` was handled."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        if isinstance(at, OutOfTime):
            return True
        seen.add(id(at))
        at = at.__cause__ or at.__context__
    return False
