"""Hypothesis without the numbers that stand in the modules of the program.

Hypothesis reads every loaded module for constants that it may draw, which takes a second of each process, and then
draws depend on what happens to be loaded. No number of a schedule is a constant of a module. Hypothesis has no setting
for this, so two names of it that are not public are replaced for a while.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from hypothesis.internal.conjecture import providers

_REPLACED: Final = ("_get_local_constants", "CONSTANTS_CACHE")
"""What gives the constants of loaded modules, and what remembers which of them fit a range."""


@contextmanager
def without_local_constants() -> Iterator[None]:
    """Meanwhile Hypothesis reads no modules. With a version of Hypothesis that has other names, nothing changes."""
    module: Any = providers
    before = {name: getattr(module, name) for name in _REPLACED if hasattr(module, name)}
    if len(before) < len(_REPLACED):
        yield
        return
    none = module.Constants()
    module._get_local_constants = lambda: none
    module.CONSTANTS_CACHE = {}
    try:
        yield
    finally:
        for name, known in before.items():
            setattr(module, name, known)
