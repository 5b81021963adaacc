"""Standard streams that are closed when a command begins: a message where something is lost, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

THENCE = (sys.executable, "-c", "from thence.cli import main; main()")
TEXT = """\
protocol tiny:
  message MSG(m: message) carries m
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m

scope one of tiny:
  processes 2
  sends 1, 0
"""


@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        (("check", "tiny.thence"), "<&-", 0),
        (("check", "tiny.thence"), "2>&-", 0),
        (("check", "tiny.thence"), ">&-", 2),
        (("check", "tiny.thence", "--json"), ">&-", 2),
        (("check", "missing.thence"), "<&- >&- 2>&-", 2),
        (("repl", "tiny.thence"), "<&-", 0),
        (("-h",), ">&-", 2),
        (("explore", "-h"), ">/dev/full", 2),
        (("lsp",), "<&-", 0),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else str(given),
)
def test_a_closed_stream(tmp_path: Path, words: tuple[str, ...], closed: str, code: int) -> None:
    (tmp_path / "tiny.thence").write_text(TEXT, encoding="utf-8")
    shell = ("sh", "-c", f'exec "$@" {closed}', "sh", *THENCE, *words)
    done = subprocess.run(shell, cwd=tmp_path, capture_output=True, timeout=120, check=False, text=True)
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    if code == 2 and "2>" not in closed:
        assert "the output cannot be written" in done.stderr
