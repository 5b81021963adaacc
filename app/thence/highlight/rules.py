r"""The colours of a text: an ordered list of regular expressions, of which the first that matches a place counts.

A rule gives a colour to the whole match, or one to each of its groups, which then follow one another without gaps. The
expressions mean the same to Python and to Oniguruma, line by line: `^` and `$` are the ends of a line, lookbehinds have
a fixed length. Documentation strings go over several lines, and are the lexers' own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from thence.dsl.text.vocabulary import TOP_LEVEL
from thence.highlight.words import (
    CONSTANTS,
    CONTROL,
    FUNCTIONS,
    LOGIC,
    NAMING,
    ONLY_BEFORE,
    PAPER,
    PROPERTIES,
    TYPES,
    contextual,
)

Colour: TypeAlias = Literal[
    "comment", "doc", "number", "declaration", "keyword", "control", "logic", "constant", "type", "declared", "builtin",
    "self", "property", "name", "operator", "punctuation", "blank",
]  # fmt: skip

NAME = r"[A-Za-z_]\w*"
DOC = '"""'


@dataclass(frozen=True, slots=True)
class Rule:
    """An expression and the colour of its match; several colours are of its groups."""

    pattern: str
    colours: tuple[Colour, ...]


def _any(words: tuple[str, ...]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


@cache
def rules() -> tuple[Rule, ...]:
    """The rules, in the order in which they are tried."""
    words, top, naming = _any(PROPERTIES), _any(TOP_LEVEL), _any(NAMING)
    listed, named = rf"(?!(?:{words}) *(?:,|$|#))", r"(?= *[(:,]| *$| +(?:carries|ordered)\b)"
    used_as_name = r"(?! *(?::=|[\[@])|\(|\.[A-Za-z])"
    return (
        Rule(r"#.*", ("comment",)),
        Rule(rf"^({top})( +)({NAME})", ("declaration", "blank", "declared")),
        Rule(rf"^(?:{top})\b", ("declaration",)),
        Rule(r" +", ("blank",)),
        Rule(rf"(on)( +)(receive)( +)({NAME})", ("keyword", "blank", "keyword", "blank", "declared")),
        Rule(rf"({naming})( +){listed}({NAME}){named}", ("keyword", "blank", "declared")),
        Rule(rf"(?<![.@\w])(?:{_any(LOGIC)})\b", ("logic",)),
        Rule(rf"(?<![.@\w])(?:{_any(CONSTANTS)})\b", ("constant",)),
        Rule(rf"(?<![.@\w])(?:{_any(CONTROL)})\b", ("control",)),
        *(Rule(rf"(?<![.@\w]){word}\b(?:{condition})", ("keyword",)) for word, condition in ONLY_BEFORE.items()),
        Rule(rf"(?<![.@\w])(?:{_any(contextual())})\b{used_as_name}", ("keyword",)),
        Rule(r"(?<![.@\w])self\b", ("self",)),
        Rule(rf"(?<![.@\w])(?:{_any(TYPES)})\b(?! *\()", ("type",)),
        Rule(rf"(?<![.@\w])(?:{_any(FUNCTIONS)})\b(?= *\()", ("builtin",)),
        Rule(rf"(?<![.@\w])(?:{_any(PROPERTIES)})\b(?! *[(:=.\[])", ("property",)),
        Rule(NAME, ("name",)),
        Rule(r"[0-9]+", ("number",)),
        Rule(rf":=|\.\.\.|!=|<=|>=|[=<>+\-@{PAPER}]", ("operator",)),
        Rule(r"[:,;.()\[\]{}]", ("punctuation",)),
    )  # fmt: skip
