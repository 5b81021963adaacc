"""Standard streams that are closed when a command begins: a message where something is lost, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from thence.cli.streams import PLAIN_SIGNS, WITH_PLAIN_SIGNS
from thence.spec.diagram import text

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


def test_signs_of_a_diagram_where_the_encoding_lacks_them(tmp_path: Path) -> None:
    """Each sign becomes one plain sign, so that the columns of the picture stay columns."""
    unordered = TEXT.replace("protocol tiny:", "protocol tiny:\n  network reliable, reordering")
    (tmp_path / "tiny.thence").write_text(unordered.replace("sends 1, 0", "sends 2, 0"), encoding="utf-8")
    drawn: dict[str, list[str]] = {}
    for encoding in ("utf-8", "ascii", "latin-1"):
        environment = {**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "100"}
        words = ("explore", "tiny.thence", "--property", "fifo")
        done = subprocess.run((*THENCE, *words), cwd=tmp_path, capture_output=True, timeout=120, env=environment)
        assert done.returncode == 1, done
        drawn[encoding] = done.stdout.decode(encoding).splitlines()[:-1]  # the last line has the time
    assert any("■m0.1→1" in line for line in drawn["utf-8"])
    plain = str.maketrans(PLAIN_SIGNS)
    assert drawn["ascii"] == [line.translate(plain) for line in drawn["utf-8"]]
    del plain[ord("×")]
    assert drawn["latin-1"] == [line.translate(plain) for line in drawn["utf-8"]]


def test_every_sign_of_a_diagram_has_a_plain_one() -> None:
    """The signs are those that the module of diagrams writes; what else an encoding lacks is an escape."""
    assert {sign for sign in Path(text.__file__).read_text(encoding="utf-8") if ord(sign) > 127} <= {*PLAIN_SIGNS}
    assert "│☃→".encode("ascii", WITH_PLAIN_SIGNS) == b"|\\u2603>"
