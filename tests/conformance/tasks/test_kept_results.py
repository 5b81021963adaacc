"""Kept results come back as they were, and are never those of another task, text or program."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.conformance.tasks import kept_results
from thence.conformance.tasks.kept_results import KeptResults, json_of, results_of
from thence.spec.verdict import Level, Result, Verdict

TEXTS = st.text(max_size=8)
FACTS = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXTS, part, max_size=3),
    max_leaves=6,
)
RESULTS = st.builds(
    Result, TEXTS, st.sampled_from(["scope", "mutant"]), TEXTS, st.sampled_from(Verdict), st.sampled_from(Level),
    st.booleans(), st.floats(0, 100), st.dictionaries(TEXTS, FACTS, max_size=3), TEXTS, TEXTS,
    st.none() | st.sampled_from(Verdict),
)  # fmt: skip
HOLDS = Result("two: causal", "scope", "mf", Verdict.HOLDS, Level.L1, True, 1.5, {"states": 7}, wanted=Verdict.HOLDS)
ABOUT = ("scope", "mf", b"protocol mf")


@given(st.lists(RESULTS, max_size=3))
def test_results_come_back(results: list[Result]) -> None:
    assert results_of(json.loads(json.dumps([json_of(result) for result in results]))) == tuple(results)


def test_what_is_kept_is_found_for_the_same_task_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptResults(tmp_path)
    kept.keep(ABOUT, [HOLDS])
    assert kept.read(ABOUT) == (HOLDS,)
    others = [
        ("link", "mf", b"protocol mf"),
        ("scope", "mf", b"protocol mg"),
        ("scope", "mfp", b"rotocol mf"),
        ABOUT[:2],
    ]
    assert [kept.read(other) for other in others] == [None] * 4
    monkeypatch.setattr(kept_results, "program", lambda: "another program")
    assert kept.read(ABOUT) is None


def test_the_program_is_every_file_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(kept_results.thence, "__path__", [str(tmp_path)])
    kept_results.program.cache_clear()
    before = kept_results.program()
    for change in (lambda: (tmp_path / "a.py").write_text("x = 2\n"), lambda: (tmp_path / "b.thence").write_text("")):
        change()
        kept_results.program.cache_clear()
        assert kept_results.program() != before
    kept_results.program.cache_clear()


def test_an_unexpected_unknown_is_tried_again(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path)
    late = replace(HOLDS, verdict=Verdict.UNKNOWN, expected=False)
    kept.keep(ABOUT, [HOLDS, late])
    assert kept.read(ABOUT) is None
    kept.keep(ABOUT, [HOLDS, replace(late, expected=True, wanted=Verdict.UNKNOWN)])
    assert kept.read(ABOUT) is not None


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": "thence-task/2"}', '{"format": "other", "results": []}'])
def test_a_damaged_file_is_no_result(tmp_path: Path, damage: str) -> None:
    kept = KeptResults(tmp_path)
    kept.keep(ABOUT, [HOLDS])
    (file,) = tmp_path.iterdir()
    file.write_text(damage)
    assert kept.read(ABOUT) is None


def test_a_flipped_bit_is_no_result(tmp_path: Path) -> None:
    """Or it changes nothing, such as the place of a blank."""
    kept = KeptResults(tmp_path)
    kept.keep(ABOUT, [HOLDS])
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for bit in range(8 * len(whole)):
        file.write_bytes((int.from_bytes(whole, "little") ^ 1 << bit).to_bytes(len(whole), "little"))
        assert kept.read(ABOUT) in (None, (HOLDS,))
    kept.keep(("another",), [])
    other = next(path for path in tmp_path.iterdir() if path != file)
    other.replace(file)
    assert kept.read(ABOUT) is None


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "kept")
    (tmp_path / "kept").mkdir()
    kept.keep(ABOUT, [HOLDS])
    (file,) = (tmp_path / "kept").iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert kept.read(ABOUT) is None
