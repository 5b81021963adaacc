"""The line of progress: done of all, the time so far, about how much is left, what is done now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.cli.readers.progress import UNLIKE, ProgressLine, Stage, duration


@pytest.mark.parametrize(
    ("stage", "elapsed_s", "said"),
    [
        (Stage("scope cykas", 15, 45, "tasks"), 35.0, "15 of 45 tasks, 0:35, about 1:10 left: scope cykas"),
        (Stage("scope cykas", 0, 45, "tasks"), 35.0, "0 of 45 tasks, 0:35: scope cykas"),
        (Stage("", 2_000, 2_000, "cases"), 3600.0, "2,000 of 2,000 cases, 1:00:00, about 0:00 left"),
        (Stage("fifo", 1, 10, "cases", 0.5), 10.0, "1 of 10 cases, 0:10, about 0:10 left: fifo"),
        (Stage("reading"), 1.0, "0:01: reading"),
        (Stage("", 2, 4, "tasks"), 35.0, "2 of 4 tasks, 0:35"),  # too few tell nothing of the others
        (Stage("", 20, 40, "tasks"), 2.0, "20 of 40 tasks, 0:02"),
        (Stage("", 4, 100, "tasks"), 35.0, "4 of 100 tasks, 0:35"),
        (Stage("scope s", 20, 40, "tasks", UNLIKE), 35.0, "20 of 40 tasks, 0:35: scope s"),
    ],
)
def test_words(stage: Stage, elapsed_s: float, said: str) -> None:
    assert stage.said(elapsed_s) == said


@given(st.integers(0, 1000), st.integers(0, 1000), st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_the_rest_is_never_negative_and_never_grows_while_nothing_is_done(
    done: int, every: int, reached_s: float, more_s: float, later_s: float
) -> None:
    stage = Stage("", done, every, "cases")
    left = stage.left(reached_s + more_s, reached_s)
    later = stage.left(reached_s + more_s + later_s, reached_s)
    assert left is None or left >= 0
    assert later is None or (left is not None and later <= left)


def test_what_lasts_longer_than_was_estimated_is_not_estimated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    line = ProgressLine("prove", 0.0)
    for second in range(250):
        now[0] = float(second)
        line.show(Stage("acks", min(second // 20, 4), 8, "parts"))
    assert capsys.readouterr().err.splitlines() == [
        "thence prove: 3 of 8 parts, 1:00, about 1:40 left: acks",
        "thence prove: 4 of 8 parts, 2:00, about 0:40 left: acks",
        "thence prove: 4 of 8 parts, 3:00: acks", "thence prove: 4 of 8 parts, 4:00: acks",
    ]  # fmt: skip


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0, 59.6, 723, 3910)] == ["0:00", "1:00", "12:03", "1:05:10"]


def test_without_a_terminal_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    line = ProgressLine("verify", 0.0)
    for second in range(200):
        now[0] = float(second)
        line.show(Stage("scope two", second, 200, "tasks"))
    err = capsys.readouterr().err.splitlines()
    assert [each.partition(", about")[0] for each in err] == [
        "thence verify: 60 of 200 tasks, 1:00", "thence verify: 120 of 200 tasks, 2:00",
        "thence verify: 180 of 200 tasks, 3:00",
    ]  # fmt: skip
