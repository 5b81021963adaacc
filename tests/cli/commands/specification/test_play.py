"""`thence play`: what it prints, how it ends, and the file that it writes instead."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

THENCE = str(Path(sys.executable).with_name("thence"))


@pytest.mark.parametrize("arguments", [["rst", "--scope", "two"], ["mf", "--scenario", "mf_figure_2", "--json"]])
def test_it_serves_until_ctrl_c(arguments: list[str]) -> None:
    started = subprocess.Popen(
        [THENCE, "play", *arguments, "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    said = started.stderr if "--json" in arguments else started.stdout
    assert said is not None
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32,}/", said.readline())
        assert address is not None
        with urllib.request.urlopen(address[0], timeout=30) as page:
            assert b"<title>Thence player</title>" in page.read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address[0][:-5], timeout=30)
        refused.value.close()
        os.kill(started.pid, signal.SIGINT)
        out, _ = started.communicate(timeout=30)
        assert started.returncode == 0
        if "--json" in arguments:
            assert json.loads(out)["command"] == "play"
    finally:
        started.kill()
        started.communicate()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.thence"], "there is no file"),
        (["rst", "--scope", "nowhere"], "there is no scope nowhere"),
        (["rst", "--mutant", "nobody"], "there is no mutant nobody"),
        (["mf", "--scenario", "none"], "there is no scenario none"),
        (["mf", "--scenario", "mf_figure_2", "--scope", "two"], "stands alone"),
        (["rst", "--replay", "there.json"], "cannot be read"),
        (["mf", "--scenario", "mf_figure_2", "--html", "nowhere/run.html"], "there is no folder"),
        (["rst", "--scope", "two", "--html", "run.html"], "is for a run"),
        (["rst", "--port", "1"], "--port 1:"),
    ],
)
def test_what_cannot_be_played_is_refused_before_a_page_opens(arguments: list[str], said: str, tmp_path: Path) -> None:
    if arguments[1:2] == ["--port"] and os.geteuid() == 0:
        pytest.skip("everybody's port is open to the administrator")
    done = subprocess.run(
        [THENCE, "play", *arguments, "--no-browser"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_the_counterexample_of_an_exploration_is_played(tmp_path: Path) -> None:
    found = subprocess.run(
        [THENCE, "explore", "rst", "--mutant", "no_merge", "--scope", "two", "--json", "--html", "run.html"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert len(page) < 500_000 and "VIOLATES causal" in page
    (tmp_path / "found.json").write_text(found.stdout, encoding="utf-8")
    again = [THENCE, "play", "rst", "--mutant", "no_merge", "--scope", "two", "--replay", "found.json", "--html"]
    subprocess.run([*again, "again.html"], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    assert "VIOLATES causal" in (tmp_path / "again.html").read_text(encoding="utf-8")
    other = subprocess.run(
        [THENCE, "explore", "rst", "--scope", "one", "--html", "none.html"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert other.returncode == 0 and "there is no counterexample" in other.stdout
    assert not (tmp_path / "none.html").exists()
