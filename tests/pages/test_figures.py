"""The page of the papers' figures: what the library's scenarios are, and what came out of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from thence.dsl.load import library, load
from thence.pages.figures import Figure, figures, figures_of, page, write


@cache
def all_figures() -> tuple[Figure, ...]:
    return figures()


def test_every_figure_is_as_its_text_says() -> None:
    found = all_figures()
    assert len(found) >= 20
    assert all(result.expected for figure in found for result in figure.results)
    assert all(figure.drawing.startswith("<svg") for figure in found)
    assert len({figure.picture for figure in found}) == len(found)


@pytest.mark.parametrize("file", ["mf", "cykas"])
def test_a_file_has_its_page_and_pictures(file: str, tmp_path: Path) -> None:
    found = tuple(figures_of(file, load(file)))
    assert write(tmp_path, found) == 0
    assert (tmp_path / "figures.md").read_text(encoding="utf-8") == page(found)
    there = {f"pictures/{path.name}" for path in (tmp_path / "pictures").iterdir()}
    assert there == {figure.picture for figure in found}
    for figure in found:
        assert f"({figure.picture})" in page(found) and figure.text in page(found)
        assert f"## {file} {figure.scenario.name}" in page(found)


@pytest.mark.long
def test_the_page_has_every_scenario_of_the_library() -> None:
    text = page(all_figures())
    for path in library():
        specification = load(str(path)).specification
        assert specification is not None
        assert all(f"\n## {path.stem} {one.name}\n" in text for one in specification.scenarios)
