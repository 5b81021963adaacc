"""Why mutants survive, in words that are held to what happens; and the page that says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.conformance.mutation.edits import Edit, applied
from thence.conformance.mutation.explanations import change_of, explained, library_explanations, read, unused
from thence.conformance.mutation.fate import Fate, Outcome
from thence.conformance.mutation.mutants import Mutant
from thence.conformance.mutation.run import Score, mutants_of
from thence.conformance.mutation.subjects import library_subjects
from thence.conformance.mutation.workers import Judged
from thence.dsl.text.syntax import Span
from thence.pages import mutation as library_page
from thence.pages.mutation import page

TEXT = "protocol p:\n  on causal_send(m):\n    OB.push(m)\n    try()\n"
EXPLAINED = """
[[explained]]
file = "f"
subject = "p"
changes = ['''
-   try()
+ pass
''']
why = "Somebody
 else tries."
""".replace('"Somebody\n else', '"Somebody else')


def judged(outcome: Outcome, line: int = 4, number: int = 1) -> Judged:
    edit = Edit("skip statement", Span(line, 5, line, len(TEXT.split("\n")[line - 1]) + 1), "pass", "on causal_send")
    return Judged(
        Mutant(number, "protocol", "p", edit, TEXT, applied(TEXT, edit), "f.thence"), Fate(outcome, "because"), 0.5
    )


def score(*mutants: Judged) -> Score:
    return Score("f", "protocol", "p", 3, 3, mutants, (), 1.0)


def test_a_survivor_is_explained_by_its_change() -> None:
    explanations = read(EXPLAINED)
    assert change_of(judged("survived")) == "- try()\n+ pass"
    assert explained(judged("survived"), "f", explanations) == "Somebody else tries."
    assert explained(judged("survived", line=3), "f", explanations) == ""
    assert explained(judged("survived"), "g", explanations) == ""


def test_an_explanation_of_what_does_not_survive_is_an_error() -> None:
    explanations = read(EXPLAINED)
    assert not unused(explanations, [("f", judged("survived"))])
    [stale] = unused(explanations, [("f", judged("survived", line=3))])
    assert "try()" in stale


def test_a_faulty_file() -> None:
    with pytest.raises(ValueError, match="why"):
        read(EXPLAINED.replace("why =", "reason ="))


def test_the_page() -> None:
    alive = judged("survived")
    text = page([score(alive, judged("killed", 3, 2), judged("equal", 3, 3))], read(EXPLAINED))
    assert "| f | protocol `p` | 3 | 1 | 1 | 0 | 1 | 50.0 % |" in text
    assert "*Somebody else tries.*" in text and "- try()\n+ pass" in text
    assert "Of the 1 mutants that are not killed, 1 are explained below." in text
    assert "Not explained." in page([score(alive)], ()) and "judged 1 of 3" in page([score(alive)], ())


def test_the_page_is_refused_where_an_explanation_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(library_page, "library_explanations", lambda: read(EXPLAINED))
    monkeypatch.setattr(library_page, "library_scores", lambda _folder: [score(judged("survived"))])
    assert library_page.make(tmp_path, [tmp_path]) == 0
    monkeypatch.setattr(library_page, "library_scores", lambda _folder: [score(judged("killed"))])
    assert library_page.make(tmp_path, [tmp_path]) == 1
    assert "does not survive" in capsys.readouterr().err and (tmp_path / "mutation-library.md").exists()


@pytest.mark.long
def test_what_the_library_explains_are_mutants_of_it() -> None:
    subjects = {(subject.row, subject.name): subject for subject in library_subjects()}
    there: dict[tuple[str, str], set[str]] = {}
    for known in library_explanations():
        named = known.row, known.subject
        if named not in there:
            mutants, _ = mutants_of(subjects[named])
            there[named] = {change_of(Judged(mutant, Fate("survived", ""), 0)) for mutant in mutants}
        assert known.why and known.changes and there[named].issuperset(known.changes), named
