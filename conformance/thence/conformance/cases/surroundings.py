"""Code under test in this process: it cannot end the process, and what it changes of it is put back.

A class that calls `os._exit(0)` would otherwise end a run as if all had been tried and nothing had been wrong. Native
code that ends the process is out of reach; a class in a process of its own (`isolated:`) shows that, too.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

ENDING: Final = ("_exit", "execv", "execve")
"""The functions of `os` that end a process, or put a program in its place; the others of the kind call these."""

_REALLY: Final = {name: getattr(os, name) for name in ENDING}
"""The functions themselves."""

_UNKNOWN: Final = 3
"""The exit code of a run that has no result."""


class Ended(SystemExit):
    """Code under test was about to end the process. Its exit code is that of a run without a result."""

    def __init__(self, how: str) -> None:
        super().__init__(_UNKNOWN)
        self.how = how

    def __str__(self) -> str:
        return f"{self.how} would end the process"


def unending() -> dict[str, Callable[..., Any]]:
    """From now on the functions of `os` that end the process raise `Ended`; their former values, by name.

    In a thread, where nobody would see it, they end the process with exit code 3 and a message. In processes that are
    forked later they do what they always did.
    """
    before: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in ENDING}
    process = os.getpid()
    for name in ENDING:
        setattr(os, name, _refusing(name, process))
    return before


def _refusing(name: str, process: int) -> Callable[..., Any]:
    def refusing(*arguments: Any, **named: Any) -> Any:
        if os.getpid() != process:
            return _REALLY[name](*arguments, **named)
        if threading.current_thread() is not threading.main_thread():
            with suppress(OSError):
                os.write(2, f"thence: a thread of the code under test ends the process: os.{name}\n".encode())
            _REALLY["_exit"](_UNKNOWN)
        raise Ended(f"os.{name}({', '.join(map(repr, (*arguments, *named.values())))})")

    return refusing


class Surroundings:
    """A block in which code under test runs in the main thread.

    It cannot end the process. In the end the current folder and the limit of recursion are again what they were, and a
    copy of the process that the code has forked goes no further.
    """

    __slots__ = ("_ending", "_folder", "_process", "_recursion")

    def __enter__(self) -> None:
        self._process = os.getpid()
        self._recursion = sys.getrecursionlimit()
        self._folder = _folder()
        in_main = threading.current_thread() is threading.main_thread()
        self._ending = unending() if in_main else {}

    def __exit__(self, *_: object) -> None:
        for name, function in self._ending.items():
            setattr(os, name, function)
        if os.getpid() != self._process:
            _REALLY["_exit"](1)
        if sys.getrecursionlimit() != self._recursion:
            sys.setrecursionlimit(self._recursion)
        if self._folder is not None and _folder() != self._folder:
            with suppress(OSError):
                os.chdir(self._folder)


def _folder() -> str | None:
    """The current folder; None where it is there no longer."""
    try:
        return os.getcwd()  # noqa: PTH109 — a path costs half of the block
    except OSError:
        return None
