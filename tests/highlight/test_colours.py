"""The colours of texts: of Pygments and of the TextMate grammar, held against each other and against the parser."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from pygments.lexers import find_lexer_class_by_name, get_lexer_for_filename
from pygments.token import Error, Keyword, Operator

from thence.dsl.load import library
from thence.dsl.text.parse import keyword_words, read, word_kinds
from thence.highlight.pygments_lexer import TOKENS, ThenceLexer
from thence.highlight.textmate import SCOPES, text
from thence.highlight.words import contextual, keywords

ROOT = Path(__file__).parents[2]
GRAMMAR = ROOT / "editors" / "vscode" / "syntaxes" / "thence.tmLanguage.json"
MODULES = ROOT / "editors" / "vscode" / "node_modules"

SHOWN = """\
# 𝒳 comment with "quotes" and 😀
theory t:
  sort process, message
  sort time ordered
  axiom a: ∀ x. ¬ sent(x) ⇒ x ≠ x
protocol p:
  \"\"\"A documentation string
  # over several lines, with `scope x of y:` in it.\"\"\"
  network lossy, tree
  message M(m: message, n: nat) carries m
  state:
    per: map process to sliding array of nat
    queue: queue of message = empty
  on causal_send(m) when not (m in queue): send M(m, max(1, 2)) to (m.dst)
  on receive M(m, n) from j:
    if n <= 3 and self != j then else
    deliver m; per[j].add(n)
  property causal, fifo
  eventually delivered under weakly fair receive, periodically
mutant edits of p:
  change on causal_send:
    drop send M
  change on receive M:
    drop deliver
"""


def lexed(source: str) -> dict[int, tuple[object, str]]:
    """The tokens of Pygments by their offsets."""
    found = ThenceLexer(stripnl=False, ensurenl=False).get_tokens_unprocessed(source)
    return {offset: (token, value) for offset, token, value in found}


def test_pygments_finds_the_lexer() -> None:
    assert find_lexer_class_by_name("thence") is ThenceLexer
    assert isinstance(get_lexer_for_filename("cykas.thence"), ThenceLexer)


def test_the_words_are_those_of_the_grammar() -> None:
    assert keywords() == keyword_words()
    assert set(contextual()) < keyword_words()


@pytest.mark.parametrize("path", library(), ids=lambda path: path.stem)
def test_the_library_has_colours(path: Path) -> None:
    """No error, nothing left out, and a word has the colour of a keyword just if the parser reads it as one."""
    source = path.read_text(encoding="utf-8")
    tokens = lexed(source)
    assert "".join(tokens[offset][1] for offset in sorted(tokens)) == source
    assert not [value for token, value in tokens.values() if token is Error]
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    words = read(source, path.name).words
    for word, kind in zip(words, word_kinds(words), strict=True):
        if word.type == "DOC" or not str(word)[:1].isalpha():
            continue
        token, value = tokens[starts[word.line - 1] + word.column - 1]
        if value != str(word):
            assert not value.isalpha(), "a symbol of the papers"
            continue
        coloured = (token in Keyword and token is not Keyword.Type) or token is Operator.Word
        assert coloured == (kind != "NAME"), (word.line, value, token, kind)


def test_the_grammar_of_the_extension_is_current() -> None:
    """`python -m thence.highlight.textmate editors/vscode/syntaxes/thence.tmLanguage.json` writes it anew."""
    assert GRAMMAR.read_text(encoding="utf-8") == text()


def test_the_editor_and_pygments_agree(tmp_path: Path) -> None:
    """The grammar is run by the tokenizer of Visual Studio Code; each character has the same colour as by Pygments."""
    node = shutil.which("node")
    if node is None or not (MODULES / "vscode-textmate").is_dir():
        pytest.skip("needs node and the modules of the extension: npm ci in editors/vscode")
    shown = tmp_path / "shown.thence"
    shown.write_text(SHOWN, encoding="utf-8")
    files = [str(path) for path in (*library(), shown)]
    script = Path(__file__).with_name("scopes.mjs")
    run = subprocess.run(
        [node, str(script), str(GRAMMAR), str(MODULES.parent), *files], capture_output=True, text=True, check=True
    )
    scopes = json.loads(run.stdout)
    assert set(scopes) == set(files)
    for file in files:
        source = Path(file).read_text(encoding="utf-8")
        assert by_editor(source, scopes[file]) == by_pygments(source)


def by_pygments(source: str) -> list[str]:
    """The scope of each character that is not blank, in order."""
    scope_of = {TOKENS[colour]: scope for colour, scope in SCOPES.items()}
    found = []
    for _, (token, value) in sorted(lexed(source).items()):
        found += [f"{scope_of[token]} {character}" for character in value if not character.isspace()]  # type: ignore[index]
    return found


def by_editor(source: str, lines: list[list[tuple[int, int, str]]]) -> list[str]:
    """The same by the editor's tokenizer, which counts in UTF-16."""
    found = []
    for line, tokens in zip(source.split("\n"), lines, strict=True):
        units = line.encode("utf-16-le")
        for start, end, scope in tokens:
            part = units[2 * start : 2 * end].decode("utf-16-le")
            found += [f"{scope.removesuffix('.thence')} {one}" for one in part if not one.isspace()]
    return found
