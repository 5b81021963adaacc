"""Questions to worker processes: every kind is answered, limits hold, and nothing stays behind."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from thence.lsp.analysis import Analysis
from thence.lsp.outcomes import Judged, Outcome, judged_from, summary
from thence.lsp.running import Limits, ask
from thence.lsp.tasks import Place, Task, places
from thence.lsp.worker import answer
from thence.spec.user_error import UserError

TEXT = """\
theory t:
  sort message
  relation r: message, message
  property transitive: forall a, b, c. r(a, b) and r(b, c) implies r(a, c)
  property four: forall a, b, c, d. r(a, b) and r(b, c) and r(c, d) implies r(a, d)

theorem of_four in t:
  assume transitive
  prove four

machine one_at_a_time:
  transition causal_send(m):
    require forall x. sent(x) implies delivered(x)
  transition deliver(m):
    require sent(m) and not delivered(m)
  invariant before_it: forall a, b. hb(a, b) implies delivered(a)
  prove fifo, causal

mutant careless of one_at_a_time:
  transition causal_send(m):
    require not sent(m)
  expect refuted fifo

protocol direct:
  network reliable, reordering
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  property causal, at_most_once, no_creation

conforms direct to one_at_a_time in single:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)

scope single of direct:
  processes 2
  sends 1, 0

scope large of direct:
  processes 4
  sends 4 per process

mutant twice of direct:
  on receive MSG(m) from j:
    deliver m
    deliver m
  expect refuted at_most_once in single

scenario told of direct:
  processes p, q
  p sends m to q
  q receives MSG(m) from p
  assert delivered(m)
"""

ANALYSIS = Analysis(TEXT, "asked.thence")
PLACES = {place.task.name: place for place in places(ANALYSIS)}
SMALL = Limits(60, 1 << 30)


def outcome_of(task: Task, limits: Limits = SMALL) -> Outcome:
    return asyncio.run(ask(task, "asked.thence", TEXT, limits, lambda said: None))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("single", "4 of 4 hold"),
        ("twice", "at_most_once refuted as expected"),
        ("direct to one_at_a_time", "1 of 1 hold"),
        ("told", "1 of 1 hold"),
    ],
)
def test_each_question_has_its_answer(name: str, said: str) -> None:
    place = PLACES[name]
    results = answer(place.task, "asked.thence", TEXT, 1 << 30, lambda said: None)
    shown = Outcome(tuple(judged_of(result.to_json()) for result in results))
    assert summary(shown, place.expects) == said


@pytest.mark.parametrize(("name", "said"), [("of_four", "1 of 1 proved"), ("careless", "refuted as expected")])
def test_proofs_are_made_in_a_process(name: str, said: str) -> None:
    place = PLACES[name]
    assert place.task.kind == "prove"
    assert said in summary(outcome_of(place.task), place.expects)


def judged_of(result: dict[str, Any]) -> Judged:

    return judged_from({**result, "explanation": "", "unknown": result.get("unknown", "")})


def test_a_limit_of_time_ends_the_work() -> None:
    found = outcome_of(PLACES["large"].task, Limits(1.5, 1 << 30))
    assert found.failed == "the time limit of 1.5 s is reached"
    assert summary(found, False) == "not finished: the time limit of 1.5 s is reached"


def test_a_limit_of_memory_is_unknown() -> None:
    found = outcome_of(PLACES["large"].task, Limits(60, 8 << 20))
    assert {one.verdict for one in found.judged} <= {"unknown", "refuted"}
    assert any("8 MB for states" in one.unknown for one in found.judged)


def test_what_is_not_there_is_told() -> None:
    assert outcome_of(Task("scope", "nowhere", "direct")).failed == "there is no scope nowhere"
    with pytest.raises(UserError, match="has errors"):
        answer(PLACES["single"].task, "asked.thence", TEXT + "oops", 1 << 30, lambda said: None)
    assert isinstance(PLACES["single"], Place)


def test_a_worker_takes_no_module_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(5)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert summary(outcome_of(PLACES["single"].task), False) == "4 of 4 hold"
