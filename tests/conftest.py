"""What all tests have in common: no answer of a solver comes from an earlier run; the planted faults are importable."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

os.environ["THENCE_CACHE"] = "off"

TESTS = str(Path(__file__).resolve().parent)
if TESTS not in sys.path:
    sys.path.append(TESTS)  # so that the planted faults are importable as faults.mf, as `thence conform` sees them


@pytest.fixture
def marked() -> Callable[[str], list[int]]:
    """The processes that have a mark as one of their arguments, zombies left out. On Linux."""

    def find(mark: str) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    return find
