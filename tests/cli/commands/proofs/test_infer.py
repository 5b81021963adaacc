"""`thence infer` as it is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Thence = Callable[..., Any]

STOP_AND_WAIT = '''machine stop_and_wait:
  """A process sends only when everything that it sent before has been delivered."""
  transition causal_send(m):
    require forall a. sent(a) and src(a) = src(m) implies delivered(a)
  transition deliver(m):
    require sent(m) and not delivered(m)
  prove causal
'''


def test_what_is_found_is_written_and_proved(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(STOP_AND_WAIT)
    found = thence("infer", str(file), "--write", "--json")
    (machine,) = found.object["machines"]
    assert found.code == 0 and machine["verdict"] == "proved" and machine["goals"] == ["causal"]
    text = file.read_text()
    assert machine["invariants"] and all(each["name"] in text for each in machine["invariants"])
    assert thence("fmt", "--check", str(file)).code == 0
    assert thence("prove", str(file), "--no-cache").code == 0
    again = thence("infer", str(file), "--write")
    assert again.code == 0 and file.read_text() == text


def test_a_violation_is_a_run(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(
        STOP_AND_WAIT.replace("    require forall a. sent(a) and src(a) = src(m) implies delivered(a)\n", "    pass\n")
    )
    found = thence("infer", str(file))
    assert found.code == 1 and "causal is refuted" in found.out and "causal_send(m1)" in found.out


def test_bad_requests(thence: Thence) -> None:
    assert thence("infer", "fifo", "--write").rejects("of the library")
    assert thence("infer", "fifo", "--write", "--hide", "all").rejects("--hide")
    assert thence("infer", "fifo", "nobody").rejects("nobody")
    assert thence("infer", "fifo", "--hide", "nothing").rejects("nothing")
    assert thence("infer", "execution").rejects("no machine")
