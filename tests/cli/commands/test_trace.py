"""`thence trace` with other formats, and with logs of single processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]

SAMPLES = Path(__file__).parents[2] / "conformance" / "traces" / "samples"


def test_a_sample_of_each_format_is_judged(thence: Thence) -> None:
    done = thence("trace", "check", "--json", SAMPLES / "otlp.json", SAMPLES / "jepsen.edn", SAMPLES / "shiviz.log")
    assert done.code == 1
    assert [result["causal"] for result in done.object["results"]] == [False, False, True]


@pytest.mark.parametrize("to", ["ndjson", "itf", "shiviz"])
def test_converted_files_are_judged_alike(to: str, thence: Thence, tmp_path: Path) -> None:
    assert thence("trace", "convert", SAMPLES / "jepsen.edn", "--to", to, "-o", "run.out").code == 0
    done = thence("trace", "check", "run.out")
    assert done.code == 1
    assert "delivers answer before question" in done.out
    assert (tmp_path / "run.out").exists()


def test_logs_of_single_processes(thence: Thence, tmp_path: Path) -> None:
    header = '{"format": "thence-trace/1", "processes": 2}\n'
    (tmp_path / "zero").write_text(header + '{"event": "send", "process": 0, "message": "a", "destinations": [1]}\n')
    (tmp_path / "one").write_text(header + '{"event": "deliver", "process": 1, "message": "a"}\n')
    done = thence("trace", "check", "--merge", "one", "zero")
    assert (done.code, "all delivered once (2 events)" in done.out) == (0, True)
    alone = thence("trace", "check", "one")
    assert (alone.code, "no earlier line sends it" in alone.err) == (2, True)
    lacking = thence("trace", "check", "--merge", "one")
    assert (lacking.code, "no log has its send" in lacking.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "x.log", "--format", "xml"], "there is no format 'xml' here"),
        (["convert", "x.log", "-o", "out", "--to", "otlp"], "there is no format 'otlp' here"),
        (["convert", "x.log", "y.log", "-o", "out"], "one file is converted at a time"),
        (["check", "x.log"], "x.log"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], said: str, thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("nothing of the kind")
    done = thence("trace", *arguments)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("against", [(), ("--against", "rst")])
@pytest.mark.parametrize("send", ["", '{"event": "send", "process": 0, "message": "a", "destinations": []}\n'])
def test_a_recording_without_a_delivery_has_no_verdict(
    against: tuple[str, ...], send: str, thence: Thence, tmp_path: Path
) -> None:
    if send and against:
        pytest.skip("rst sends to one process")
    (tmp_path / "nothing.ndjson").write_text('{"format": "thence-trace/1", "processes": 2}\n' + send)
    done = thence("trace", "check", *against, "nothing.ndjson")
    assert (done.code, "nothing was delivered: no verdict" in done.out) == (3, True)
