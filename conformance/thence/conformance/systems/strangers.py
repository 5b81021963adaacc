"""Texts of objects of a system under test. These functions return a text even where the object raises."""

from __future__ import annotations

from typing import Any, Final

from thence.conformance.systems.contract import printable

_LONGEST: Final = 300

_PRINTED_LINES: Final = 12
"""Lines of a standard error that a message has."""


def shown(value: object) -> str:
    """The value's text in code, on one line, printable, not endless; its type, where it has no text."""
    try:
        return printable(repr(value))
    except Exception:
        return f"<{type(value).__name__} without a text>"


def word(thing: object, name: str) -> str | None:
    """An attribute that is a name; None where the attribute is missing, is None, or raises."""
    try:
        value: Any = getattr(thing, name, None)
    except Exception:
        return None
    if value is None or (type(value) is str and value.isprintable()):
        return value
    return printable(value) if type(value) is str else shown(value)


def say(error: BaseException) -> str:
    """`Type: message`, on one line, printable, and not endless."""
    try:
        message = " ".join(str(error).split())
    except Exception:
        message = "(without a message)"
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    return plain(text)


def said_besides(printed: str) -> str:
    """The last lines of a standard error, as an end to a message; nothing of none."""
    lines = plain(printed).strip().splitlines()[-_PRINTED_LINES:]
    return "".join(["; its standard error ends:", *(f"\n  | {line}" for line in lines)]) if lines else ""


def plain(text: str) -> str:
    """The text without anything that a terminal would obey or a file could not hold; its lines stay."""
    if text.isprintable():
        return text
    kept = (letter if letter == "\n" or letter.isprintable() else letter.encode("unicode_escape") for letter in text)
    return "".join(letter if isinstance(letter, str) else letter.decode() for letter in kept)
