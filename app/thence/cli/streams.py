"""Standard streams that were closed before the command began, as by `<&-` in a shell or by some service managers."""

from __future__ import annotations

import os
import sys


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
