"""The automaton of `grammar.lark`: made by Lark once, then read from the user's cache.

Lark takes about a quarter of a second to make it, and is needed for nothing else. What is kept is JSON: numbers, texts
and lists, read by nothing that runs them. It has the text of its grammar in it; a file that does not fit counts as
absent, and where there is no folder for it, the automaton is made each time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from thence.dsl.text.automaton import Grammar, Rule
from thence.dsl.text.vocabulary import SYMBOLS
from thence.spec.cache_folder import cache_folder, read_kept

_GRAMMAR = Path(__file__).with_name("grammar.lark")

FORM: Final = 2
"""Of the kept file; another one for whatever else this module writes."""


def load_grammar() -> Grammar:
    """The automaton for one declaration."""
    text = _GRAMMAR.read_text(encoding="utf-8")
    folder = cache_folder()
    kept = None if folder is None else folder / f"grammar-{FORM}-{crc32(text.encode()):08x}.json"
    if kept is not None:
        with suppress(Exception):  # whatever a damaged file causes, the grammar is there
            return _read(kept, text)
    made = _made(text)
    if kept is not None:
        with suppress(OSError):
            _write(kept, made, text)
    return made


def _read(path: Path, text: str) -> Grammar:
    """The kept automaton of a grammar. Raises whatever comes of a file that is none."""
    kept = json.loads(read_kept(path))
    if kept["of"] != text:
        raise ValueError("it is of another grammar")
    rules = tuple(
        Rule(symbol, size, method, alone, tuple(lists)) for symbol, size, method, alone, lists in kept["rules"]
    )
    return Grammar(tuple(kept["rows"]), rules, kept["keywords"], kept["start"], kept["end"])


def _write(path: Path, grammar: Grammar, text: str) -> None:
    """Keeps the automaton, whole or not at all. Raises OSError."""
    rules = [[rule.symbol, rule.size, rule.method, rule.alone, rule.lists] for rule in grammar.rules]
    kept = {
        "of": text, "start": grammar.start, "end": grammar.end, "keywords": grammar.keywords, "rules": rules,
        "rows": grammar.rows,
    }  # fmt: skip
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump(kept, file, separators=(",", ":"))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _made(text: str) -> Grammar:
    """The automaton by Lark."""
    import lark
    from lark.lexer import Lexer

    class NoLexer(Lexer):
        """The words come from `lines.py`."""

        __future_interface__ = 1

        def __init__(self, conf: object) -> None:
            del conf

        def lex(self, lexer_state: object, parser_state: object) -> Iterator[lark.Token]:
            yield from ()

    parser = lark.Lark(
        text, parser="lalr", lexer=NoLexer, start="declaration", keep_all_tokens=True, maybe_placeholders=False
    )
    automaton = parser.parse_interactive(start="declaration").parser_state.parse_conf
    met, rules, rows = [automaton.start_state], dict[Any, int](), list[dict[str, int]]()
    numbers = {automaton.start_state: 0}  # Lark's own differ from one time to the next
    for state in met:
        rows.append({})
        for symbol, (_, target) in sorted(automaton.states[state].items()):
            if isinstance(target, int) and target not in numbers:
                numbers[target] = len(met)
                met.append(target)
            rows[-1][symbol] = numbers[target] if isinstance(target, int) else ~rules.setdefault(target, len(rules))
    patterns = {terminal.pattern.value: terminal.name for terminal in parser.terminals}
    keywords = {word: name for word, name in patterns.items() if word not in SYMBOLS and word.isidentifier()}
    return Grammar(tuple(rows), tuple(map(_rule, rules)), keywords, 0, numbers[automaton.end_state])


def _rule(of: Any) -> Rule:
    """A rule of Lark's. Its names say what it makes: one with `_` in front makes a list for the rule around it."""
    symbol: str = of.origin.name
    lists = [index for index, part in enumerate(of.expansion) if not part.is_term and part.name.startswith("_")]
    alone = of.options.expand1 and not of.alias
    makes_nothing = symbol.startswith("_") or (alone and len(of.expansion) == 1 and not lists)
    return Rule(symbol, len(of.expansion), "" if makes_nothing else of.alias or symbol, alone, tuple(lists))
