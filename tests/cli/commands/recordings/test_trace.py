"""`thence trace` with other formats, and with logs of single processes."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]

THENCE = str(Path(sys.executable).parent / "thence")
SAMPLES = Path(__file__).parents[3] / "conformance" / "traces" / "samples"


def test_a_sample_of_each_format_is_judged(thence: Thence) -> None:
    done = thence("trace", "check", "--json", SAMPLES / "otlp.json", SAMPLES / "jepsen.edn", SAMPLES / "shiviz.log")
    assert done.code == 1
    assert [result["causal"] for result in done.object["results"]] == [False, False, True]


def test_files_that_are_no_recordings_are_named_once(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "good.ndjson").write_text(LINES)
    (tmp_path / "bad.ndjson").write_text(LINES.replace('"deliver"', '"delivered"', 1))
    (tmp_path / "other.txt").write_text("hello")
    done = thence("trace", "check", "good.ndjson", "bad.ndjson", "other.txt")
    assert done.code == 1
    assert 'bad.ndjson:4: not judged: "event" is "delivered". It is' in done.out
    assert "other.txt: not judged: it is none of the formats" in done.out
    assert done.out.count("bad.ndjson") == done.out.count("other.txt") == 1


def test_an_advice_for_several_files_is_said_once(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "good.ndjson").write_text(LINES)
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text("hello")
    done = thence("trace", "check", ".")
    assert done.out.count("it is none of the formats") == 3
    assert done.out.count("`--format` says which format it is") == 1
    [last] = [line for line in done.out.splitlines() if "`--format`" in line]
    assert last.startswith("c.txt: ")


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


RUN = [
    {"format": "thence-trace/1", "processes": 3},
    {"event": "send", "process": 0, "message": "a", "destinations": [2]},
    {"event": "send", "process": 0, "message": "b", "destinations": [1]},
    {"event": "deliver", "process": 1, "message": "b"},
    {"event": "send", "process": 1, "message": "c", "destinations": [2]},
    {"event": "deliver", "process": 2, "message": "c"},
]
"""Process 2 delivers c before a."""

LINES = "".join(f"{json.dumps(line)}\n" for line in RUN)


def run(*arguments: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([THENCE, "trace", *arguments], input=given, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_standard_input_is_a_recording(pack: Callable[[bytes], bytes]) -> None:
    done = run("check", "-", given=pack(LINES.encode()))
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"gap: p2 delivers c and never a (a -> b -> c)" in done.stdout


def test_a_pipe_is_followed_to_its_end() -> None:
    done = run("check", "--follow", "-", given=LINES.encode())
    assert done.returncode == 1
    first, *_, last = done.stdout.decode().strip().splitlines()
    assert first == "-: event 5: causal: p2 delivers c before a (a -> b -> c)"
    assert last == "-: 1 causal (5 events, 1 delivery still to come)"
    good = run("check", "--follow", "-", given="".join(LINES.splitlines(keepends=True)[:4]).encode())
    assert (good.returncode, b"nothing is wrong so far" in good.stdout) == (0, True)
    none = run("check", "--follow", "-", given="".join(LINES.splitlines(keepends=True)[:1]).encode())
    assert (none.returncode, b"no verdict" in none.stdout) == (3, True)
    cut = run("check", "--follow", "-", given=LINES.encode()[:-9])
    assert (cut.returncode, b"not JSON" in cut.stderr) == (2, True)


def test_a_growing_file_is_followed_until_the_interrupt(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    path.write_text(LINES[:-40])
    command = [THENCE, "trace", "check", "--follow", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        with path.open("a") as file:
            file.write(LINES[-40:])
        assert "event 5: causal: p2 delivers c before a" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "1 causal (5 events" in out


@pytest.mark.parametrize("more", [["--merge"], ["--spark"], ["--against", "rst"], ["--svg", "x"], ["other"]])
def test_what_needs_a_whole_recording_is_not_followed(more: list[str], thence: Thence) -> None:
    done = thence("trace", "check", "--follow", "run.ndjson", *more)
    assert done.code == 2
    assert "--follow" in done.err


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


def test_a_phantom_is_said_where_nothing_else_is_wrong(thence: Thence, tmp_path: Path) -> None:
    wrong = {"event": "deliver", "process": 0, "message": "a"}
    good = {"event": "deliver", "process": 2, "message": "a"}
    (tmp_path / "run").write_text("".join(f"{json.dumps(line)}\n" for line in (*RUN[:2], good, wrong)))
    done = thence("trace", "check", "run")
    assert (done.code, done.out.splitlines()[0]) == (1, "run: phantom (3 events)")


def test_what_is_inferred_is_not_written_where_that_is_lost(thence: Thence, tmp_path: Path) -> None:
    for to in ("ndjson", "itf"):
        assert thence("trace", "convert", SAMPLES / "shiviz.log", "--to", to, "-o", to).code == 0
        assert thence("trace", "check", to).code == 3
    done = thence("trace", "convert", SAMPLES / "shiviz.log", "--to", "shiviz", "-o", "again")
    assert (done.code, (tmp_path / "again").exists()) == (2, False)


def test_every_finding_has_a_picture(thence: Thence, tmp_path: Path) -> None:
    gone = [{"event": "deliver", "process": 2, "message": "c"}]
    for name, events in {"late": [*gone, {"event": "deliver", "process": 2, "message": "a"}], "gap": gone}.items():
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in [*RUN[:-1], *events]))
    (tmp_path / "stuck").write_text("".join(f"{json.dumps(line)}\n" for line in RUN[:2]))
    for name in ("late", "gap", "stuck"):
        checked = thence("trace", "check", name, "--svg", "checked.svg")
        first = checked.out.splitlines()[1].strip()
        assert checked.code == 1 and checked.out.endswith("checked.svg written\n")
        drawn = (tmp_path / "checked.svg").read_text()
        said = {
            "late": "causal: p2 delivers c before a",
            "gap": "gap: p2 delivers c and never a",
            "stuck": "p2 never delivers a",
        }
        assert said[name] in first
        assert said[name].split(" and ")[0] in drawn.replace("&gt;", ">"), name
        (tmp_path / "checked.svg").unlink()
    assert "gap: p2 delivers c and never a" in thence("trace", "draw", "gap").out
    (tmp_path / "right").write_text(
        "".join(f"{json.dumps(line)}\n" for line in [*RUN[:2], {"event": "deliver", "process": 2, "message": "a"}])
    )
    assert (
        "no finding to draw; checked.svg is not written"
        in thence("trace", "check", "right", "--svg", "checked.svg").out
    )


def test_a_finding_has_a_picture_beside_a_replay(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "stuck").write_text("".join(f"{json.dumps(line)}\n" for line in RUN[:2]))
    done = thence("trace", "check", "stuck", "--against", "rst", "--svg", "stuck.svg")
    assert "stuck: p2 never delivers a" in done.out and "stuck.svg written" in done.out
