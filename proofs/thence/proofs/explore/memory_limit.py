"""A limit on the memory of this process: reached anywhere, it is a MemoryError there.

Searches keep states in arrays of their own, which count, and in Python's heap, which nothing bounds: local steps and
their renamings, the interpreter's states, abstract states, lassos. So the size of the process itself is looked at,
several times a second, wherever the main thread is. Whoever catches the error says what was covered.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

EVERY_S = 0.1

ALLOWANCE = 256 * 2**20
"""Bytes on top of a limit: for generated code, the compiler, and what Python needs to start a search."""


def resident() -> int:
    """Bytes of memory that this process takes, where the system tells; otherwise, the most that it ever took."""
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


@contextmanager
def memory_limit(bytes_: int) -> Iterator[None]:
    """Meanwhile, the process may take so much more than now, and ALLOWANCE; beyond that there is a MemoryError.

    Whoever catches it has ALLOWANCE to say what was covered. Where Python throws it away, in a `__del__` or in what is
    called back, the process goes on to grow, and there is another one.

    Only the main thread can be watched, and only while no other limit uses its timer. A browser limits its pages.
    """
    if sys.platform == "emscripten":
        yield
        return
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    most = resident() + bytes_ + ALLOWANCE

    def look(_number: int, _frame: FrameType | None) -> None:
        nonlocal most
        taken = resident()
        if taken > most:
            most = taken + ALLOWANCE
            raise MemoryError(f"more than {bytes_ / 1e6:,.0f} MB")

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, EVERY_S, EVERY_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
