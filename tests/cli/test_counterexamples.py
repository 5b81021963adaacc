"""`thence explore` writes its first counterexample in every form, and says when there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from thence.spec.trace import read_trace

Thence = Callable[..., Any]

MUTANT = ("explore", "mf", "--mutant", "posts_at_once", "--scope", "two", "--property", "causal")


def test_every_form(thence: Thence, tmp_path: Path) -> None:
    ran = thence(*MUTANT, "--svg", "a.svg", "--itf", "a.itf.json", "--trace", "a.ndjson", "--pytest", "test_a.py")
    assert ran.code == 0
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    states = json.loads((tmp_path / "a.itf.json").read_text(encoding="utf-8"))["states"]
    trace = read_trace(tmp_path / "a.ndjson")
    assert len(states) == 4 and trace.header["violates"] == "causal"
    assert thence("trace", "check", "a.ndjson").code == 1
    compile((tmp_path / "test_a.py").read_text(encoding="utf-8"), "test_a.py", "exec")


def test_there_is_none(thence: Thence, tmp_path: Path) -> None:
    """The verdicts are shown all the same: they may have taken an hour."""
    ran = thence("explore", "mf", "--scope", "one", "--itf", "a.json", "--svg", "a.svg")
    assert ran.code == 0 and "holds" in ran.out
    assert "there is no counterexample: a.svg and a.json not written" in ran.out
    assert not (tmp_path / "a.json").exists()
    assert thence("explore", "mf", "--scope", "one", "--itf", "a.json", "--limit", "2").code == 3


def test_nowhere_to_write(thence: Thence) -> None:
    assert thence(*MUTANT, "--pytest", "nowhere/test_a.py").rejects("nowhere")
