"""Python's collector of cycles, and when it had better wait."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SELDOM: Final = 50_000
"""Objects that are made, net, between two looks at the youngest ones; Python's own number is 700."""


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


@contextmanager
def collector_seldom() -> Iterator[None]:
    """Cases make hundreds of objects each, which last as long as the case: the collector looks once in many cases.

    A system under test may make cycles, so that it has to look at all.
    """
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], SELDOM), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
