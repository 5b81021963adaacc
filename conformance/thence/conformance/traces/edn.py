"""A reader of EDN, the data notation in which Jepsen writes histories: maps, vectors, lists, sets, strings, keywords.

Keywords and symbols become strings without their colon; tags are dropped, their values kept.
"""

from __future__ import annotations

import re
from typing import Any

from thence.spec.logs import LogError

_TOKEN = re.compile(
    r'[\s,]*(?:;[^\n]*|(?P<open>#\{|[\[({])|(?P<close>[\])}])|(?P<string>"(?:\\.|[^"\\])*")'
    r'|(?P<atom>[^\s,\[\](){}";]+)|$)'
)
_CLOSING = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_ATOMS: dict[str, Any] = {"nil": None, "true": True, "false": False}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
DEEPEST = 64


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
            stack[-1][1].append(_collected(opened, items, _line(text, place)))
        elif found["string"] is not None:
            stack[-1][1].append(re.sub(r"\\(.)", lambda each: _ESCAPES.get(each[1], each[1]), found["string"][1:-1]))
        elif (atom := found["atom"]) is not None and not atom.startswith("#"):
            stack[-1][1].append(_atom(atom))
    if len(stack) > 1:
        raise LogError(f"the file ends within a {stack[-1][0]}")
    return stack[0][1]


def _collected(opened: str, items: list[Any], line: int) -> Any:
    if opened != "{":
        return items
    if len(items) % 2:
        raise LogError(f"line {line}: a map has a key without a value")
    return {str(key): value for key, value in zip(items[::2], items[1::2], strict=True)}


def _atom(text: str) -> Any:
    if text in _ATOMS:
        return _ATOMS[text]
    try:
        return int(text.removesuffix("N"))
    except ValueError:
        return text.removeprefix(":")


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
