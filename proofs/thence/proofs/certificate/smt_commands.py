"""SMT-LIB2 commands as text: solver output split into S-expressions, and obligations restricted to plain commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"]|"")*"|\|[^|]*\||;[^\n]*|[()]|[^\s()";|]+')
"""A string, a quoted symbol, a comment, a parenthesis, or a word."""

_PLAIN_COMMAND = re.compile(
    r"\(set-logic ALL\)|\(check-sat\)|\((?:assert|declare-sort|declare-fun|declare-const) [^;|\"]*\)"
)
"""The commands of an obligation, one on each line. They print nothing, set nothing and define nothing."""


def expressions(text: str) -> Iterator[str]:
    """The S-expressions of a text from left to right, comments between them left out.

    Raises: ValueError for a text that ends inside of an expression, or has an unmatched parenthesis.
    """
    depth, start, covered = 0, 0, 0
    for token in _TOKEN.finditer(text):
        if text[covered : token.start()].strip():
            raise ValueError(f"a stray quote at {covered}")
        covered = token.end()
        word = token.group()
        if word.startswith(";"):
            continue
        if depth == 0:
            start = token.start()
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth < 0:
            raise ValueError(f"an unmatched parenthesis at {token.start()}")
        if depth == 0:
            yield text[start : token.end()]
    if depth or text[covered:].strip():
        raise ValueError("the text ends in the middle of an expression")


def without_comments(text: str) -> str:
    """An obligation's commands, as a solver reads them."""
    lines = (line.partition(";")[0].rstrip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def plainness_fault(text: str) -> str | None:
    """The reason why a text is not an obligation in the form that Thence writes, or None.

    The form is: a logic, declarations and assertions, and one `(check-sat)` at the end; one command a line. Anything
    else (`echo`, `define-fun`, `set-option`, `pop`) could make a solver or checker print a false answer.
    """
    commands = without_comments(text).splitlines()
    for command in commands:
        if _PLAIN_COMMAND.fullmatch(command) is None:
            return f"`{command[:60]}` is not a command of an obligation"
        try:
            if len(list(expressions(command))) != 1:
                return f"more than one command in a line: `{command[:60]}`"
        except ValueError as fault:
            return f"`{command[:60]}`: {fault}"
    if not commands or commands[0] != "(set-logic ALL)" or commands[-1] != "(check-sat)":
        return "it does not begin with (set-logic ALL) and end with (check-sat)"
    if commands.count("(set-logic ALL)") != 1 or commands.count("(check-sat)") != 1:
        return "it sets a logic or checks more than once"
    return None
