"""No process of a foreign system outlives the run, however the run ends. The processes are looked for by a mark."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from thence.conformance.systems.foreign import SystemFailed
from thence.conformance.systems.os_process import OsProcess, split_command

PROGRAM = Path(__file__).with_name("misbehaving.py")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="descendants are adopted on Linux only")

DESCENDANT = "import sys, time; print(sys.argv[1], flush=True); time.sleep(600)"

FAMILY = f"""
import os, signal, subprocess, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
away = dict(start_new_session=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE)
child = subprocess.Popen([sys.executable, "-c", {DESCENDANT!r}, sys.argv[1]], **away)
child.stdout.readline()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        sys.stdin.close()
        time.sleep(600)
    os._exit(0)
os.wait()
for line in sys.stdin:
    print(line.strip(), flush=True)
if sys.argv[2] == "stays":
    time.sleep(600)
"""
"""A process that ignores signals, with a child in another session and a daemon: a grandchild without parents."""


def family(mark: str, last: str = "stays") -> list[str]:
    return [sys.executable, "-c", FAMILY, mark, last]


def eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


@pytest.fixture
def mark() -> str:
    """What nothing else on the machine has among its arguments."""
    return f"thence-test-{os.getpid()}-{time.monotonic_ns()}"


Members = Callable[[str], int]


@pytest.fixture
def members(marked: Callable[[str], list[int]]) -> Members:
    """How many processes have the mark: of the family itself, the child, the daemon; and the supervisor."""
    return lambda mark: len(marked(mark))


def test_lines_go_and_come() -> None:
    process = OsProcess(["cat"])
    assert process.ask(b"one\n", 5) == [b"one"]
    assert process.ask(b"two\nthree\n", 5, count=2) == [b"two", b"three"]
    long = b"x" * 2_000_000
    assert process.ask(long + b"\n", 20) == [long], "more than a pipe takes at once"
    process.close()
    process.close()


def test_one_that_does_not_read_hangs() -> None:
    process = OsProcess(["sleep", "600"])
    with pytest.raises(SystemFailed, match="does not read what it is asked"):
        process.ask(b"x" * 2_000_000 + b"\n", 0.2)
    process.close()


def test_it_works_while_something_else_is_done(tmp_path: Path) -> None:
    """Only the command's own time counts, also where its answer is more than a pipe takes."""
    told = tmp_path / "told"
    answers = "import sys; open(sys.argv[1], 'w').write(input()); print('x' * 1_000_000, flush=True); input()"
    process = OsProcess([sys.executable, "-c", answers, str(told)])
    seen: list[bool] = []

    def meanwhile() -> None:
        seen.append(eventually(told.exists))
        time.sleep(2.1)

    assert process.ask(b"one\n", 2, meanwhile=meanwhile) == [b"x" * 1_000_000]
    assert seen == [True]
    process.close()


def test_one_that_gives_no_answer_meanwhile_or_afterwards_hangs() -> None:
    process, done = OsProcess(["sleep", "600"]), []
    with pytest.raises(SystemFailed, match=r"gives no answer in 0\.2 s"):
        process.ask(b"one\n", 0.2, meanwhile=lambda: done.append(1))
    assert done == [1]
    process.close()


def test_one_that_ends_by_itself_is_waited_for(tmp_path: Path) -> None:
    done = tmp_path / "done"
    process = OsProcess(["sh", "-c", f"cat; sleep 0.1; touch {shlex.quote(str(done))}"])
    process.part()
    process.wait(time.monotonic() + 10)
    process.close()
    assert done.exists()


def test_commands_are_split_without_a_shell() -> None:
    assert split_command("sh -c 'echo $HOME; *'") == ["sh", "-c", "echo $HOME; *"]


@LINUX
def test_the_end_is_the_end_of_all_descendants(mark: str, members: Members) -> None:
    process = OsProcess(family(mark))
    assert process.ask(b"hello\n", 10) == [b"hello"]
    assert members(mark) == 4
    process.close()
    assert members(mark) == 0


@LINUX
def test_descendants_do_not_outlive_the_command(mark: str, members: Members) -> None:
    process = OsProcess(family(mark, "goes"))
    assert process.ask(b"hello\n", 10) == [b"hello"]
    process.part()
    process.wait(time.monotonic() + 10)
    assert eventually(lambda: members(mark) == 0), "the child and the daemon are still there"
    process.close()


@LINUX
def test_a_forgotten_process_ends(mark: str, members: Members) -> None:
    process = OsProcess(family(mark))
    assert process.ask(b"hello\n", 10) == [b"hello"]
    del process
    assert members(mark) == 0


HOLDER = """
import sys, time
from thence.conformance.systems.os_process import OsProcess
process = OsProcess(sys.argv[1:])
print(process.ask(b"hello\\n", 10), flush=True)
time.sleep(600)
"""


@LINUX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV])
def test_nothing_outlives_the_killing_of_thence(mark: str, members: Members, number: signal.Signals) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, *family(mark)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "[b'hello']\n"
    assert members(mark) == 5
    holder.send_signal(number)
    assert holder.wait(20) != 0
    holder.stdout.close()
    assert eventually(lambda: members(mark) == 0)


@LINUX
def test_the_command_does_not_outlive_the_supervisor(mark: str, members: Members) -> None:
    process = OsProcess([sys.executable, "-c", "for line in open(0): print(line.strip(), flush=True)", mark])
    assert process.ask(b"hello\n", 10) == [b"hello"]
    assert members(mark) == 2
    process._supervisor.kill()
    assert eventually(lambda: members(mark) == 0)
    with pytest.raises(SystemFailed, match="was ended from outside"):
        process.ask(b"hello\n", 5)
    process.close()


@LINUX
def test_the_supervisor_asked_to_end_ends_all(mark: str, members: Members) -> None:
    process = OsProcess(family(mark))
    assert process.ask(b"hello\n", 10) == [b"hello"]
    process._supervisor.terminate()
    assert eventually(lambda: members(mark) == 0)
    process.close()


@LINUX
def test_a_fork_storm_ends(mark: str, members: Members) -> None:
    storm = "import os, time\ninput(); print(1, flush=True)\nwhile True:\n  os.fork(); time.sleep(0.2)"
    process = OsProcess([sys.executable, "-c", storm, mark])
    assert process.ask(b"go\n", 10) == [b"1"]
    assert eventually(lambda: members(mark) > 4)
    process.close()
    assert members(mark) == 0


@LINUX
def test_descriptors_are_given_back() -> None:
    def open_descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = open_descriptors()
    for _ in range(3):
        process = OsProcess(["cat"])
        assert process.ask(b"x\n", 5) == [b"x"]
        process.close()
    assert open_descriptors() == before
