"""Ctrl-C and SIGTERM: the first one ends a command in order, from the first line of ours that runs to the last.

Both raise KeyboardInterrupt in the main thread, which commands turn into what was covered. While the output is written,
the first one waits until it is, so that JSON is never cut; the second one ends even that.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class _Phase:
    """How far the command is. `writing`: the output is being written; `waived`: an interrupt came meanwhile."""

    writing: bool = False
    waived: bool = False


_phase = _Phase()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    if _phase.writing and not _phase.waived:
        _phase.waived = True
        return
    raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """Meanwhile, both signals raise KeyboardInterrupt. One that is ignored (as by nohup) stays so.

    Processes that are forked meanwhile end by SIGTERM at once, as always.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    _phase.writing = _phase.waived = False
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_writing() -> None:
    """From now on the output is written: the first interrupt no longer raises anything."""
    _phase.writing = True


def _in_child() -> None:
    if signal.getsignal(signal.SIGTERM) is _interrupt:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


os.register_at_fork(after_in_child=_in_child)
