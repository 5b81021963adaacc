"""A declared thing is given another name. What comes out is checked: it means what the file meant before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from thence.dsl.check.terms.environment import RESERVED as NAMES_OF_THE_LANGUAGE
from thence.dsl.text.syntax import Span
from thence.dsl.text.vocabulary import RESERVED
from thence.lsp.analysis import Analysis
from thence.lsp.naming.symbols import Occurrence, Symbol
from thence.spec.user_error import UserError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class RenameRefused(UserError):
    """The name cannot be changed to this one; the message says why."""


def renamable(analysis: Analysis, line: int, column: int) -> Occurrence:
    """What is named at a place, if it can be renamed. Raises RenameRefused."""
    if analysis.reading.diagnostics:
        raise RenameRefused("the file cannot be read to its end; mend its syntax first")
    found = analysis.occurrence_at(line, column)
    if found is None:
        raise RenameRefused("nothing that is declared in this file is named here")
    if found.symbol.span is None:
        raise RenameRefused(f"`{found.symbol.name}` is a name of the language")
    return found


def renamed(analysis: Analysis, symbol: Symbol, name: str) -> tuple[Span, ...]:
    """The places where the new name has to be written. Raises RenameRefused where the meaning would change."""
    if not _NAME.fullmatch(name):
        raise RenameRefused(f"`{name}` is not a name: letters of ASCII, digits and `_`, no digit first")
    if name in RESERVED:
        raise RenameRefused(f"`{name}` is a keyword and cannot be a name")
    if name in NAMES_OF_THE_LANGUAGE:
        raise RenameRefused(f"`{name}` is a name of the language and cannot be declared")
    places = tuple(occurrence.span for occurrence in analysis.of_symbol(symbol))
    after = Analysis(_replaced(analysis.text, places, name), analysis.file)
    faults = [diagnostic for diagnostic in after.diagnostics if diagnostic.severity == "error"]
    before = sum(diagnostic.severity == "error" for diagnostic in analysis.diagnostics)
    if len(faults) > before:
        raise RenameRefused(f"with the name `{name}`, line {faults[0].span.line} would be wrong: {faults[0].message}")
    if _shape(after) != _shape(analysis):
        raise RenameRefused(f"`{name}` has a meaning there already; choose another name")
    return places


def _replaced(text: str, places: Sequence[Span], name: str) -> str:
    """The text with the name written in these places, which are each on one line and in order."""
    lines = text.split("\n")
    mark = len(text) - len(text.removeprefix("\ufeff"))
    for span in reversed(places):
        line, shift = lines[span.line - 1], mark if span.line == 1 else 0
        start, end = span.column - 1 + shift, span.end_column - 1 + shift
        lines[span.line - 1] = line[:start] + name + line[end:]
    return "\n".join(lines)


def _shape(analysis: Analysis) -> list[tuple[str, int | None]]:
    """Of each named place: what kind of thing is meant, and which of the places declares it."""
    order = {occurrence.span: number for number, occurrence in enumerate(analysis.occurrences)}
    return [
        (occurrence.symbol.kind, None if occurrence.symbol.span is None else order.get(occurrence.symbol.span))
        for occurrence in analysis.occurrences
    ]
