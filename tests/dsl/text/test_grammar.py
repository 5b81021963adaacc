"""The automaton of the grammar: what Lark makes of it is what is kept, and means what Lark means."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer

from thence.dsl.load import benchmarks, library
from thence.dsl.text import grammar
from thence.dsl.text.automaton import kind_in_place, take, update_colon
from thence.dsl.text.lines import read_lines
from thence.dsl.text.parse import _cut, _end_behind
from thence.dsl.text.trees.declarations import Builder

from .test_parse import TEXTS, slipped


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "thence"


def test_without_a_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    unwritable = tmp_path / "a file"
    unwritable.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(unwritable))
    assert "forall" in grammar.load_grammar().keywords


def test_a_damaged_file_is_made_anew(folder: Path) -> None:
    made = grammar.load_grammar()
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    assert grammar.load_grammar() == made
    assert kept.read_bytes() == whole


def test_what_is_kept_is_the_grammar(folder: Path) -> None:
    made = grammar.load_grammar()
    (kept,) = folder.iterdir()
    text = json.loads(kept.read_bytes())["of"]
    assert grammar._read(kept, text) == made
    with pytest.raises(ValueError, match="another grammar"):
        grammar._read(kept, text.replace("forall", "foreach"))


def test_a_kept_file_is_not_code(folder: Path, tmp_path: Path) -> None:
    """A pickled object in the place of the automaton runs nothing, and the automaton is made."""
    made = grammar.load_grammar()
    (kept,) = folder.iterdir()
    canary = tmp_path / "canary"
    for content in (pickle.dumps(_Touch(canary)), b"x\n" + pickle.dumps(_Touch(canary)), b"[[[[", b'{"d": 1}', b"[]"):
        kept.write_bytes(content)
        assert grammar.load_grammar() == made
        assert not canary.exists()


class _Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.path,))


# --- held against Lark ---------------------------------------------------------------------------


class _NoLexer(Lexer):
    __future_interface__ = 1

    def __init__(self, conf: object) -> None:
        del conf

    def lex(self, lexer_state: object, parser_state: object) -> Iterator[lark.Token]:
        yield from ()


class _LarkBuilder(Builder, lark.Transformer[Any, Any]):
    """The same methods, called by Lark."""

    def __init__(self) -> None:
        lark.Transformer.__init__(self)
        Builder.__init__(self)


@cache
def by_lark() -> tuple[lark.Lark, _LarkBuilder]:
    """Lark's own parser, with Lark's way to make the values of rules."""
    builder = _LarkBuilder()
    parser = lark.Lark(
        grammar._GRAMMAR.read_text(encoding="utf-8"), parser="lalr", lexer=_NoLexer, start="declaration",
        keep_all_tokens=True, maybe_placeholders=False, transformer=builder,
    )  # fmt: skip
    return parser, builder


def check_as_lark_does(text: str) -> int:
    """Takes each declaration's words as far as they fit, by both; the number of trees that come of it."""
    automaton, builder = grammar.load_grammar(), Builder()
    makers = [rule.maker(builder) for rule in automaton.rules]
    parser, of_lark = by_lark()
    trees = 0
    for chunk in _cut(read_lines(text, "x").words):
        builder.begin("x", {})
        of_lark.begin("x", {})
        words = [*chunk, _end_behind(chunk[-1])]
        state = parser.parse_interactive(start="declaration").parser_state
        stack, values = [automaton.start], list[Any]()
        for index, word in enumerate(words):
            if word.type != "$END":
                word.type = kind_in_place(automaton, stack, words, index)
                colon = update_colon(words, index) if word.type == "EACH" else None
                if colon is not None:
                    words[colon].type = "EACH_COLON"
            fits = take(automaton, makers, stack, values, word)
            assert fits == _feeds(state, word)
            trees += fits and word.type == "$END"
            if not fits:
                break
        assert values == _unwrapped(state.value_stack)
        assert builder.faults == of_lark.faults
        assert builder.bare_lines == of_lark.bare_lines
    return trees


def _feeds(state: Any, word: Any) -> bool:
    try:
        state.feed_token(word, is_end=word.type == "$END")
    except UnexpectedToken:
        return False
    return True


def _unwrapped(values: list[Any]) -> list[Any]:
    """The values with lists in the place of Lark's trees, which stand for them."""
    return [_unwrapped(value.children) if isinstance(value, lark.Tree) else value for value in values]


@pytest.mark.parametrize("path", [*library(), *benchmarks()], ids=lambda path: path.stem)
def test_trees_of_files_are_those_of_lark(path: Path) -> None:
    assert check_as_lark_does(path.read_text(encoding="utf-8")) > 0


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.sampled_from(TEXTS), st.data())
def test_trees_of_texts_with_slips_are_those_of_lark(text: str, data: st.DataObject) -> None:
    check_as_lark_does(slipped(text, data))
