"""Answers about trees that are asked for again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MOST: Final = 4096
"""So many answers of a function are kept; then it begins anew."""


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which keeps its answers about the very same objects.

    Equal objects are not looked for: to compare two trees takes as long as to walk through them. The objects are kept
    too, so that no other takes their place.
    """
    known: dict[tuple[int, ...], tuple[tuple[object, ...], R]] = {}

    @wraps(function)
    def answer(*given: P.args, **named: P.kwargs) -> R:
        asked = tuple(map(id, given))
        there = None if named else known.get(asked)
        if there is not None:
            return there[1]
        found = function(*given, **named)
        if not named:
            if len(known) >= MOST:
                known.clear()
            known[asked] = given, found
        return found

    return answer
