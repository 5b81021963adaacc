"""How the lines of a text end: with `\\n`, or with `\\r\\n`."""

from __future__ import annotations


def with_line_ends(text: str, like: str) -> str:
    """The text with each line ended as most lines of `like` are; with `\\n` where both are as many."""
    pairs = like.count("\r\n")
    text = text.replace("\r\n", "\n")
    return text.replace("\n", "\r\n") if 2 * pairs > like.count("\n") else text
