"""Edits that mend a fault: what its diagnostic suggests, as text to be written in a place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from thence.dsl.text.diagnostics import Diagnostic
from thence.dsl.text.syntax import Span
from thence.dsl.text.vocabulary import FOREIGN_SYMBOLS
from thence.lsp.analysis import Analysis

_MEANT = re.compile(r"did you mean `([^`]+)`\?")
_FOREIGN = re.compile(r"`([^`]+)` is not an operator here")
_MISSPELT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Fix:
    """A title, and the text that replaces what stands in a place."""

    title: str
    span: Span
    text: str


def fixes(analysis: Analysis, diagnostic: Diagnostic) -> tuple[Fix, ...]:
    """The fixes of one fault that are known to make it go; most faults have none."""
    candidates = tuple(_candidates(analysis, diagnostic))
    return tuple(fix for fix in candidates if _mends(analysis, diagnostic, fix))


def _candidates(analysis: Analysis, diagnostic: Diagnostic) -> list[Fix]:
    span, found = diagnostic.span, []
    for note in diagnostic.notes:
        meant = _MEANT.search(note)
        if meant is not None and span.line == span.end_line and _MISSPELT.search(_at(analysis, span)):
            written = _MISSPELT.search(_at(analysis, span))
            assert written is not None
            place = Span(span.line, span.end_column - len(written[0]), span.line, span.end_column)
            found.append(Fix(f"Write `{meant[1]}`", place, meant[1]))
    foreign = _FOREIGN.match(diagnostic.message)
    if foreign is not None and foreign[1] in FOREIGN_SYMBOLS:
        wanted = FOREIGN_SYMBOLS[foreign[1]][1]
        found.append(Fix(f"Write `{wanted}`", span, f"{wanted} " if wanted == "not" else wanted))
    match diagnostic.code:
        case "E0103":
            found.append(Fix("Insert `:`", Span(span.line, span.column, span.line, span.column), ":"))
        case "E0111":
            wanted = ":=" if _at(analysis, span) == "=" else "="
            found.append(Fix(f"Write `{wanted}`", span, wanted))
        case _:
            pass
    return found


def _at(analysis: Analysis, span: Span) -> str:
    """The text of a stretch on one line."""
    lines = analysis.text.removeprefix("\ufeff").split("\n")
    return lines[span.line - 1][span.column - 1 : span.end_column - 1] if span.line <= len(lines) else ""


def _mends(analysis: Analysis, diagnostic: Diagnostic, fix: Fix) -> bool:
    """Whether the fault is gone from its line, and no other has come up there."""
    text = applied(analysis.text, fix)
    after = Analysis(text, analysis.file).diagnostics
    line = diagnostic.span.line

    def told(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[str, str]]:
        return [(one.code, one.message) for one in diagnostics if one.span.line == line]

    before = told(analysis.diagnostics)
    return len(told(after)) < len(before) or (diagnostic.code, diagnostic.message) not in told(after)


def applied(text: str, fix: Fix) -> str:
    """The text with a fix."""
    lines = text.split("\n")
    mark = len(text) - len(text.removeprefix("\ufeff"))
    shift = mark if fix.span.line == 1 else 0
    line = lines[fix.span.line - 1]
    start, end = fix.span.column - 1 + shift, fix.span.end_column - 1 + shift
    lines[fix.span.line - 1] = line[:start] + fix.text + line[end:]
    return "\n".join(lines)
