"""Tasks of `verify`: while one is done, the collector looks seldom."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from thence.api import verifying
from thence.api.verifying import Task, implemented, run_task, tasks_of
from thence.dsl.load import load, load_bytes
from thence.spec.collector import SELDOM
from thence.spec.verdict import Result


def test_the_collector_looks_seldom_while_a_task_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def done(task: Task) -> tuple[Result, ...]:
        seen.append(gc.get_threshold()[0])
        return ()

    monkeypatch.setattr(verifying, "_done", done)
    own = gc.get_threshold()
    assert 0 < own[0] < SELDOM
    assert run_task(Task("scenario", "any.thence", "any", b"")) == ()
    assert seen == [SELDOM]
    assert gc.get_threshold() == own


CLAIM = """
protocol claim:
  message MSG(m: message) carries m
  state: n: nat
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  {claim}
"""


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("at rest one: forall p: process. n@p = 1", "one"),
        ("eventually one: forall p: process. n@p = 1", "one"),
        ("invariant one: forall p: process. n@p = 1", "one"),
        ("reachable one: forall p: process. n@p = 1", "one"),
        ("eventually delivered under fair MSG", "delivered"),
        ("property at_most_once", "at_most_once"),
    ],
)
def test_a_protocol_without_a_scope_is_judged_whatever_it_claims(claim: str, name: str) -> None:
    found = load_bytes(Path("claim.thence"), CLAIM.format(claim=claim).encode())
    (task,) = tasks_of(found, 0, 0)
    verdicts = {result.name.rpartition(": ")[2]: result.verdict.value for result in run_task(task)}
    assert verdicts[name] == ("refuted" if name == "one" else "holds")


LINKED = """
machine posts:
  relation posted(m: message)
  transition causal_send(m): posted(m) := true
  transition deliver(m): require posted(m) and sent(m) and not delivered(m)
  prove at_most_once

protocol post:
  message LETTER(m: message) carries m
  on causal_send(m): send LETTER(m) to m.dst
  on receive LETTER(m) from j: {handed_over}

conforms post to posts:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
"""


@pytest.mark.parametrize(("handed_over", "verdict"), [("deliver m", "holds"), ("deliver m; deliver m", "refuted")])
def test_a_link_without_a_scope_is_checked(handed_over: str, verdict: str) -> None:
    found = load_bytes(Path("post.thence"), LINKED.format(handed_over=handed_over).encode())
    (task,) = [task for task in tasks_of(found, 0, 0) if task.kind == "link"]
    (result,) = run_task(task)
    assert (result.verdict.value, result.expected) == (verdict, verdict == "holds")


def test_shipped_implementations_are_of_library_files(tmp_path: Path) -> None:
    own = tmp_path / "mf.thence"
    own.write_text(CLAIM.replace("claim:", "mf:").format(claim="property at_most_once"), encoding="utf-8")
    assert implemented(load("mf")) == ("mf",)
    assert implemented(load(str(own))) == ()
    assert [task.kind for task in tasks_of(load(str(own)), 10, 0)] == ["protocol"]
    assert [task.name for task in tasks_of(load("mf"), 10, 0) if task.kind == "conform"] == ["mf"]
