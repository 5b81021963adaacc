"""Each protocol and each machine may have a mutant of one name; whoever names one gets that one, or is asked which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from thence.api import explore
from thence.api.inferring import chosen_machines
from thence.api.verifying import run_task, tasks_of
from thence.conformance.systems.protocol_subject import subject_protocol
from thence.dsl.export.regression import violated
from thence.dsl.load import load_bytes
from thence.lsp.tasks import Task
from thence.lsp.worker import answer
from thence.play.backend.searching import compare
from thence.play.backend.summary import summary
from thence.spec.user_error import UserError

PROTOCOL = """
protocol {name}:
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property at_most_once

mutant wrong of {name}:
  on receive MSG(m) from j: {change}
  expect refuted at_most_once with processes 2, sends 1, 0
"""
MACHINE = """
machine {name}:
  transition causal_send(m): pass
  transition deliver(m): require sent(m) and not delivered(m)
  prove at_most_once

mutant wrong of {name}:
  transition deliver(m): require {guard}
  expect refuted at_most_once
"""
TEXT = "".join([
    MACHINE.format(name="one", guard="sent(m)"),
    PROTOCOL.format(name="first", change="deliver m; deliver m"),
    PROTOCOL.format(name="second", change="if m.dst = self: deliver m"),
    MACHINE.format(name="two", guard="sent(m) and not delivered(m)"),
])  # fmt: skip
"""The mutants of `first` and `one` are wrong, those of `second` and `two` are not."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "twice.thence"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_each_is_judged_by_itself(file: Path) -> None:
    found = load_bytes(file, TEXT.encode())
    tasks = [task for task in tasks_of(found, 0, 0) if task.kind in ("mutant", "prove")]
    judged = [result for task in tasks for result in run_task(task) if result.kind == "mutant"]
    verdicts = {(result.subject.partition("/")[0], result.verdict.value, result.expected) for result in judged}
    assert verdicts == {
        ("first", "refuted", True), ("second", "holds", False), ("one", "refuted", True), ("two", "proved", False),
    }  # fmt: skip


def test_one_is_named_with_its_protocol(file: Path) -> None:
    for subject, verdict in (("first", "refuted"), ("second", "holds")):
        (result,) = explore(str(file), mutant=f"{subject}/wrong", properties=("at_most_once",))
        assert (result.subject, result.verdict.value) == (f"{subject}/wrong", verdict)
        assert subject_protocol(f"protocol:{file}#{subject}/wrong").name == subject


@pytest.mark.parametrize(
    "asked",
    [
        lambda file: explore(str(file), mutant="wrong"),
        lambda file: subject_protocol(f"protocol:{file}#wrong"),
        lambda file: compare(load_bytes(file, TEXT.encode()), {"mutant": "wrong"}, "interpreted", lambda said: None),
    ],
)
def test_a_name_of_several_is_refused(file: Path, asked: Callable[[Path], object]) -> None:
    with pytest.raises(UserError, match="several protocols have a mutant wrong; name one of them: first/wrong or sec"):
        asked(file)


def test_infer_takes_no_name_of_several(file: Path) -> None:
    content = load_bytes(file, TEXT.encode()).specification
    assert content is not None
    with pytest.raises(UserError, match="several machines have a mutant wrong"):
        chosen_machines(content, ("wrong",))


def test_a_run_is_replayed_in_the_mutant_of_its_protocol(file: Path) -> None:
    (result,) = explore(str(file), mutant="first/wrong", properties=("at_most_once",))
    settings = ["processes 2", "sends 1, 0"]
    assert "at_most_once" in violated(str(file), "first", "wrong", settings, result.steps)
    with pytest.raises(ValueError, match="no protocol third"):
        violated(str(file), "third", "wrong", settings, result.steps)


def test_the_editor_proves_the_one_that_is_asked_about() -> None:
    for subject, verdict in (("one", "refuted"), ("two", "proved")):
        results = answer(Task("prove", "wrong", subject), "twice.thence", TEXT, 1 << 30, lambda said: None)
        assert {(result.subject.partition("/")[0], result.verdict.value) for result in results} == {(subject, verdict)}


def test_the_player_names_them_apart(file: Path) -> None:
    shown = summary(load_bytes(file, TEXT.encode()))
    assert shown is not None
    names = [mutant["name"] for protocol in shown["protocols"] for mutant in protocol["mutants"]]
    assert names == ["first/wrong", "second/wrong"]
    for name, is_shown in (("first/wrong", True), ("second/wrong", False)):
        asked = {"mutant": name}
        found = compare(load_bytes(file, TEXT.encode()), asked, "interpreted", lambda said: None)
        assert (found["mutant"] is not None) == is_shown
