"""Names that the language keeps for itself and a declaration gives to something else: one error for each name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import Diagnostic, in_reading_order


def without_echoes(file: syntax.File, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics, without the errors of a declaration at places that mention a kept name which it declares."""
    told = list(found)
    kept = [one for one in told if one.code == "E0212"]
    for declaration in file.declarations if kept else ():
        mentions = list(_mentions(declaration))
        first: dict[str, Diagnostic] = {}
        for one in in_reading_order(kept):
            for name in [name for name, span in mentions if span == one.span]:
                first.setdefault(name, one)
        spans = [span for name, span in mentions if name in first]
        told = [
            one
            for one in told
            if one in first.values() or one.severity != "error" or not any(_meets(one.span, span) for span in spans)
        ]
    return told


def _meets(error: syntax.Span, mention: syntax.Span) -> bool:
    """Whether the error is about lines of the mention."""
    return error.line <= mention.end_line and mention.line <= error.end_line


def _mentions(node: Any) -> Iterator[tuple[str, syntax.Span]]:
    """The names in a declaration, with their places."""
    pending = [node]
    while pending:
        item = pending.pop()
        match item:
            case tuple():
                pending += item[::-1]
            case syntax.Name(text):
                yield text, item.span
            case syntax.Variable(name):
                yield name, item.span
            case syntax.Node():
                pending += [getattr(item, part.name) for part in fields(item)][::-1]
