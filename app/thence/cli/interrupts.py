"""Ctrl-C and SIGTERM: the first one ends a command in order, from the first line of ours that runs to the last.

Both raise KeyboardInterrupt in the main thread, which commands turn into what was covered. While the output is written,
the first one waits until it is, so that JSON is never cut; the second one ends even that. Where Python throws an
exception away (in a `__del__`, in what a library calls back), the signal comes again a little later; not while the
output is written, which ends soon.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SOON = 0.01
"""Seconds until a signal comes again."""


@dataclass(slots=True)
class _Phase:
    """How far the command is.

    `writing`: the output is being written; `waived`: an interrupt came meanwhile; `last`: the signal that last raised;
    `repeats`: it is about to come again.
    """

    writing: bool = False
    waived: bool = False
    last: int = signal.SIGINT
    repeats: bool = False


_phase = _Phase()


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _phase.writing and not _phase.waived:
        _phase.waived = True
        return
    _phase.last = number
    if _is_in_hook(frame):
        _repeat()
        return
    raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class _ThrownAway:
    """What is done with exceptions that Python throws away: `otherwise`, but for an interrupt."""

    otherwise: Callable[[sys.UnraisableHookArgs], object]

    def __call__(self, what: sys.UnraisableHookArgs) -> None:
        if isinstance(what.exc_value, KeyboardInterrupt):
            _repeat()
        else:
            self.otherwise(what)


def _is_in_hook(frame: FrameType | None) -> bool:
    """Whether the hook runs, from which nothing can be raised: Python would throw that away, too."""
    while frame is not None:
        if frame.f_code is _ThrownAway.__call__.__code__:
            return True
        frame = frame.f_back
    return False


def _repeat() -> None:
    """The last signal comes again a little later, unless the output is being written."""
    if not _phase.repeats and not _phase.writing:
        _phase.repeats = True
        again = threading.Timer(_SOON, _again, (_phase.last,))
        again.daemon = True
        again.start()


def _again(number: int) -> None:
    _phase.repeats = False
    if signal.getsignal(number) is _interrupt:
        os.kill(os.getpid(), number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Meanwhile, both signals raise KeyboardInterrupt. One that is ignored (as by nohup) stays so.

    Processes that are forked meanwhile end by SIGTERM at once, as always.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    hook = sys.unraisablehook
    _phase.writing = _phase.waived = _phase.repeats = False
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _ThrownAway(hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def is_writing() -> None:
    """From now on the output is written: the first interrupt no longer raises anything."""
    _phase.writing = True


def _in_child() -> None:
    if signal.getsignal(signal.SIGTERM) is _interrupt:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


os.register_at_fork(after_in_child=_in_child)
