"""A reader of EDN, the data notation in which Jepsen writes histories: maps, vectors, lists, sets, strings, keywords.

Keywords and symbols become strings without their colon; tags are dropped, their values kept; what follows `#_` is
left out.
"""

from __future__ import annotations

import re
from typing import Any

from thence.spec.logs import LogError

_TOKEN = re.compile(
    r'[\s,]*(?:;[^\n]*|(?P<open>#\{|[\[({])|(?P<close>[\])}])|(?P<string>"(?:\\.|[^"\\])*")'
    r'|(?P<discard>#_)|(?P<atom>(?:\\.)?[^\s,\[\](){}";]+|\\.)|$)'
)
_CLOSING = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_ATOMS: dict[str, Any] = {"nil": None, "true": True, "false": False}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_INTEGER = re.compile(r"[+-]?[0-9]+N?", re.ASCII)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_DISCARD = object()
"""Stands among the values of a collection for a `#_`, until its value comes."""

DEEPEST = 64
LONGEST_NUMBER = 1_000
"""A number with so many digits stays text."""


def read_all(text: str) -> list[Any]:
    """All values in the text. Raises LogError with the line that is at fault."""
    stack: list[tuple[str, list[Any]]] = [("", [])]
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise LogError(f"line {_line(text, place)}: this is not EDN: {text[place : place + 20]!r}")
        if found.end() == place:
            break
        place = found.end()
        if opened := found["open"]:
            if len(stack) > DEEPEST:
                raise LogError(f"line {_line(text, place)}: nested too deeply")
            stack.append((opened, []))
        elif closed := found["close"]:
            opened, items = stack.pop()
            if not stack or _CLOSING.get(opened) != closed:
                raise LogError(f"line {_line(text, place)}: this {closed} closes nothing")
            _add(stack[-1][1], _collected(opened, items, _line(text, place)))
        elif found["string"] is not None:
            _add(stack[-1][1], _ESCAPE.sub(_unescaped, found["string"][1:-1]))
        elif found["discard"]:
            stack[-1][1].append(_DISCARD)
        elif (atom := found["atom"]) is not None and not atom.startswith("#"):
            _add(stack[-1][1], _atom(atom))
    if len(stack) > 1:
        raise LogError(f"the file ends within a {stack[-1][0]}")
    if _DISCARD in stack[0][1]:
        raise LogError("the file ends after a #_")
    return stack[0][1]


def _add(items: list[Any], value: Any) -> None:
    if items and items[-1] is _DISCARD:
        items.pop()
    else:
        items.append(value)


def _unescaped(escape: re.Match[str]) -> str:
    name = escape[1]
    return chr(int(name[1:], 16)) if len(name) == 5 else _ESCAPES.get(name, name)


def _collected(opened: str, items: list[Any], line: int) -> Any:
    if _DISCARD in items:
        raise LogError(f"line {line}: nothing follows a #_")
    if opened != "{":
        return items
    if len(items) % 2:
        raise LogError(f"line {line}: a map has a key without a value")
    found = {str(key): value for key, value in zip(items[::2], items[1::2], strict=True)}
    if 2 * len(found) < len(items):
        raise LogError(f"line {line}: a map has a key twice")
    return found


def _atom(text: str) -> Any:
    if text in _ATOMS:
        return _ATOMS[text]
    if _INTEGER.fullmatch(text) and len(text) < LONGEST_NUMBER:
        return int(text.removesuffix("N"))
    return text.removeprefix(":")


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
