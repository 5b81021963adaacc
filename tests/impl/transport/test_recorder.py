"""Logs of processes, and what they are together."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.impl.transport import LogError, Recorder, merged
from thence.spec.events import Deliver, Receive, Send
from thence.spec.trace import read_trace, write_trace

HEADER = '{"format":"thence-trace/1","processes":2,"process":0}\n'


def log(folder: Path, process: int, processes: int = 2) -> Recorder:
    return Recorder(folder / f"p{process}.ndjson", process, processes, {"system": "s"})


def test_the_logs_of_all_processes_are_one_execution(tmp_path: Path) -> None:
    with log(tmp_path, 0) as one, log(tmp_path, 1) as two:
        two.send("m1.1", [0])
        one.receive("m1.1", 1)
        one.deliver("m1.1")
        one.send("m0.1", [1])
        two.receive("m0.1", 0)
        two.deliver("m0.1")
    trace = merged([tmp_path / "p0.ndjson", tmp_path / "p1.ndjson"])
    assert trace.header == {"system": "s"}
    assert trace.execution.events == (
        Send(1, "m1.1", (0,)), Receive(0, "m1.1", 1), Deliver(0, "m1.1"),
        Send(0, "m0.1", (1,)), Receive(1, "m0.1", 0), Deliver(1, "m0.1"),
    )  # fmt: skip
    write_trace(tmp_path / "all.ndjson", trace)
    assert read_trace(tmp_path / "all.ndjson").execution == trace.execution


def test_what_is_written_is_there_at_once_and_a_line_cut_off_is_left_out(tmp_path: Path) -> None:
    with log(tmp_path, 0) as recorder:
        recorder.send("m0.1", [1])
        path = tmp_path / "p0.ndjson"
        assert len(path.read_text().splitlines()) == 2
        path.write_text(path.read_text() + '{"event":"se')
        assert merged([path]).execution.events == (Send(0, "m0.1", (1,)),)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ('{"event":"deliver","process":0,"message":"m1.1"}\n', "no log has its send"),
        ('{"event":"dance","process":0,"message":"m1.1"}\n', "dance"),
        ('{"event":"deliver","process":0}\n', "not a log"),
        ("nonsense\n", "not a log"),
    ],
)
def test_what_is_not_a_run(tmp_path: Path, lines: str, reason: str) -> None:
    (tmp_path / "x").write_text(HEADER + lines)
    with pytest.raises(LogError, match=reason):
        merged([tmp_path / "x"])


@pytest.mark.parametrize("text", ["", '{"format":"other","processes":2}\n', '{"cut'])
def test_what_is_not_a_log(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(LogError):
        merged([tmp_path / "x"])


def test_logs_of_different_groups_are_refused(tmp_path: Path) -> None:
    with log(tmp_path, 0), log(tmp_path, 1, 3):
        pass
    with pytest.raises(LogError, match="different sizes"):
        merged([tmp_path / "p0.ndjson", tmp_path / "p1.ndjson"])
    with pytest.raises(LogError, match="no log"):
        merged([])
