"""Ctrl-C and SIGTERM: the first one ends a command in order, from the first line of ours that runs to the last.

Both raise KeyboardInterrupt in the main thread, which commands turn into what was covered. While the output is written,
the first one waits until it is, so that JSON is never cut; the second one ends even that. Once it is written, any one
ends the process with the exit code that the output says. Where Python throws an exception away (in a `__del__`, in what
a library calls back), the signal comes again a little later; not while the output is written, which ends soon.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SOON = 0.01
"""Seconds until a signal comes again."""

_exit = os._exit  # before it is forbidden to code under test


@dataclass(slots=True)
class _Phase:
    """How far the command is.

    `writing`: the output is being written; `waived`: an interrupt came meanwhile; `last`: the signal that last raised;
    `repeats`: it is about to come again; `code`: the exit code, once the command is over.
    """

    writing: bool = False
    waived: bool = False
    last: int = signal.SIGINT
    repeats: bool = False
    code: int | None = None


_phase = _Phase()


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _phase.code is not None:
        _exit(_phase.code)
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

    Processes that are forked meanwhile end by SIGTERM at once, as always. Where the command is over at the end of the
    block (`is_over`), the signals do not get back what they did before: the process is about to end, and either one
    may only hasten it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    hook = sys.unraisablehook
    _phase.writing = _phase.waived = _phase.repeats = False
    _phase.code = None
    _take(before)
    sys.unraisablehook = _ThrownAway(hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        if _phase.code is None:
            for number, handler in before.items():
                signal.signal(number, handler)
        else:
            _take(before)  # code under test may have other handlers


def _take(before: Mapping[signal.Signals, object]) -> None:
    """Takes the signals, apart from those that are ignored."""
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, _interrupt)


def is_writing() -> None:
    """From now on the output is written: the first interrupt no longer raises anything."""
    _phase.writing = True


def is_over(code: int) -> None:
    """The output is written. From now on an interrupt ends the process with this code, if nothing else has by then."""
    _phase.code = code


def _in_child() -> None:
    if signal.getsignal(signal.SIGTERM) is _interrupt:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _at_end() -> None:
    """Python is about to put back what the signals do by default, and takes a moment to end after that."""
    for number in _SIGNALS:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


os.register_at_fork(after_in_child=_in_child)
atexit.register(_at_end)
