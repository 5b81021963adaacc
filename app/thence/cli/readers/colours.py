"""Colours: on a terminal, unless NO_COLOR is set; elsewhere none, unless FORCE_COLOR is set."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from typing import TextIO

Painter = Callable[[str, "Ink"], str]
"""The text in an ink; the text itself where there are no colours."""


class Ink(Enum):
    """The parameters of the control sequence that begins the colour."""

    PLAIN = ""
    STRONG = "1"
    GOOD = "32"
    TESTED = "36"
    SHOWN = "33"
    OPEN = "35"
    BAD = "1;31"
    WARNING = "1;33"
    FAINT = "2"


def painter(stream: TextIO) -> Painter:
    """The painter of a stream."""
    return _painted if _coloured(stream) else bare


def _coloured(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return os.environ["FORCE_COLOR"] != "0"
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _painted(text: str, ink: Ink) -> str:
    return f"\x1b[{ink.value}m{text}\x1b[0m" if ink.value and text else text


def bare(text: str, ink: Ink) -> str:
    """The text as it is, whatever the ink."""
    return text
