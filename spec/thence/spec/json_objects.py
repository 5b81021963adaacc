"""JSON from elsewhere: an object with a key twice is none, since readers differ on which of the two is meant."""

from __future__ import annotations

import json
from typing import Any

from thence.spec.events import printable

_LONGEST_KEY = 60


class KeyTwice(ValueError):
    """A key stands twice in one object."""

    def __init__(self, key: str) -> None:
        shown = key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}..."
        super().__init__(f"the key {printable(shown)} stands twice")


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs, as the `object_pairs_hook` of a decoder. Raises: KeyTwice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise KeyTwice(next(name for name in names if names.count(name) > 1))
    return fields


def json_value(text: str | bytes) -> Any:
    """The one JSON value of the text. Raises: ValueError, KeyTwice among them; RecursionError."""
    return json.loads(text, object_pairs_hook=each_once)
