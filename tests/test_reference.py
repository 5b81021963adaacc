"""The reference of the language is complete: every construct has a word on the page, and an example that is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from thence.dsl.check.terms.queries import ATTRIBUTES
from thence.dsl.text import parse as parsing
from thence.dsl.text.trees.declarations import Builder
from thence.dsl.text.vocabulary import RESERVED

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "language.md"
GRAMMAR = (ROOT / "dsl" / "thence" / "dsl" / "text" / "grammar.lark").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^```thence\n(.*?)^```", re.MULTILINE | re.DOTALL)

METHODS = (
    "push", "pop", "add", "remove", "clear", "size", "first", "next", "peek", "value", "window", "max", "min", "some",
)  # fmt: skip
PROPERTIES = (
    "causal", "fifo", "csps", "sps", "total_order", "at_most_once", "no_creation", "delivered", "deadlock_free",
    "completes", "fault",
)  # fmt: skip


def rules() -> set[str]:
    """The rules of the grammar, by the names that the parser reports; those that it folds away are not among them."""
    found = set()
    for name, body in re.findall(r"^([a-z]\w*): *(.*(?:\n +.*)*)", re.sub(r"//.*", "", GRAMMAR), re.MULTILINE):
        alternatives = re.split(r"\n *\| ", body)
        found |= {name} if any("->" not in each for each in alternatives) else set()
    return found | set(re.findall(r"-> (\w+)", GRAMMAR))


def keywords() -> set[str]:
    return set(re.findall(r'"([a-z_]+)"', re.sub(r"//.*", "", GRAMMAR))) | RESERVED


@pytest.fixture
def reduced(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The rules that the parser reduces from here on."""
    seen: set[str] = set()

    class Recording(Builder):
        def __getattribute__(self, name: str) -> Any:
            found = super().__getattribute__(name)
            return noted(name, found) if name in rules() else found

    def noted(name: str, found: Callable[..., Any]) -> Callable[..., Any]:
        def reduce(*arguments: Any) -> Any:
            seen.add(name)
            return found(*arguments)

        return reduce

    monkeypatch.setattr(parsing, "Builder", Recording)
    monkeypatch.setattr(parsing._per_thread, "making", None)
    yield seen
    monkeypatch.setattr(parsing._per_thread, "making", None)


def test_every_construct_has_an_example(reduced: set[str]) -> None:
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    for text in examples:
        tree, faults = parsing.parse(text, "example.thence")
        assert tree is not None, faults
    assert rules() - reduced == set()


@pytest.mark.parametrize("word", sorted({*keywords(), *METHODS, *PROPERTIES, *ATTRIBUTES}))
def test_every_word_of_the_language_is_explained(word: str) -> None:
    """In prose or a table, as code; an example alone does not explain it."""
    text = re.sub(r"^```.*?^```$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    spoken = " ".join(re.findall(r"`([^`\n]+)`", text))
    assert re.search(rf"(?<!\w){word}(?!\w)", spoken)
