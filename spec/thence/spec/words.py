"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 statement`, `2,052 statements`, `3 processes`, `2 deliveries`, `2 dependent conditions`."""
    return f"1 {noun}" if number == 1 else f"{number:,} {_several(noun)}"


def _several(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def percent(rate: float) -> str:
    """A rate, with two significant digits."""
    return f"{100 * rate:.2g} %" if rate < 0.995 else "100 %"
