"""Python's collector of cycles, and when it had better wait."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Events and records are small objects without cycles, in millions: looking for cycles takes most of the time.

    So are the modules of a command and the tree of a file, by the ten thousand.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
