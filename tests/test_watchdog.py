"""Killing a test run leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .watchdog import left_behind

TESTS = Path(__file__).parent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

LONG = """
import subprocess, sys

EXPLORE = '''
import sys
from thence.cli import main
sys.argv[1:] = ["explore", "cykas", "--processes", "6", "--sends", "3"]
main()
'''

def test_long():
    subprocess.Popen([sys.executable, "-c", EXPLORE], stdout=2, start_new_session=True)
    open({started!r}, "w").close()
    subprocess.run([sys.executable, "-c", "import time; time.sleep(600)"])
"""


@pytest.mark.long(but=("SIGTERM",))
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_a_killed_run_leaves_nothing(how: signal.Signals, tmp_path: Path) -> None:
    started = tmp_path / "started"
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "watchdog.py").write_text((TESTS / "watchdog.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "test_long.py").write_text(LONG.format(started=str(started)), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "THENCE_TEST_RUN"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", str(tmp_path)]
    run = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    awaited(started.exists)
    [mark] = {mark for mark in marks_of_children(run.pid) if mark}
    assert left_behind(mark)
    run.send_signal(how)
    run.wait(60)
    awaited(lambda: not left_behind(mark))
    assert left_behind(mark) == []


def awaited(condition: Callable[[], bool]) -> None:
    """Fails unless the condition comes true within a minute."""
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it never came true")


def marks_of_children(pid: int) -> set[str]:
    """The marks in the environments of the processes of this session."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) != pid:
                    continue
                words = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            found |= {word.partition(b"=")[2].decode() for word in words if word.startswith(b"THENCE_TEST_RUN=")}
    return found
