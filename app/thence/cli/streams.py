"""Standard streams that were closed before the command began, as by `<&-` in a shell or by some service managers, or by
code under test while it runs; and streams whose encoding lacks the signs of diagrams."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

PLAIN_SIGNS: Final = dict(zip("│┊├┤┼─┄■●○◆▲▶◀▷◁→×✗⊕…", "|:|||-.#*o%^><><>xX&~", strict=True))
"""The signs of diagrams, and those that stand for them where an encoding lacks them. A column stays a column."""


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        return codecs.backslashreplace_errors(error)
    sign = PLAIN_SIGNS.get(error.object[error.start])
    if sign is not None:
        return sign, error.start + 1
    escape, _ = codecs.backslashreplace_errors(
        UnicodeEncodeError(error.encoding, error.object, error.start, error.start + 1, error.reason)
    )
    return escape, error.start + 1


WITH_PLAIN_SIGNS: Final = "thence.plain_signs"
"""What a stream does with a character that it cannot encode: a plain sign, or else an escape, `\\u2603`."""

codecs.register_error(WITH_PLAIN_SIGNS, _plain)


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
            setattr(sys, name, os.fdopen(copy, "w", encoding=encoding, errors=WITH_PLAIN_SIGNS))


def is_open(stream: Any) -> bool:
    """Whether the stream can still be used; None, in its place, cannot."""
    try:
        return stream is not None and not stream.closed
    except ValueError:  # Its file was taken from it.
        return False
