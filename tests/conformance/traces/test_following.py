"""A recording is judged while it grows as the online oracle judges it, however its bytes come."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import IO

import pytest
from tests.spec.test_finished_run import random_execution

from thence.conformance.traces.following import Following
from thence.spec.events import Deliver, Send
from thence.spec.judgement import INFERRED, judge
from thence.spec.oracle import Oracle
from thence.spec.trace import Trace, TraceError, write_trace
from thence.spec.verdict import Verdict


class Stopped(Exception):
    """The reader has what there is."""


class Writer:
    """Adds a file's bytes piece by piece to another file, whenever its reader waits."""

    def __init__(self, content: bytes, to: IO[bytes], random: Random) -> None:
        self._left = content
        self._to = to
        self._random = random

    def __call__(self) -> None:
        if not self._left:
            raise Stopped
        length = self._random.choice((1, 7, 100, 5000))
        self._to.write(self._left[:length])
        self._to.flush()
        self._left = self._left[length:]


@pytest.mark.parametrize("seed", range(60))
def test_it_finds_what_the_oracle_finds(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    execution = random_execution(random)
    write_trace(tmp_path / "whole", Trace(execution))
    content = (tmp_path / "whole").read_bytes()
    oracle = Oracle(execution.processes)
    expected = [finding for event in execution.events for finding in oracle.observe(event)]
    with (tmp_path / "growing").open("wb") as to:
        following = Following(tmp_path / "growing", Writer(content, to, random))
        found = []
        with pytest.raises(Stopped):
            for finding in following.run():
                found += [] if finding is None else [finding]
    assert found == following.findings == expected
    assert following.events == len(execution.events)
    assert following.undelivered == len(oracle.at_quiescence())
    result, whole = following.result(0.0), judge(execution)
    assert (result.verdict is Verdict.REFUTED) == bool(expected)
    assert result.facts["duplicate"] == whole.duplicate
    assert result.facts["causal"] == (whole.causal and not whole.gaps)
    deliveries = sum(isinstance(event, Deliver) for event in execution.events)
    sends = sum(isinstance(event, Send) for event in execution.events)
    assert (result.facts["detail"]["sends"], result.facts["detail"]["deliveries"]) == (sends, deliveries)
    assert (result.verdict is Verdict.UNKNOWN) == (not expected and not deliveries)


def test_a_file_that_becomes_shorter_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_text(json.dumps({"format": "thence-trace/1", "processes": 2}) + "\n")
    with pytest.raises(TraceError, match="shorter while it was followed"):
        next(Following(path, lambda: path.write_text("{")).run())


HEADER = json.dumps({"format": "thence-trace/1", "processes": 2})
TWO = [
    {"event": "send", "process": 0, "message": "m0", "destinations": [1]},
    {"event": "send", "process": 0, "message": "m1", "destinations": [1]},
    {"event": "deliver", "process": 1, "message": "m1"},
]


def interrupted(path: Path) -> Following:
    """The file, followed until a Ctrl-C that comes where there is nothing more to read."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    following = Following(path, interrupt)
    with suppress(KeyboardInterrupt):
        list(following.run())
    return following


def test_a_whole_last_line_without_an_end_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_text("\n".join([HEADER, *map(json.dumps, TWO)]))
    following = interrupted(path)
    assert (following.found, following.unread_bytes) == ({"causal": 1, "fifo": 1}, 0)
    assert following.result(0.0).verdict is Verdict.REFUTED


def test_a_part_of_a_line_is_not_judged_and_that_is_said(tmp_path: Path) -> None:
    path, last = tmp_path / "cut", json.dumps(TWO[-1])
    for length in range(len(last)):
        path.write_text("\n".join([HEADER, *map(json.dumps, TWO[:-1]), last[:length]]))
        following = interrupted(path)
        assert (following.events, following.unread_bytes) == (2, length)
        assert following.result(0.0).facts["detail"]["unread_bytes"] == length


@pytest.mark.parametrize("text", ["", HEADER[:10]])
def test_what_is_interrupted_before_its_header_has_no_verdict(tmp_path: Path, text: str) -> None:
    (tmp_path / "cut").write_text(text)
    following = interrupted(tmp_path / "cut")
    assert following.result(0.0).verdict is Verdict.UNKNOWN
    assert following.unread_bytes == len(text)


def test_clocks_alone_give_no_verdict_where_nothing_is_wrong(tmp_path: Path) -> None:
    header = json.dumps({"format": "thence-trace/1", "processes": 2, "inferred": True})
    path = tmp_path / "run"
    path.write_text("\n".join([header, json.dumps(TWO[0]), json.dumps({**TWO[2], "message": "m0"})]))
    result = interrupted(path).result(0.0)
    assert (result.verdict, result.facts["unknown"]) == (Verdict.UNKNOWN, INFERRED)
    path.write_text("\n".join([header, *map(json.dumps, TWO)]))
    assert interrupted(path).result(0.0).verdict is Verdict.REFUTED
