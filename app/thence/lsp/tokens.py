"""The words of a text with what they mean, for colours that no regular expression can give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from thence.dsl.text.lines import span_of
from thence.dsl.text.parse import word_kinds
from thence.dsl.text.syntax import Span
from thence.lsp.analysis import Analysis
from thence.lsp.naming.symbols import SymbolKind

TokenType: TypeAlias = Literal[
    "namespace", "type", "class", "enumMember", "property", "variable", "parameter", "function", "method", "event",
    "macro", "keyword", "number", "comment", "string", "operator",
]  # fmt: skip

TYPES: tuple[TokenType, ...] = (
    "namespace", "type", "class", "enumMember", "property", "variable", "parameter", "function", "method", "event",
    "macro", "keyword", "number", "comment", "string", "operator",
)  # fmt: skip
"""The types of tokens, in the order in which the protocol numbers them."""

MODIFIERS = ("declaration", "defaultLibrary", "readonly")
"""The modifiers of tokens, in the order of their bits."""

_OF_KIND: dict[SymbolKind, TokenType] = {
    "theory": "namespace", "theorem": "macro", "machine": "class", "protocol": "class", "scope": "namespace",
    "mutant": "class", "scenario": "namespace", "sort": "type", "function": "function", "relation": "function",
    "statement": "macro", "rule": "macro", "transition": "event", "packet kind": "enumMember", "record": "type",
    "handler": "event", "input": "event", "timer": "event",
    "field": "property", "state variable": "variable", "procedure": "function", "definition": "function",
    "named value": "variable",
    "parameter": "parameter", "constant": "variable",
    "variable": "variable", "reference": "variable", "loop variable": "variable", "bound variable": "variable",
    "process": "variable", "message": "variable", "built-in": "variable",
}  # fmt: skip
_READ_ONLY: frozenset[SymbolKind] = frozenset(("parameter", "constant", "loop variable", "bound variable"))


@dataclass(frozen=True, slots=True)
class Token:
    """A word on one line, in characters."""

    span: Span
    type: TokenType
    modifiers: int


def tokens(analysis: Analysis) -> tuple[Token, ...]:
    """The words that have a colour, in the order of the text, none within another."""
    found: dict[tuple[int, int], Token] = {}
    for token in (*_names(analysis), *_words(analysis), *_comments(analysis)):
        found.setdefault((token.span.line, token.span.column), token)
    kept: list[Token] = []
    for place in sorted(found):
        token = found[place]
        last = kept[-1].span if kept else None
        if last is None or (last.end_line, last.end_column) <= place:
            kept.append(token)
    return tuple(kept)


def _names(analysis: Analysis) -> Iterator[Token]:
    for occurrence in analysis.occurrences:
        symbol, span = occurrence.symbol, occurrence.span
        if span.line != span.end_line or span.column >= span.end_column:
            continue
        type_ = _OF_KIND[symbol.kind]
        if symbol.span is None:
            type_ = _of_the_language(symbol.name, symbol.detail)
        bits = (occurrence.declares * 1) | ((symbol.span is None) * 2) | ((symbol.kind in _READ_ONLY) * 4)
        yield Token(span, type_, bits)


def _of_the_language(name: str, detail: str) -> TokenType:
    if name in ("process", "message", "bool", "nat"):
        return "type"
    if name.startswith("."):
        return "method" if name.endswith("()") else "property"
    return "function" if "(" in detail or name in ("max", "min", "some", "window", "sent_by") else "variable"


def _words(analysis: Analysis) -> Iterator[Token]:
    words = analysis.reading.words
    for word, kind in zip(words, word_kinds(words), strict=True):
        span = span_of(word)
        if word.type == "DOC":
            yield from _lines(analysis, span)
        elif kind == "NUMBER":
            yield Token(span, "number", 0)
        elif kind is not None and kind not in ("NAME", "NEWLINE", "INDENT", "DEDENT") and str(word)[:1].isalpha():
            yield Token(span, "keyword", 0)


def _lines(analysis: Analysis, span: Span) -> Iterator[Token]:
    """The lines of a documentation string."""
    lines = analysis.text.removeprefix("\ufeff").split("\n")
    for number in range(span.line, span.end_line + 1):
        if number > len(lines):
            return
        start = span.column if number == span.line else 1
        end = span.end_column if number == span.end_line else len(lines[number - 1].removesuffix("\r")) + 1
        if end > start:
            yield Token(Span(number, start, number, end), "string", 0)


def _comments(analysis: Analysis) -> Iterator[Token]:
    lines = analysis.text.removeprefix("\ufeff").split("\n")
    for comment in analysis.tree.comments:
        end = len(lines[comment.line - 1].removesuffix("\r")) + 1
        yield Token(Span(comment.line, comment.column, comment.line, end), "comment", 0)
