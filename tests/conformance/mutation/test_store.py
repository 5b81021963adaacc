"""Fates that are kept between runs."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.implementations import SHIPPED
from thence.conformance.mutation import lanes
from thence.conformance.mutation.edits import Edit
from thence.conformance.mutation.fate import Fate
from thence.conformance.mutation.lanes import mutate_all
from thence.conformance.mutation.mutants import Mutant
from thence.conformance.mutation.run import Limits, Score, kept, mutate
from thence.conformance.mutation.store import Store
from thence.conformance.mutation.subjects import Subject, context_of, library_subjects, subjects_of
from thence.conformance.systems.subject import load_subject
from thence.dsl.load import load
from thence.dsl.text.syntax import Span

TEXT = """\
protocol told:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    HEARD: set of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    HEARD.add(m)
    deliver m
  property no_creation, at_most_once
  eventually delivered under fair receive

protocol other:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property no_creation
"""


def mutant(text: str) -> Mutant:
    return Mutant(1, "protocol", "p", Edit("x", Span(1, 1, 1, 2), "y", "here"), "x", text, "p.thence")


def test_a_fate_is_kept_for_the_same_text_and_context_only(tmp_path: Path) -> None:
    store = Store(tmp_path, "protocol", "a-p", "everything stated")
    store.keep(mutant("y"), Fate("killed", "by «causal»"), 1.25)
    found = Store(tmp_path, "protocol", "a-p", "everything stated").read()[store.digest(mutant("y"))]
    assert found.fate == Fate("killed", "by «causal»") and found.seconds == 1.25
    assert store.digest(mutant("z")) not in store.read()
    other = Store(tmp_path, "protocol", "a-p", "something else stated")
    assert other.digest(mutant("y")) not in other.read()


def test_a_line_that_was_cut_off_is_no_fate_and_spoils_none(tmp_path: Path) -> None:
    store = Store(tmp_path, "machine", "a-p", "")
    store.keep(mutant("y"), Fate("killed", ""), 0.1)
    [file] = tmp_path.iterdir()
    line = file.read_text(encoding="utf-8")
    file.write_text(line + line[: len(line) // 2], encoding="utf-8")
    store.keep(mutant("z"), Fate("survived", ""), 0.1)
    assert {fate.fate.outcome for fate in store.read().values()} == {"killed", "survived"}
    file.write_text('{"mutant": "a", "outcome": "better", "reason": "", "seconds": 1}\nnull\n', encoding="utf-8")
    assert not store.read()


def test_what_was_judged_is_not_judged_again(tmp_path: Path) -> None:
    file = tmp_path / "told.thence"
    file.write_text(TEXT, encoding="utf-8")
    specification = load(str(file)).specification
    assert specification is not None
    subjects = subjects_of(str(file), specification, None)
    folder = tmp_path / "results"
    folder.mkdir()
    some, why = mutate_all(subjects, Limits(jobs=2, mutants=2), lambda *_: None, folder)
    assert not why and [len(score.judged) for score in some] == [2, 2]
    assert [score.subject for score in some] == ["told", "other"]
    before = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    again, _ = mutate_all(subjects, Limits(jobs=2, mutants=2), lambda *_: None, folder)
    fates = [[(one.mutant, one.fate) for one in score.judged] for score in some]
    assert [[(one.mutant, one.fate) for one in score.judged] for score in again] == fates
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == before
    partly = [kept(subject, folder) for subject in subjects]
    assert [len(score.judged) for score in partly] == [2, 2] and "not judged yet" in partly[0].why_incomplete
    file.write_text(TEXT.replace("no_creation\n", "no_creation, causal\n"), encoding="utf-8")
    assert not kept(subjects[0], folder).judged, "another statement, another question"


def test_a_fault_of_a_lane_is_the_callers(tmp_path: Path) -> None:
    file = tmp_path / "told.thence"
    file.write_text(TEXT, encoding="utf-8")
    specification = load(str(file)).specification
    assert specification is not None
    subjects = subjects_of(str(file), specification, None)
    (tmp_path / "results").touch()
    with pytest.raises(OSError, match="results"):
        mutate_all(subjects, Limits(jobs=2, mutants=1), lambda *_: None, tmp_path / "results")


def test_a_lane_that_is_killed_takes_no_other_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "told.thence"
    file.write_text(TEXT, encoding="utf-8")
    specification = load(str(file)).specification
    assert specification is not None
    subjects = subjects_of(str(file), specification, None)

    def killed(subject: Subject, *given: Any) -> Score:
        if subject.name == "told":
            os.kill(os.getpid(), signal.SIGKILL)
        return mutate(subject, *given)

    monkeypatch.setattr(lanes, "mutate", killed)
    some, why = mutate_all(subjects, Limits(jobs=2, mutants=1), lambda *_: None)
    assert [(score.subject, len(score.judged)) for score in some] == [("other", 1)]
    assert why == "told: the process ended by itself: out of memory, or killed"


def test_the_library_has_each_protocol_once() -> None:
    subjects = library_subjects()
    assert len({(one.kind, one.name) for one in subjects}) == len(subjects)
    assert len([one for one in subjects if one.kind == "implementation"]) == len(SHIPPED)
    assert ("hybrid_basic", "protocol") in {(one.row, one.kind) for one in subjects}
    assert not [one for one in subjects if one.row.endswith("_printed")]


def test_mutants_and_theorems_of_a_file_are_no_part_of_the_context() -> None:
    said = context_of(load("synchronous"))
    assert "machine rendezvous" in said and "scenario mf_figure_1" in said and "scope one_way" in said
    assert "mutant " not in said
    load_subject("thence.impl.mf:MF", 3)
    assert "class MF" in context_of(load("mf"), "thence.impl.mf:MF")
