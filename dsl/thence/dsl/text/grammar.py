"""The parse table of `grammar.lark`: built once, then read from the user's cache.

Building it takes about a quarter of a second, reading it a tenth of that. The table is kept as JSON: reading it makes
numbers, texts and lists, and runs nothing (Lark's own cache would be unpickled). Where there is no folder for it, the
table is built each time; a file that does not fit counts as absent. The file's name says which grammar, Python and Lark
it is of.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import lark
from lark.grammar import Rule
from lark.lexer import Lexer, TerminalDef

from thence.dsl.text.vocabulary import SYMBOLS
from thence.spec.cache_folder import cache_folder, read_kept

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
    kept = _kept_file(text)
    if kept is not None:
        with suppress(Exception):  # whatever a damaged table causes, the grammar is there
            return _read(kept, transformer)
    built = lark.Lark(
        text,
        parser="lalr",
        lexer=_NoLexer,
        start="declaration",
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=transformer,
    )
    if kept is not None:
        with suppress(OSError):
            _write(kept, built)
    return built


def keywords(parser: lark.Lark) -> dict[str, str]:
    """The words that the grammar gives a meaning, each with its terminal."""
    patterns = {terminal.pattern.value: terminal.name for terminal in parser.terminals}
    return {word: name for word, name in patterns.items() if word not in SYMBOLS and word.isidentifier()}


def _kept_file(text: str) -> Path | None:
    """The file of the table; None if nothing can be kept."""
    identity = "\n".join((text, lark.__version__, sys.version))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    folder = cache_folder()
    return None if folder is None else folder / f"grammar-{digest}.json"


def _read(path: Path, transformer: lark.Transformer[Any, Any]) -> lark.Lark:
    """The parser of a kept table. Raises whatever comes of a file that is none."""
    data, memo = json.loads(read_kept(path), object_hook=_decoded)
    data["options"]["lexer"] = data["parser"]["lexer_conf"]["lexer_type"] = _NoLexer
    load: Any = lark.Lark._load_from_dict  # as the parsers that Lark writes into files do
    parser: lark.Lark = load(data, memo, transformer=transformer)
    return parser


def _write(path: Path, parser: lark.Lark) -> None:
    """Keeps the table, whole or not at all. Raises OSError."""
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    data["options"] = {**data["options"], "lexer": None, "transformer": None}
    data["parser"]["lexer_conf"]["lexer_type"] = None
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump(_encoded([data, memo]), file)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _encoded(value: Any) -> Any:
    """The value as JSON, in which the keys of objects are texts: a mapping is a list of pairs, marked by its kind."""
    match value:
        case dict():
            return {"d": [[key, _encoded(part)] for key, part in value.items()]}
        case tuple():
            return {"t": [_encoded(part) for part in value]}
        case list():
            return [_encoded(part) for part in value]
        case str() | int() | float() | None:
            return value
    raise OSError(f"a table of Lark has a {type(value).__name__} in it, which is not kept")


def _decoded(value: dict[str, Any]) -> Any:
    """The inverse of `_encoded` for one JSON object whose parts are decoded already."""
    match [*value.items()]:
        case [("d", pairs)]:
            return dict(pairs)
        case [("t", parts)]:
            return tuple(parts)
    raise ValueError("this is no table of Lark")
