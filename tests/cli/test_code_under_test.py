"""Classes that run in the process of the command, and do something to it: verdict and exit code are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Thence

CLASS = """
import atexit, io, os, sys
from thence.impl.commands import Deliver, Send

class Eager:
    calls = 0

    def __init__(self, identity, processes):
        self.identity = identity

    def causal_send(self, destination, message):
        return [Send(destination, message)]

    def receive(self, sender, packet):
        Eager.calls += 1
        {harm}
        return [Deliver(sender, packet)]
"""


@pytest.mark.parametrize(
    "harm",
    [
        "sys.stdout.close()",
        "sys.stdout = io.StringIO()",
        "sys.stdout = None",
        "Eager.calls > 1 or os.close(1)",
        "Eager.calls > 1 or sys.stdout.detach()",
        "sys.stderr.close()",
        "os.chdir('/')",
        "sys.setrecursionlimit(120)",
        "Eager.calls > 1 or os.fork()",
        "Eager.calls > 1 or atexit.register(os._exit, 0)",
        "Eager.calls > 1 or atexit.register(os.execl, sys.executable, sys.executable, '-c', '')",
    ],
)
def test_the_same_verdict(thence_process: Thence, tmp_path: Path, harm: str) -> None:
    (tmp_path / "harmful.py").write_text(CLASS.format(harm=harm), encoding="utf-8")
    ran = thence_process("conform", "--impl", "harmful:Eager", "--cases", "30", "--save", "case.json")
    assert ran.code == 1, ran
    assert (tmp_path / "case.json").is_file()
    assert ran.out.count("=> causal, fifo: p1 delivers") == 1


@pytest.mark.parametrize("harm", ["sys.stdout = None", "sys.stdout.close()"])
def test_the_same_verdict_as_json(thence_process: Thence, tmp_path: Path, harm: str) -> None:
    (tmp_path / "harmful.py").write_text(CLASS.format(harm=harm), encoding="utf-8")
    ran = thence_process("conform", "--impl", "harmful:Eager", "--cases", "30", "--json")
    assert [each["verdict"] for each in ran.object["results"] if each["name"] == "causal"] == ["refuted"]


@pytest.mark.parametrize("end", ["os._exit(0)", "os.execv(sys.executable, [sys.executable, '-c', ''])", "sys.exit(0)"])
def test_an_end_is_a_failure(thence_process: Thence, tmp_path: Path, end: str) -> None:
    (tmp_path / "harmful.py").write_text(CLASS.format(harm=f"Eager.calls < 50 or {end}"), encoding="utf-8")
    ran = thence_process("conform", "--impl", "harmful:Eager", "--cases", "60")
    assert ran.code == 1
    assert "=> crash: p1: receive(0, 'm0.1') raises " in ran.out
