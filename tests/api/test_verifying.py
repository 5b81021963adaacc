"""Tasks of `verify`: while one is done, the collector looks seldom."""

from __future__ import annotations

import gc

import pytest

from thence.api import verifying
from thence.api.verifying import Task, run_task
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
