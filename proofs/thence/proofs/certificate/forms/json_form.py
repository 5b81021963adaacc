"""The form of JSON files: one text for each value. No key twice, no fraction, no number of more than nine digits."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from thence.spec.json_objects import each_once

_DIGITS = 9


def laid_out(value: Any) -> bytes:
    """A value with one entry a line, for readers."""
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def compact(value: Any) -> bytes:
    """A value in one line."""
    return (json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n").encode()


def value_of(content: bytes) -> Any:
    """The value of a JSON file. Raises: ValueError, also where it is nested too deeply or has a number without form."""
    try:
        return json.loads(
            content.decode("utf-8"),
            parse_float=_refuse,
            parse_constant=_refuse,
            parse_int=_whole,
            object_pairs_hook=each_once,
        )
    except RecursionError as fault:
        raise ValueError("it is nested too deeply") from fault


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"`{text[:20]}` is not a whole number")
