"""`--schedules-from`: executions that were printed elsewhere are tried first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faults.rst import MergeDiscarded

from thence.conformance.cases.network import Settings
from thence.conformance.cases.recorded_case import RecordedCase
from thence.conformance.cases.schedule import Receive, ScheduleError, Send
from thence.conformance.conform.sampling import Sampling
from thence.conformance.conform.trials import Trials
from thence.conformance.harness.guide import DIRECTED
from thence.conformance.harness.guided import Corpus
from thence.conformance.harness.sources import schedules_from
from thence.dsl.find import specification

Thence = Callable[..., Any]

CASE = RecordedCase("m:C", None, Settings(), (Send(0, 1), Send(0, 1), Receive(1, (0, 1))))


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def shows(corpus: Corpus) -> set[str]:
    """What following the corpus, and nothing else, shows of a system that forgets to merge."""
    trials = Trials(MergeDiscarded, None, Settings(), Sampling(operations=12, known=corpus))
    for scheduler in trials.guide.directed[: len(corpus.scripts) + len(corpus.schedules)]:
        trials.run(DIRECTED, scheduler, 0)
    return set(trials.outcomes.kinds)


def test_what_the_explorer_printed_is_tried(thence: Thence, tmp_path: Path) -> None:
    found = thence("explore", "rst", "--mutant", "no_merge", "--json").out
    corpus = schedules_from(written(tmp_path / "found.json", found), specification("rst"))
    assert len(corpus.scripts) == len(corpus.schedules) == 1 and len(corpus.schedules[0]) == 5
    assert "causal" in shows(corpus)
    with pytest.raises(ScheduleError, match="the steps are of rst/no_merge: name the file"):
        schedules_from(str(tmp_path / "found.json"), None)
    with pytest.raises(ScheduleError, match="the steps are of rst/no_merge: name the file"):
        schedules_from(str(tmp_path / "found.json"), specification("mf"))


def test_a_scope_that_the_file_does_not_name(thence: Thence, tmp_path: Path) -> None:
    found = thence("explore", "rst", "--mutant", "no_merge", "--sends", "2,1,1", "--json").out
    corpus = schedules_from(written(tmp_path / "found.json", found), specification("rst"))
    assert "causal" in shows(corpus)


def test_a_scope_of_settings_of_every_kind(thence: Thence, tmp_path: Path) -> None:
    words = ("--processes", "4", "--sends", "0,2,1,1", "--setting", "tree 0 to 1, 2, 3")
    found = thence("explore", "tree", "--mutant", "overtaking_at_a_node", *words, "--json")
    printed = found.object
    assert printed["results"][0]["scope"]["settings"] == ["processes 4", "sends 0, 2, 1, 1", "tree 0 to 1, 2, 3"]
    source = written(tmp_path / "found.json", found.out)
    assert thence("conform", "tree", "--cases", "6", "--schedules-from", source).code == 0
    for result in printed["results"]:
        result["scope"]["settings"].append("sends 1 to 2")
    assert thence("conform", "tree", "--schedules-from", written(tmp_path / "wrong.json", json.dumps(printed))).rejects(
        "the scope of the steps cannot be read: `sends 1 to 2`"
    )


def test_messages_that_are_sent_for_ever(thence: Thence, tmp_path: Path) -> None:
    found = thence("explore", "cykas", "--scope", "starvation", "--json").out
    corpus = schedules_from(written(tmp_path / "found.json", found), specification("cykas"))
    assert len(corpus.scripts) == len(corpus.schedules) == 1


def test_what_the_prover_printed_is_tried(thence: Thence, tmp_path: Path) -> None:
    found = thence("prove", "execution", "sps_alone", "fifo_alone", "--json").out
    corpus = schedules_from(written(tmp_path / "found.json", found), None)
    assert len(corpus.scripts) == 2 and not corpus.schedules
    assert "causal" in shows(corpus)


def test_the_command_tries_them_first(thence: Thence, tmp_path: Path) -> None:
    written(tmp_path / "case.json", CASE.text())
    (tmp_path / "eager.py").write_text(
        "from types import SimpleNamespace\nfrom thence.impl.commands import Deliver, Send\n"
        "class Eager:\n  def __init__(self, i, n): pass\n"
        "  def causal_send(self, to, m): return [Send(to, SimpleNamespace(message=m))]\n"
        "  def receive(self, sender, packet): return [Deliver(sender, packet.message)]\n"
    )
    words = ["conform", "--impl", "eager:Eager", "--cases", "4", "--json", "--schedules-from", "case.json"]
    result = thence(*words).object["results"][0]
    [directed] = result["schedulers"]
    assert (directed["name"], directed["cases"]) == ("directed", 4)
    assert thence("conform", "--impl", "eager:Eager", "--schedules-from", "no.json").rejects("no.json")
    words = ["matrix", "--impl", "eager:Eager", "--cases", "6", "--json", "--schedules-from", "case.json"]
    assert all(cell["schedulers"][0]["name"] == "directed" for cell in thence(*words).object["results"])
