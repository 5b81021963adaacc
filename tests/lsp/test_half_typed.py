"""Half-typed text: whatever stands in a file, no feature raises, and all places are within the text."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("pygls")

from lsprotocol.types import Position, Range

from thence.dsl.load import library
from thence.dsl.text.parse import continuations, parse, read, word_kinds
from thence.lsp import completion, conversions, fixes, hover, outline, rename, tokens
from thence.lsp.analysis import Analysis
from thence.lsp.positions import Positions
from thence.lsp.tasks import places
from thence.lsp.verdicts import Verdicts

TEXTS = [path.read_text(encoding="utf-8") for path in library()]
PIECES = (
    "", " ", "\n", "\n\n  ", ":", ".", "(", ")", '"""', "#", "\t", "\r", "\r\n", "😀", "\u2028", "\x0c", "\ufeff", "=",
    ":= ", "@", "forall ", "exists x in ", "if ", "else:", "send ", "on ", "state:", "protocol ", "scope a of b:", "1",
    "expect ", "let x = ", "x.", "0 to ", "…", "∀", "∉", "\0", "\ud800",
)  # fmt: skip


def spoiled(seed: int) -> tuple[str, int]:
    """A text with the place where somebody has just typed: a stretch of a file, with something put in or left out."""
    draw = random.Random(seed)
    text = draw.choice(TEXTS)
    start = draw.randrange(len(text)) if draw.random() < 0.5 else 0
    start = text.rfind("\n", 0, start) + 1
    text = text[start : start + draw.choice((200, 800, 2500))]
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(PIECES) + text[at + draw.choice((0, 0, 1, 5, 40)) :]
    at = draw.randrange(len(text) + 1)
    return (text[:at] if draw.random() < 0.4 else text), at


def check(text: str, at: int) -> None:
    """All features of the text, and of one place in it."""
    analysis, positions = Analysis(text, "spoiled.thence"), Positions(text)
    end = positions.whole().end
    tree, told = parse(text, "spoiled.thence")
    reading = read(text, "spoiled.thence")
    assert reading.diagnostics == told
    assert tree is None or tree == reading.tree
    for fault in analysis.diagnostics:
        inside(conversions.diagnostic(fault, positions).range, end)
        fixes.fixes(analysis, fault)
    for occurrence in analysis.occurrences:
        inside(positions.range(occurrence.span), end)
    assert len(word_kinds(reading.words)) == len(reading.words)
    data = conversions.token_data(tokens.tokens(analysis), positions)
    assert len(data) % 5 == 0 and all(number >= 0 for number in data)
    for entry in outline.outline(analysis):
        shown = conversions.document_symbol(entry, positions)
        inside(shown.range, end)
        assert shown.range.start <= shown.selection_range.start and shown.selection_range.end <= shown.range.end
    assert all(first < last for first, last in outline.folds(analysis))
    places(analysis)
    list(Verdicts(lambda uri: None).lenses("file:///spoiled", analysis, positions))
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    hover.explain(analysis, line, column)
    completion.completions(analysis, line, column)
    continuations(text[:at])
    try:
        found = rename.renamable(analysis, line, column)
        rename.renamed(analysis, found.symbol, "renamed")
    except rename.RenameRefused:
        pass


def inside(found: Range, end: Position) -> None:
    assert Position(0, 0) <= found.start <= found.end <= end, (found, end)


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_no_feature_raises(seed: int) -> None:
    for one in range(seed, seed + 8):
        check(*spoiled(one))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 3000, 50))
def test_no_feature_raises_ever(seed: int) -> None:
    for one in range(seed, seed + 50):
        check(*spoiled(one))


@pytest.mark.parametrize(
    "text", ["", "\n", "\ufeff", "#", '"""', "protocol", "protocol p:", "x" * 20_000, "(" * 300, "\r"]
)
def test_small_texts(text: str) -> None:
    check(text, len(text))


def test_one_library_file_as_it_is_typed() -> None:
    """Every tenth beginning of a file."""
    text = TEXTS[-1][:1200]
    for end in range(0, len(text), 61):
        check(text[:end], end)
