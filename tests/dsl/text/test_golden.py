"""Every code shows in a fixture named after it: what is said about a faulty text, word by word.

`THENCE_GOLDEN=write` rewrites the expected texts; read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from thence.dsl.check.elaborate import elaborate
from thence.dsl.text.diagnostics import CODES, Diagnostic, render_all
from thence.dsl.text.explanations import explanation, near_codes, render_catalogue, words
from thence.dsl.text.parse import decode, parse

GOLDEN = Path(__file__).parent / "golden"
FIXTURES = sorted(GOLDEN.glob("[EW]*.thence"))
# A megabyte of text, and fifty faults of other codes: `test_parse.py` has these.
WITHOUT_FIXTURE = {"E0150", "E0153"}


def diagnose(data: bytes, file: str) -> tuple[str, tuple[Diagnostic, ...]]:
    text, diagnostics = decode(data, file)
    if text is None:
        return data.decode("utf-8", "replace"), diagnostics
    tree, diagnostics = parse(text, file)
    if tree is not None:
        _, later = elaborate(tree, file)
        diagnostics += later
    return text, diagnostics


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_diagnostics_of_fixture(fixture: Path) -> None:
    text, diagnostics = diagnose(fixture.read_bytes(), fixture.name)
    rendered = render_all(diagnostics, text)
    expected = fixture.with_suffix(".txt")
    if os.environ.get("THENCE_GOLDEN") == "write":
        expected.write_text(rendered, encoding="utf-8")
    assert diagnostics, "a fixture shows a fault"
    assert diagnostics[0].code == fixture.name[:5]
    assert rendered == expected.read_text(encoding="utf-8")


def test_every_code_has_a_fixture() -> None:
    shown = {fixture.name[:5] for fixture in FIXTURES}
    assert shown | WITHOUT_FIXTURE == set(CODES)


def test_catalogue_page_is_current() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "errors.md"
    if os.environ.get("THENCE_GOLDEN") == "write":
        page.write_text(render_catalogue(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == render_catalogue()


# A byte that is no text, a megabyte of text, a line of ten thousand characters: none of them is worth showing.
WITHOUT_EXAMPLE = {"E0101", "E0150", "E0151", "E0152", "E0153"}


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_code_is_explained_by_a_wrong_and_a_right_example(code: str) -> None:
    found = explanation(code)
    assert found is not None
    assert found.title == CODES[code]
    assert found.why.endswith(".")
    assert bool(found.wrong) == bool(found.right) == (code not in WITHOUT_EXAMPLE)
    if found.wrong:
        _, wrong = diagnose(found.wrong.encode(), "wrong")
        _, right = diagnose(found.right.encode(), "right")
        assert {diagnostic.code for diagnostic in wrong} == {code}
        assert right == ()


def test_words_and_misspelt_codes_are_explained() -> None:
    assert {"proved", "holds", "tested", "refuted", "unknown", "refused", "vacuous", "lasso", "L0", "L4"} <= set(
        words()
    )
    assert explanation("e0131") == explanation("E0131") != explanation("`E0114`") == explanation("E0114")
    assert explanation("l3") == explanation("L3") is not None
    assert explanation("E0199") is None
    assert near_codes("E0123x") == ()
    assert all(code.startswith("E01") for code in near_codes("E0139"))
    assert near_codes("provd") == ("proved",)
