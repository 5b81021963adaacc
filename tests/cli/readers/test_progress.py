"""The line of progress: done of all, the time so far, about how much is left, what is done now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.cli.readers.progress import ProgressLine, Stage, duration


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
    ],
)
def test_words(stage: Stage, elapsed_s: float, said: str) -> None:
    assert stage.said(elapsed_s) == said


@given(st.integers(0, 1000), st.integers(0, 1000), st.floats(0, 1e6))
def test_the_rest_is_never_negative(done: int, every: int, elapsed_s: float) -> None:
    left = Stage("", done, every, "cases").left(elapsed_s)
    assert left is None or left >= 0


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
