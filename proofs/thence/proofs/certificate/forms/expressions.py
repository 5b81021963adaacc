"""S-expressions as text: split where they end, and written in one way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Tree: TypeAlias = "str | list[Tree]"
"""A word, or the parts of an expression in parentheses."""

_TOKEN = re.compile(r'"(?:[^"]|"")*"|\|[^|]*\||;[^\n]*|[()]|[^\s()";|]+')
"""A string, a quoted symbol, a comment, a parenthesis, or a word."""

_PRINTABLE = re.compile(r"[ -~\n]*")


def is_printable(text: str) -> bool:
    """Whether a text has printable ASCII characters and newlines only."""
    return _PRINTABLE.fullmatch(text) is not None


def ascii_text(content: bytes) -> str | None:
    """The text of a file that has printable ASCII and newlines only; None for any other."""
    text = content.decode("latin-1")
    return text if is_printable(text) else None


def expressions(text: str) -> Iterator[str]:
    """The S-expressions of a text from left to right, comments between them left out.

    Raises: ValueError for a text that ends inside of an expression, or has an unmatched parenthesis.
    """
    depth, start = 0, 0
    for token, at in _tokens(text):
        if token.startswith(";"):
            continue
        if depth == 0:
            start = at
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth < 0:
            raise ValueError(f"an unmatched parenthesis at {at}")
        if depth == 0:
            yield text[start : at + len(token)]
    if depth:
        raise ValueError("the text ends in the middle of an expression")


def words(expression: str) -> list[str]:
    """The parentheses and words of an expression without comments. Raises: ValueError for a stray quote."""
    return [token for token, _ in _tokens(expression)]


def trees(tokens: Sequence[str]) -> list[Tree]:
    """The expressions that the parentheses and words make, without recursion. Raises: ValueError."""
    open_ones: list[list[Tree]] = [[]]
    for token in tokens:
        if token == "(":
            open_ones.append([])
        elif token != ")":
            open_ones[-1].append(token)
        elif len(open_ones) == 1:
            raise ValueError("an unmatched parenthesis")
        else:
            done = open_ones.pop()
            open_ones[-1].append(done)
    if len(open_ones) > 1:
        raise ValueError("the text ends in the middle of an expression")
    return open_ones[0]


def lists(found: Sequence[Tree]) -> Iterator[list[Tree]]:
    """What stands in parentheses in expressions, at any depth, without recursion."""
    waiting = list(found)
    while waiting:
        tree = waiting.pop()
        if not isinstance(tree, str):
            waiting.extend(tree)
            yield tree


def written(tokens: Sequence[str]) -> str:
    """Parentheses and words with one space between two of them, and none beside the inside of a parenthesis."""
    parts: list[str] = []
    before = "("
    for token in tokens:
        if before != "(" and token != ")":
            parts.append(" ")
        parts.append(token)
        before = token
    return "".join(parts)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens of a text with their places. Raises: ValueError."""
    covered = 0
    for token in _TOKEN.finditer(text):
        if text[covered : token.start()].strip():
            raise ValueError(f"a stray quote at {covered}")
        covered = token.end()
        yield token.group(), token.start()
    if text[covered:].strip():
        raise ValueError("the text ends in the middle of an expression")
