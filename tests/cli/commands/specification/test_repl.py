"""`thence repl`, from a pipe and in a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

THENCE = str(Path(sys.executable).parent / "thence")
MUTANT = ("mf", "--mutant", "posts_at_once")


def piped(lines: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command with these lines on its standard input."""
    return subprocess.run(
        [THENCE, "repl", *arguments], input=lines, capture_output=True, text=True, check=False, cwd=cwd, timeout=120
    )


def test_steps_are_taken_and_taken_back() -> None:
    run = piped("1\nchanged\nflight\nstate 0\nback\nsteps\nquit\n", "mf", "--scope", "two")
    assert run.returncode == 0
    assert run.stderr == ""
    assert run.stdout.startswith("mf, scope two; help says what can be asked\n1  p0: causal_send(m0.1) to p1\n")
    assert "> 1\nstep 1: p0: causal_send(m0.1) to p1\n  waiting: false -> true\n  sends MSG(m0.1) to p1\n" in run.stdout
    assert "> flight\nMSG(m0.1) from p0 to p1\nm0.1 is not delivered yet by p1\n" in run.stdout
    assert "> state 0\np0: OB = <>, IB = <>, waiting = true\n" in run.stdout
    assert "> steps\nno step was taken yet\n" in run.stdout


def test_a_violation_is_seen_asked_about_and_saved(tmp_path: Path) -> None:
    run = piped(
        "# the first two messages to p1, in the wrong order\n1\n1\nlist\n6\nsays causal\nsays nothing_of_the_kind\n",
        *MUTANT,
    )
    assert run.returncode == 2
    assert "6  p1: receive MSG(m0.2) from p0 (!)" in run.stdout
    assert "causal: violated by step 3: p1 delivers m0.2 before m0.1, which is in its causal past\n" in run.stdout
    assert run.stderr.startswith("thence repl: there is no property nothing_of_the_kind; ")
    run = piped("1 1 6\nsave wrong_order mine.thence\n", *MUTANT, cwd=tmp_path)
    assert run.returncode == 1
    assert run.stdout.endswith(
        "mine.thence written; thence run mine.thence --scenario wrong_order plays it\nviolated: causal, fifo\n"
    )
    played = subprocess.run(
        [THENCE, "run", "mine.thence", "--scenario", "wrong_order", "--json"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert played.returncode == 0
    found = json.loads(played.stdout)["results"]
    assert [(one["verdict"], one["expected"]) for one in found] == [
        ("holds", True), ("refuted", True), ("refuted", True),
    ]  # fmt: skip


def test_the_counterexample_of_the_explorer(tmp_path: Path) -> None:
    run = piped("counterexample causal\ndiagram\n", *MUTANT)
    assert run.returncode == 1
    assert "causal is refuted: 3 steps to its counterexample\n1  p0: causal_send(m0.1) to p1\n" in run.stdout
    assert "●" in run.stdout
    run = piped("counter causal\nscope\nscope one\nsays causal\n", "mf", "--scope", "two")
    assert run.returncode == 0
    assert "causal: holds, no counterexample\n" in run.stdout
    assert "two (here)\n" in run.stdout
    assert "mf, scope one; help" in run.stdout


def test_random_steps_are_fixed_by_a_seed() -> None:
    first, second = (piped("random 100 7\nsteps\nsays delivered\n", "rst", "--scope", "two").stdout for _ in range(2))
    assert first == second
    assert "nothing can happen any more" in first
    assert "delivered: not violated: nothing can happen any more\n" in first


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("99", "there are steps 1 to 6 here, not 99"),
        ("back", "0 steps can be taken back, not 1"),
        ("forward", "there is no command forward"),
        ("c", "c can be changed or counterexample"),
        ("state 7", "there is no process p7; there are p0 to p2"),
        ("random much", "much: write random [N] [SEED]"),
        ("scope nowhere", "there is no scope nowhere"),
        ("changed", "no step was taken yet"),
        ("save", "save NAME, or save NAME FILE"),
        ("save mf_figure_2", "the file has a scenario mf_figure_2 already"),
        ("save mine /nowhere/at/all.thence", "/nowhere/at/all.thence cannot be written"),
        ("!ls", "there is no command !ls"),
        ("1 x", "there is no command 1"),
    ],
)
def test_a_command_that_cannot_be_done_ends_a_pipe(line: str, why: str) -> None:
    run = piped(f"{line}\nquit\n", "mf", "--scope", "two")
    assert run.returncode == 2
    assert run.stderr.startswith(f"thence repl: {why}"), run.stderr
    assert "Traceback" not in run.stderr


