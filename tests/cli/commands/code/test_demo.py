"""`thence demo`, as a user runs it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Thence = Callable[..., Any]

QUICK = ("--messages", "12", "--time-limit", "60")


def test_the_recorded_trace_passes_and_a_faulty_implementation_s_does_not(thence: Thence) -> None:
    good = thence("demo", *QUICK, "--loss-rate", "0.2", "--out", "good")
    assert good.code == 0
    assert "3 processes of thence.impl.hybrid_basic:HybridBasic over UDP" in good.out
    assert "causal, FIFO, all delivered once" in thence("trace", "check", "good/trace.ndjson").out
    bad = thence("demo", "fifo", "--messages", "60", "--time-limit", "60", "--out", "bad")
    assert bad.code == 1
    assert "refuted" in bad.out
    checked = thence("trace", "check", "bad/trace.ndjson")
    assert checked.code == 1
    assert "not causal" in checked.out


def test_v_shows_everything_that_is_wrong(thence: Thence) -> None:
    """Whatever is lost is sent again later, and by then much has overtaken it."""
    shown = {}
    for name, more in (("brief", ()), ("whole", ("-v",))):
        out = thence("demo", "fifo", *QUICK[2:], "--messages", "60", "--loss-rate", "0.5", "--out", name, *more).out
        shown[name] = out.count("\n  causal: "), "more was found, and is not shown" in out
    assert shown["brief"] == (5, True)
    assert shown["whole"][0] > 5 and not shown["whole"][1]


def test_json(thence: Thence) -> None:
    found = thence("demo", "rst", *QUICK, "--carrier", "tcp", "--processes", "4", "--json").object
    [result] = found["results"]
    assert (result["verdict"], result["kind"], result["subject"]) == ("tested", "trace", "thence.impl.rst:RST")
    demo = found["demo"]
    assert demo["sent"] == demo["delivered"] >= 48
    assert (demo["carrier"], demo["trace"]) == ("tcp", "thence-demo/trace.ndjson")
    assert len(demo["logs"]) == len(demo["processes"]) == len({each["pid"] for each in demo["processes"]}) == 4
    assert found["complete"] is True


def test_when_the_time_is_over_the_verdict_is_unknown(thence: Thence) -> None:
    ran = thence("demo", "--messages", "9000", "--time-limit", "1.5", "--json")
    assert ran.code == 3
    [result] = ran.object["results"]
    assert result["verdict"] == "unknown"
    assert "the time was over" in result["unknown"]


def test_ctrl_c_keeps_what_there_is(command: list[str], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*command, "demo", "--messages", "9000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    log = tmp_path / "thence-demo" / "p0.ndjson"
    while not log.exists() or len(log.read_text().splitlines()) < 5:
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "incomplete: interrupted" in out
    assert err == ""
    assert (tmp_path / "thence-demo" / "trace.ndjson").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "no implementation of nothing is shipped"),
        (["--impl", "nothing:X"], "no module nothing"),
        (["--carrier", "pigeon"], "udp or tcp"),
        (["--out", "file"], "not a folder"),
        (["--loss-rate", "1"], "--loss-rate"),
        (["--processes", "1"], "--processes"),
    ],
)
def test_bad_input(thence: Thence, words: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert thence("demo", *words).rejects(said)


def test_an_implementation_that_dies_is_named(thence: Thence, tmp_path: Path) -> None:
    (tmp_path / "dying.py").write_text(
        "from thence.impl.fifo import Fifo\n"
        "class Dying(Fifo):\n"
        "    def receive(self, sender, packet):\n"
        "        raise RuntimeError('out of luck')\n"
    )
    assert thence("demo", "--impl", "dying:Dying", *QUICK).rejects("dying:Dying", "out of luck")
