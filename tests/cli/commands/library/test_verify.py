"""`thence verify`: what states nothing is no success, and a protocol without a scope is explored all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thence.api.verifying import tasks_of
from thence.dsl.load import library, load

Thence = Callable[..., Any]

PROTOCOL = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
"""
NOTHING = {
    "theory": "theory t:\n  sort a\n",
    "protocol": PROTOCOL,
    "machine": "machine m:\n  state:\n    x(m: message): bool\n  transition causal_send(m): pass\n",
}


def verify(thence: Thence, name: str, *options: str) -> Any:
    return thence("verify", name, "--campaign-cases", "0", *options)


@pytest.mark.parametrize("name", ["theory", "protocol"])
def test_a_file_that_states_nothing_is_bad_input(thence: Thence, tmp_path: Path, name: str) -> None:
    (tmp_path / "nothing.thence").write_text(NOTHING[name], encoding="utf-8")
    assert verify(thence, "nothing.thence").rejects("nothing is stated", "nothing.thence")


def test_one_of_several_files_that_states_nothing_is_named(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "nothing.thence").write_text(PROTOCOL, encoding="utf-8")
    (tmp_path / "something.thence").write_text(f"{PROTOCOL}  property at_most_once\n", encoding="utf-8")
    assert verify(thence, "something.thence").code == 0
    assert thence("verify", "something.thence", "nothing.thence", "--campaign-cases", "0").rejects("nothing.thence")


def test_a_protocol_without_a_scope_is_explored(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "broken.thence").write_text(f"{PROTOCOL}  property causal, fifo\n", encoding="utf-8")
    ran = verify(thence, "broken.thence")
    assert ran.code == 1
    assert "3 processes, sends 2, 1, 1" in " ".join(ran.out.split())
    found = verify(thence, "broken.thence", "--json").object
    assert {one["property"]: one["verdict"] for one in found["results"]} == {
        "causal": "refuted", "fifo": "refuted", "fault": "holds",
    }  # fmt: skip


def test_what_a_scope_does_not_try_is_said(thence: Thence, tmp_path: Path) -> None:
    text = PROTOCOL.replace("reliable,", "lossy, duplicating,") + "  property no_creation, fifo\n"
    (tmp_path / "faulty.thence").write_text(f"{text}\nscope one of p:\n  processes 2\n  sends 1, 1\n", encoding="utf-8")
    results = verify(thence, "faulty.thence", "--json").object["results"]
    assert all(one["not_tried"] == ["loss", "duplication"] for one in results)
    weak = {one["property"]: one.get("cannot_refute", "") for one in results}
    assert "no process sends two messages" in weak["fifo"]
    assert weak["no_creation"] == ""
    said = " ".join(thence("explore", "faulty.thence").out.split())
    assert "cannot be refuted here: no process sends two messages" in said


def test_scopes_of_one_name_are_judged_each_in_its_protocol(thence: Thence, tmp_path: Path) -> None:
    """The second scope expects what is true of the second protocol only."""
    reordering = f"{PROTOCOL}  property fifo\n\nscope pair of p:\n  processes 2\n  sends 2, 0\n  expect refuted fifo\n"
    ordered = PROTOCOL.replace("protocol p", "protocol q").replace("reordering", "fifo")
    text = f"{reordering}{ordered}  property fifo\n\nscope pair of q:\n  processes 2\n  sends 2, 0\n"
    (tmp_path / "two.thence").write_text(text, encoding="utf-8")
    ran = verify(thence, "two.thence", "--json")
    assert ran.code == 0
    found = {(one["subject"], one["property"]): one["verdict"] for one in ran.object["results"]}
    assert found == {
        ("p", "fifo"): "refuted", ("p", "fault"): "holds", ("q", "fifo"): "holds", ("q", "fault"): "holds",
    }  # fmt: skip


def test_kept_results_are_taken_and_an_edited_file_is_judged_anew(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(f"{PROTOCOL}  property at_most_once\n", encoding="utf-8")
    first = verify(thence, "mine.thence", "--results", "kept", "--json").object
    again = verify(thence, "mine.thence", "--results", "kept", "--json").object
    assert again["results"] == first["results"]  # with their seconds
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_text(kept.read_text().replace('"states": ', '"states": 9000'))
    damaged = verify(thence, "mine.thence", "--results", "kept", "--json").object
    assert [one["states"] for one in damaged["results"]] == [one["states"] for one in first["results"]]
    file.write_text(f"{PROTOCOL}  property at_most_once, fifo\n", encoding="utf-8")
    anew = verify(thence, "mine.thence", "--results", "kept", "--json").object
    assert [one["states"] for one in anew["results"][:1]] == [first["results"][0]["states"]]
    assert "refuted" in {one["verdict"] for one in anew["results"]}


def test_a_place_for_results_that_is_a_file_is_bad_input(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    assert verify(thence, "mf", "--results", "kept").rejects("kept")


TWO = f"""{PROTOCOL}  property at_most_once, fifo

scope one of p:
  processes 2
  sends 1, 0

scope other of p:
  processes 2
  sends 2, 0

mutant twice of p:
  on receive MSG(m) from j:
    deliver m
    deliver m
  expect refuted at_most_once
"""


@pytest.mark.parametrize(
    ("only", "judged"),
    [
        ("one", {"one: at_most_once", "one: fifo", "one: fault"}),
        ("other of p", {"other: at_most_once", "other: fifo", "other: fault"}),
        ("twice", {"3 processes, 1 send each: at_most_once"}),
        ("p/twice", {"3 processes, 1 send each: at_most_once"}),
    ],
)
def test_only_what_was_named_is_checked(thence: Thence, tmp_path: Path, only: str, judged: set[str]) -> None:
    (tmp_path / "two.thence").write_text(TWO, encoding="utf-8")
    found = thence("verify", "two.thence", "--only", only, "--json").object
    assert {one["name"] for one in found["results"]} == judged
    assert found["chosen"] == {"only": [only], "tasks": 1, "of_tasks": 3}
    said = thence("verify", "two.thence", "--only", only)
    assert f"only what is about {only}: 1 of 3 tasks" in said.out
    assert f"only what is about {only}: 1 of 3 tasks" in (tmp_path / "thence-report.html").read_text(encoding="utf-8")


def test_a_name_that_nothing_has_is_bad_input(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "two.thence").write_text(TWO, encoding="utf-8")
    assert thence("verify", "two.thence", "--only", "othr").rejects("did you mean other?")
    assert thence("verify", "two.thence", "--only", "one", "--only", "nothing_like_it").rejects("there are one")


def test_everything_is_chosen_by_the_names_of_what_it_judges() -> None:
    """What a result is about, its scope and its mutant, choose the task that it came from."""
    for path in library():
        for task in tasks_of(load(str(path)), 1, 0):
            assert task.name in task.names
            if task.kind == "scope":
                scope, _, protocol = task.name.partition(" of ")
                assert {scope, protocol} < set(task.names)