def test_files_of_others_are_not_overwritten(tmp_path: Path) -> None:
    other = tmp_path / "other.thence"
    other.write_text("precious")
    run = piped(f"save mine {other}\n", "mf")
    assert (run.returncode, other.read_text()) == (2, "precious")


def test_json_is_one_object_about_the_run() -> None:
    run = piped("1 1 6\n", *MUTANT, "--json")
    found = json.loads(run.stdout)
    assert (run.returncode, found["exit"], found["command"]) == (1, 1, "repl")
    [result] = found["results"]
    assert (result["verdict"], result["violated"], len(result["steps"])) == ("refuted", ["causal", "fifo"], 3)


def test_bad_input_is_bad_input() -> None:
    for arguments in (("nothing",), ("mf", "--scope", "nothing"), ("execution",)):
        run = piped("", *arguments)
        assert (run.returncode, run.stdout) == (2, "")


# --- a terminal ----------------------------------------------------------------------------------


class Terminal:
    """The command in a terminal of its own."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.seen = ""
        self.pid, self.file = pty.fork()
        if self.pid == 0:  # pragma: no cover
            os.environ.update(TERM="xterm", XDG_CACHE_HOME=str(home), COLUMNS="120")
            os.execv(THENCE, [THENCE, "repl", *arguments])

    def expect(self, wanted: str, within_s: float = 60.0) -> None:
        """Waits until the text is there, after what was waited for before."""
        until = time.monotonic() + within_s
        while wanted not in self.seen:
            if time.monotonic() > until:
                raise TimeoutError(self.seen)
            if select.select([self.file], [], [], 0.2)[0]:
                try:
                    data = os.read(self.file, 4096).decode(errors="replace")
                except OSError:
                    data = ""
                assert data, self.seen
                self.seen += re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", data).replace("\r\n", "\n")
        self.seen = self.seen.partition(wanted)[2]

    def type(self, text: str) -> None:
        os.write(self.file, text.encode())

    def interrupt(self, wanted: str) -> None:
        """Types Ctrl-C until the text is there. Python does not see a signal that comes just before it waits for a
        key: then it waits on."""
        for _ in range(12):
            self.type("\x03")
            with suppress(TimeoutError):
                self.expect(wanted, 5)
                return
        raise AssertionError(self.seen)

    def end(self) -> int:
        """Waits for its end; the exit code."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if select.select([self.file], [], [], 0.1)[0]:
                with suppress(OSError):
                    os.read(self.file, 4096)
        raise AssertionError("it does not end")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    shown = Terminal(tmp_path, *MUTANT)
    yield shown
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(shown.pid, signal.SIGKILL)
        os.waitpid(shown.pid, 0)
    os.close(shown.file)


@pytest.mark.process
def test_in_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    terminal.expect("> ")
    terminal.type("1\n")
    terminal.expect("step 1: p0: causal_send(m0.1) to p1")
    terminal.expect("1  p0: causal_send(m0.2) to p1")
    terminal.expect("> ")
    terminal.type("99\n")
    terminal.expect("there are steps 1 to")
    terminal.expect("> ")
    terminal.type("says cau\t\n")
    terminal.expect("causal: not violated so far")
    terminal.expect("> ")
    terminal.type("half a li")
    terminal.expect("half a li")
    terminal.interrupt("> ")
    terminal.type("1\n6\n")
    terminal.expect("VIOLATES causal")
    terminal.expect("> ")
    terminal.type("quit\n")
    assert terminal.end() == 0
    assert "says causal" in (tmp_path / "thence" / "repl" / "lines").read_text()


@pytest.mark.process
def test_the_end_of_input_ends_it(terminal: Terminal) -> None:
    terminal.expect("> ")
    terminal.type("\x04")
    assert terminal.end() == 0


@pytest.mark.process
def test_sigterm_ends_it(terminal: Terminal) -> None:
    terminal.expect("> ")
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.end() == -signal.SIGTERM
