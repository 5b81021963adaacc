"""How the questions of `infer --ask` are shown."""

from __future__ import annotations

import io
from unittest.mock import patch

import pytest

from thence.cli.asking import Asking
from thence.cli.session import Session
from thence.proofs.infer.search.asking import Question

SHOWN = "`causal` is not inductive: deliver does not keep it\n  before: " + ", ".join(f"sent(m{n})" for n in range(30))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_questions_fit_a_terminal(stream: io.StringIO) -> None:
    """Lines are broken between words, and go on further in. A pipe gets them whole."""
    question = Question("causal", SHOWN, (), 2_400, 12, True, lambda line: line)
    environment = patch.dict("os.environ", {"COLUMNS": "80", "TERM": "dumb"})
    with patch("sys.stdout", stream), patch("sys.stdin", io.StringIO("nonsense\nq\n")), environment:
        assert Asking(Session("infer", json=False))(question) == "end"
    lines = stream.getvalue().splitlines()
    assert all(f"sent(m{n})" in stream.getvalue() for n in range(30))
    if stream.isatty():
        assert max(map(len, lines)) <= 80 and any(line.startswith("    sent(m") for line in lines)
    else:
        assert SHOWN.splitlines()[1] in lines
