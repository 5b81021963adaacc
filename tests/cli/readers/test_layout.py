"""Columns fit the width, and no word is broken."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.cli.readers.colours import Ink, bare
from thence.cli.readers.layout import Entry, fitted, grid, laid_out, length, wrapped

WORDS = st.text("abcdefghijklmnop_:.,äß漢", min_size=1, max_size=30)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
WIDTHS = st.integers(60, 200)


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=6), min_size=1, max_size=6), WIDTHS, st.sampled_from([0, 2, 4]))
def test_rows_fit_and_words_stay_whole(texts: list[list[str]], width: int, indent: int) -> None:
    rows = laid_out([[Entry(text) for text in row] for row in texts], width, bare, indent=indent)
    lines = [line for row in rows for line in row]
    assert all(length(line) <= width or len(line.split()) == 1 for line in lines)
    for row, given_ in zip(rows, texts, strict=True):
        assert Counter(" ".join(row).split()) == Counter(" ".join(given_).split())


@given(TEXTS, WIDTHS)
def test_wrapped_keeps_the_words_in_order(text: str, width: int) -> None:
    assert " ".join(wrapped(text, width)).split() == text.split()


@given(st.lists(TEXTS.map(lambda text: f"    {text}"), max_size=4), WIDTHS)
def test_fitted_texts_keep_their_words_and_their_diagrams(lines: list[str], width: int) -> None:
    found = fitted("\n".join([*lines, "p0 " + "─" * 300]), width)
    assert found[-1] == "p0 " + "─" * 300
    assert all(length(line) <= width or len(line.split()) == 1 for line in found[:-1])
    assert " ".join(found[:-1]).split() == " ".join(lines).split()


@given(st.integers(1, 14), st.integers(1, 5), WIDTHS)
def test_a_grid_fits_and_says_each_number_once(columns: int, rows: int, width: int) -> None:
    table = [["system", *(f"heading{at}" for at in range(columns))]]
    table += [[f"row{row}", *(f"{row}.{at}" for at in range(columns))] for row in range(rows)]
    lines = grid(table, width)
    assert all(len(line) <= width for line in lines)
    said = Counter(" ".join(lines).split())
    assert all(said[number] == 1 for row in table[1:] for number in row[1:])


def test_columns_are_under_each_other_whatever_their_ink() -> None:
    rows = laid_out(
        [[Entry("causal"), Entry("refuted", Ink.BAD), Entry("L1")], [Entry("x"), Entry("holds"), Entry("L1")]],
        80,
        lambda text, ink: f"\x1b[1m{text}\x1b[0m" if ink is Ink.BAD else text,
    )
    assert rows == [["causal  \x1b[1mrefuted\x1b[0m  L1"], ["x       holds    L1"]]


def test_where_columns_do_not_fit_a_row_has_lines_of_its_own() -> None:
    row = [Entry("a" * 40), Entry("refuted"), Entry("L1"), Entry("b" * 40)]
    assert laid_out([row], 60, bare) == [["a" * 40, "  refuted  L1  " + "b" * 40]]


@pytest.mark.parametrize(("text", "columns"), [("causal", 6), ("漢字", 4), ("e\u0301", 1)])
def test_length_in_columns(text: str, columns: int) -> None:
    assert length(text) == columns
