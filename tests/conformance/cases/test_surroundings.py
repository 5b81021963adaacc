"""Code under test in this process: it cannot end the process, and what it changes of it is put back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from thence.conformance.cases import schedule
from thence.conformance.cases.network import Settings
from thence.conformance.cases.surroundings import ENDING, Ended, Surroundings
from thence.conformance.harness.harness import run_case
from thence.conformance.systems.subject import SubjectError, class_subject
from thence.impl.commands import Deliver, Send


def doing(harm: Callable[[], object]) -> Any:
    """A class whose processes do this where a packet arrives."""

    class Harmful:
        def __init__(self, identity: int, processes: int) -> None:
            self.identity = identity

        def causal_send(self, destination: int, message: str) -> list[Any]:
            return [Send(destination, message)]

        def receive(self, sender: int, packet: Any) -> list[Any]:
            harm()
            return [Deliver(sender, packet)]

    return Harmful


CASE = (schedule.Send(0, 1), schedule.Receive(0))


@pytest.mark.parametrize(
    "harm",
    [
        lambda: os._exit(0),
        lambda: os._exit(status=0),
        lambda: os.execv("/bin/true", ["true"]),
        lambda: os.execl("/bin/true", "true"),
        lambda: os.execvp("true", ["true"]),
        lambda: os.execle("/bin/true", "true", {}),
    ],
)
def test_code_that_would_end_the_process_has_a_finding(harm: Callable[[], object]) -> None:
    before = [getattr(os, name) for name in ENDING]
    outcome = run_case(doing(harm), CASE, Settings(2))
    assert "crash" in outcome.kinds
    assert "would end the process" in str(outcome.findings[0])
    assert [getattr(os, name) for name in ENDING] == before


def test_a_class_that_cannot_be_made_because_it_ends_the_process_is_refused() -> None:
    with pytest.raises(SubjectError, match=r"os\._exit\(0\) would end the process"):
        class_subject("a:A", lambda identity, processes: os._exit(0))


def test_a_thread_that_ends_the_process_ends_it_without_success() -> None:
    program = (
        "import os, threading; from thence.conformance.cases.surroundings import Surroundings\n"
        "with Surroundings(), Surroundings():\n"
        "    ending = threading.Thread(target=os._exit, args=(0,)); ending.start(); ending.join()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert done.stderr.count("ends the process") == 1


def test_a_process_that_the_code_starts_ends_as_it_likes() -> None:
    def starts() -> None:
        child = os.fork()
        if child == 0:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

    assert not run_case(doing(starts), CASE, Settings(2)).findings


def test_a_copy_of_the_process_goes_no_further() -> None:
    here, children = os.getpid(), []

    def forks() -> None:
        children.append(os.fork())

    outcome = run_case(doing(forks), CASE, Settings(2))
    assert os.getpid() == here, "the copy is here, too"
    assert not outcome.findings
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [1]


def test_folder_and_limit_of_recursion_are_put_back(tmp_path: Path) -> None:
    folder, limit = Path.cwd(), sys.getrecursionlimit()
    gone = tmp_path / "gone"

    def harm() -> None:
        gone.mkdir()
        os.chdir(gone)
        gone.rmdir()
        sys.setrecursionlimit(limit + 1)

    assert not run_case(doing(harm), CASE, Settings(2)).findings
    assert (Path.cwd(), sys.getrecursionlimit()) == (folder, limit)


def test_the_exit_code_of_an_end_that_nobody_catches_is_no_success() -> None:
    with pytest.raises(Ended) as ended, Surroundings():
        os._exit(0)
    assert ended.value.code == 3
