"""Many recorded executions at once: folders, files that are none, Spark, and an end in the middle."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.at_once import EAGER

from thence.conformance import recordings as conformance
from thence.conformance.campaign.alike import UnlikeWorkerError
from thence.conformance.recordings import MANY_FILES, Unreadable, listed, one_by_one, worth_spark
from thence.conformance.replay.recordings import judged
from thence.spec.trace import TraceError
from thence.spec.verdict import Result, Verdict

THENCE = Path(sys.executable).parent / "thence"
HEADER = '{"format": "thence-trace/1", "processes": 2}\n'
SENT = '{"event": "send", "process": 0, "message": "%s", "destinations": [1]}\n'
DELIVERED = '{"event": "deliver", "process": 1, "message": "%s"}\n'
GOOD = HEADER + SENT % "a" + DELIVERED % "a"
BAD = HEADER + SENT % "a" + SENT % "b" + DELIVERED % "b" + DELIVERED % "a"


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """A folder with a folder in it: good ones, a bad one, one that is none, and a hidden one."""
    place = tmp_path / "runs"
    (place / "deeper").mkdir(parents=True)
    for number in range(5):
        (place / f"good-{number}.ndjson").write_text(GOOD)
    (place / "deeper" / "bad.ndjson").write_text(BAD)
    (place / "letter.txt").write_text("dear")
    (place / ".hidden").write_text("x")
    return place


def test_the_files_of_folders_by_name(recordings: Path) -> None:
    names = [str(Path(file).relative_to(recordings)) for file in listed([str(recordings)])]
    assert names == ["deeper/bad.ndjson", *(f"good-{number}.ndjson" for number in range(5)), "letter.txt"]
    one = str(recordings / "good-0.ndjson")
    assert listed([one, "elsewhere", one]) == [one, "elsewhere"]


def test_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="has no files in it"):
        listed([str(tmp_path)])


def test_one_that_cannot_be_read_stops_nothing(recordings: Path) -> None:
    found = dict(one_by_one(listed([str(recordings)]), partial(judged, format_=None)))
    unreadable = [Path(file).name for file, outcome in found.items() if isinstance(outcome, Unreadable)]
    refuted = [
        Path(file).name
        for file, outcome in found.items()
        if isinstance(outcome, Result) and outcome.verdict is Verdict.REFUTED
    ]
    assert (unreadable, refuted, len(found)) == (["letter.txt"], ["bad.ndjson"], 7)


def test_spark_pays_for_much_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert not worth_spark(["a"] * (MANY_FILES - 1))
    assert worth_spark(["a"] * MANY_FILES)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert not worth_spark(["a"] * MANY_FILES)


def check(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [THENCE, "trace", "check", "--json", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    for result in found.get("results", ()):
        result.pop("seconds")
    return done.returncode, found


def outcomes(files: list[str], digests: list[str], besides: tuple[str, str] | None = None) -> list[Any]:
    """What a worker finds of files, if this machine has those hashes of them."""
    there = [conformance._There(file, Path(file).name, digest) for file, digest in zip(files, digests, strict=True)]
    more = None if besides is None else conformance._There(besides[0], "mine.thence", besides[1])
    found = conformance._judged(there, partial(judged, format_=None), more, range(len(files)))
    return [pickle.loads(each)[1] for each in found]


def test_a_worker_judges_no_other_file_than_this_machine_has(recordings: Path) -> None:
    files = [str(recordings / name) for name in ("good-0.ndjson", "good-1.ndjson", "letter.txt", "missing")]
    digests = [conformance._digest(file) for file in files]
    assert digests[0] == digests[1] and digests[3] == ""
    Path(files[1]).write_text(BAD)
    Path(files[2]).unlink()
    same, other, gone, never = outcomes(files, digests)
    assert same.verdict is Verdict.TESTED
    assert other == Unreadable("good-1.ndjson: a worker has another file at the same place")
    assert gone.problem.startswith("letter.txt: a worker has no file that it can read")
    assert "cannot be read" in never.problem, "here it could not be read either"


def test_a_worker_with_another_protocol_judges_nothing(recordings: Path) -> None:
    file, protocol = str(recordings / "good-0.ndjson"), recordings / "mine.thence"
    protocol.write_text("as it is here")
    digests = conformance._digest(file), conformance._digest(str(protocol))
    (found,) = outcomes([file], [digests[0]], (str(protocol), digests[1]))
    assert found.verdict is Verdict.TESTED
    protocol.write_text("as a worker has it")
    with pytest.raises(UnlikeWorkerError, match=r"a worker has another mine\.thence than this machine"):
        outcomes([file], [digests[0]], (str(protocol), digests[1]))


@pytest.mark.long
@pytest.mark.spark
def test_a_protocol_of_the_user_is_read_at_its_place_on_spark(recordings: Path) -> None:
    (recordings.parent / "mine.thence").write_text(EAGER)
    code, alone = check(recordings.parent, "--against", "mine.thence", "runs/good-0.ndjson", "runs/deeper/bad.ndjson")
    again, spark = check(
        recordings.parent, "--against", "mine.thence:eager", "--spark", "--master", "local[2]",
        "runs/good-0.ndjson", "runs/deeper/bad.ndjson",
    )  # fmt: skip
    assert code == again
    assert spark["results"] == alone["results"]
    assert {result["conforms"] for result in alone["results"]} == {"conforming"}


@pytest.mark.spark
def test_on_spark_as_one_after_the_other(recordings: Path) -> None:
    code, alone = check(recordings.parent, "runs")
    again, spark = check(recordings.parent, "--spark", "--master", "local[2]", "runs")
    assert code == again == 1
    assert spark["results"] == alone["results"]
    assert len(alone["results"]) == 7
    assert [result["subject"] for result in alone["results"] if "unknown" in result] == ["runs/letter.txt"]


def test_the_exit_code_is_that_of_the_worst(recordings: Path) -> None:
    (recordings / "deeper" / "bad.ndjson").unlink()
    assert check(recordings.parent, "runs")[0] == 2
    (recordings / "letter.txt").unlink()
    code, found = check(recordings.parent, "runs")
    assert (code, found["complete"], len(found["results"])) == (0, True, 5)


def test_interrupted_it_keeps_what_is_judged(tmp_path: Path) -> None:
    place = tmp_path / "runs"
    place.mkdir()
    (place / "a.ndjson").write_text(BAD)
    os.mkfifo(place / "b.ndjson")
    (place / "c.ndjson").write_text(GOOD)
    command = [str(THENCE), "trace", "check", *(f"runs/{name}.ndjson" for name in "abc"), "--format", "ndjson"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process, (place / "b.ndjson").open("w"):  # opens when it is being read, and says nothing
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        printed, complained = process.communicate(timeout=60)
    assert "runs/a.ndjson: not causal, not fifo" in printed
    assert "incomplete: interrupted; 2 of 3 files not judged" in printed
    assert (process.returncode, "Traceback" in complained) == (1, False)
