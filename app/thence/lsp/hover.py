"""The explanation of what stands at a place: its type and declaration, its documentation, the meaning of a keyword."""

from __future__ import annotations

from dataclasses import dataclass

from thence.dsl.ir.types import Type
from thence.dsl.text.lines import Word, span_of
from thence.dsl.text.parse import word_kinds
from thence.dsl.text.syntax import Span
from thence.dsl.text.vocabulary import PAPER_SYMBOLS
from thence.lsp.analysis import Analysis
from thence.lsp.naming.explanations import BUILT_IN, KEYWORDS, MARKERS
from thence.lsp.naming.symbols import Occurrence, Symbol
from thence.lsp.positions import contains


@dataclass(frozen=True, slots=True)
class Explained:
    """Markdown about a stretch of the text."""

    markdown: str
    span: Span


def explain(analysis: Analysis, line: int, column: int) -> Explained | None:
    """What stands at a place; None where there is nothing to say."""
    found = analysis.occurrence_at(line, column)
    if found is not None:
        return Explained(_of_occurrence(analysis, found), found.span)
    return _of_word(analysis, line, column)


def _of_occurrence(analysis: Analysis, occurrence: Occurrence) -> str:
    symbol, type_ = occurrence.symbol, analysis.types.get(occurrence.span)
    if symbol.span is None:
        key = symbol.name
        written = f"{_shown(symbol.detail)}: {type_}" if type_ is not None else symbol.detail
        return "\n\n".join(part for part in (_code(written), BUILT_IN.get(key, "")) if part)
    within = f" of `{symbol.within}`" if symbol.within else ""
    article = f"{symbol.kind}{within}"
    return "\n\n".join(part for part in (_code(declared(symbol, type_)), f"*{article}*", symbol.doc) if part)


def _shown(detail: str) -> str:
    return detail.partition(":")[0]


def declared(symbol: Symbol, type_: Type | None) -> str:
    """The declaration of a symbol in one line, with its type where the text does not say it."""
    known = symbol.detail or symbol.name
    if ":" in known or type_ is None or known != symbol.name:
        return known
    return f"{known}: {type_}"


def _code(text: str) -> str:
    return f"```thence\n{text}\n```" if text else ""


def _of_word(analysis: Analysis, line: int, column: int) -> Explained | None:
    words = analysis.reading.words
    kinds = word_kinds(words)
    for word, kind in zip(words, kinds, strict=True):
        if not contains(span_of(word), line, column) or word.type in ("NEWLINE", "INDENT", "DEDENT", "DOC"):
            continue
        text = _keyword(word, kind)
        if text is not None:
            return Explained(text, span_of(word))
    return None


def _keyword(word: Word, kind: str | None) -> str | None:
    """The explanation of a keyword or symbol; None for names and what needs none."""
    text = str(word)
    if text in MARKERS:
        return MARKERS[text]
    if text not in KEYWORDS or kind == "NAME":
        return None
    papers = " or ".join(f"`{sign}`" for sign, reading in PAPER_SYMBOLS.items() if reading == text)
    also = f" Also written {papers}." if papers else ""
    return f"{_code(text)}\n\n{KEYWORDS[text]}{also}"
