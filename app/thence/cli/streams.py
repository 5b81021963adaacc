"""Standard streams that were closed before the command began, as by `<&-` in a shell or by some service managers, or by
code under test while it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


def open_closed_streams() -> None:
    """Opens them again, so that no other file gets their numbers: the input is at its end, complaints are lost.

    The output cannot be written, which a command says when it tries to.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), "r", encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


@contextmanager
def kept_streams() -> Iterator[None]:
    """Afterwards output and complaints go where they went before, whatever code under test has closed or replaced."""
    named: list[tuple[str, Any]] = [("stdout", sys.stdout), ("stderr", sys.stderr)]
    encodings = [getattr(stream, "encoding", None) for _, stream in named]
    try:
        copies = [os.dup(number) for number in (1, 2)]
    except OSError:
        yield
        return
    try:
        yield
    finally:
        for (name, stream), number, copy, encoding in zip(named, (1, 2), copies, encodings, strict=True):
            if getattr(sys, name, None) is stream and is_open(stream):
                os.dup2(copy, number)
                os.close(copy)
                continue
            with suppress(Exception):
                sys.__dict__[name].flush()
            # A stream that took the place of another one closes that one's file when it goes.
            setattr(sys, name, os.fdopen(copy, "w", encoding=encoding, errors="backslashreplace"))


def is_open(stream: Any) -> bool:
    """Whether the stream can still be used; None, in its place, cannot."""
    try:
        return stream is not None and not stream.closed
    except ValueError:  # Its file was taken from it.
        return False
