"""Edits of a text: a span of it, and the replacement."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final

from thence.dsl.text.syntax import Span

CONTEXT_LINES: Final = 1
"""Unchanged lines around a change, in a diff."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A fault to put into a text.

    Attributes:
        operator: the class of fault, such as `skip statement`.
        span: the text that is replaced.
        replacement: the new text.
        place: the declaration (handler, procedure, transition, method) that it is in.
    """

    operator: str
    span: Span
    replacement: str
    place: str


def text_of(lines: list[str], span: Span) -> str:
    """The text in the span. Lines and columns count from 1, the end is exclusive."""
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    first, *between = lines[span.line - 1 : span.end_line]
    *between, last = between
    return "\n".join([first[span.column - 1 :], *between, last[: span.end_column - 1]])


def applied(text: str, edit: Edit) -> str:
    """The text with the edit made."""
    lines = text.replace("\r\n", "\n").split("\n")
    span = edit.span
    before, after = lines[span.line - 1][: span.column - 1], lines[span.end_line - 1][span.end_column - 1 :]
    changed = (before + edit.replacement + after).split("\n")
    return "\n".join([*lines[: span.line - 1], *changed, *lines[span.end_line :]])


def diff(before: str, after: str, name: str) -> str:
    """The change as a unified diff with little context."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, n=CONTEXT_LINES, lineterm="")
    return "\n".join(lines)
