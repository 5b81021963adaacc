"""Processes that end when the one that started them is gone, even where it was killed.

Without this, a process that waits for work would wait for ever: it has a copy of the other end of its own pipe. A
solver would go on with its question to the end of its time.

`python -m thence.spec.parent_process PARENT MODULE` runs a module as a process that ends so.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """From now on this process is killed when the thread that started it ends, or the whole of its process, `parent`.

    On Linux; elsewhere nothing happens.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # It was gone before.
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    runpy.run_module(sys.argv[2], run_name="__main__")
