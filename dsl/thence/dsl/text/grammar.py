"""The parse table of `grammar.lark`: built once, then read from the user's cache.

Building it takes about a quarter of a second, reading it a tenth of that. The cache is
`$XDG_CACHE_HOME/thence` (or `~/.cache/thence`); where it cannot be written, the table is built each time.
The file's name says which grammar, Python and Lark it is of; Lark checks that again when it reads it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lark
from lark.lexer import Lexer

from thence.dsl.text.vocabulary import SYMBOLS

_GRAMMAR = Path(__file__).with_name("grammar.lark")


class _NoLexer(Lexer):
    """The words come from `lines.py`; they are fed one at a time."""

    __future_interface__ = 1

    def __init__(self, conf: object) -> None:
        del conf

    def lex(self, lexer_state: object, parser_state: object) -> Iterator[lark.Token]:
        yield from ()


def load_parser(transformer: lark.Transformer[Any, Any]) -> lark.Lark:
    """The LALR parser for one declaration, which calls the transformer at each reduction."""
    text = _GRAMMAR.read_text(encoding="utf-8")
    cached = _cache_file(text)
    return lark.Lark(
        text,
        parser="lalr",
        lexer=_NoLexer,
        start="declaration",
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=transformer,
        cache=str(cached) if cached is not None else False,
    )


def keywords(parser: lark.Lark) -> dict[str, str]:
    """The words that the grammar gives a meaning, each with its terminal."""
    patterns = {terminal.pattern.value: terminal.name for terminal in parser.terminals}
    return {word: name for word, name in patterns.items() if word not in SYMBOLS and word.isidentifier()}


def _cache_file(text: str) -> Path | None:
    """The file of the table; None if nothing can be kept."""
    identity = "\n".join((text, lark.__version__, sys.version))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thence"
        root.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return root / f"grammar-{digest}.pickle" if os.access(root, os.W_OK) else None
