"""Ctrl-C and SIGTERM, at any moment from the first import on: one JSON object, an exit code, no traceback."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

AT_AN_IMPORT = """
import os, sys
from thence.cli import main

class Signalling:
    left = int(sys.argv.pop(1))
    number = int(sys.argv.pop(1))

    def find_spec(self, *about):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), self.number)

sys.meta_path.insert(0, Signalling())
main()
"""

WHERE_EXCEPTIONS_ARE_THROWN_AWAY = """
import os, sys
from thence.cli import main

class Signalling:
    left = int(sys.argv.pop(1))
    number = int(sys.argv.pop(1))

    def __del__(self):
        for _ in range(3):
            os.kill(os.getpid(), self.number)

    def find_spec(self, *about):
        if Signalling.left:
            Signalling.left -= 1
            Signalling()

sys.meta_path.insert(0, Signalling())
main()
"""

WHILE_ONE_IS_THROWN_AWAY = WHERE_EXCEPTIONS_ARE_THROWN_AWAY.replace(
    "main()",
    """
import threading

class Signalled(threading.Timer):
    left = 1

    def __init__(self, *given):
        if Signalled.left:
            Signalled.left -= 1
            os.kill(os.getpid(), Signalling.number)
        super().__init__(*given)

threading.Timer = Signalled
main()""",
)

AT_THE_END = """
import atexit, os, sys
from thence.cli import main

when, number = sys.argv.pop(1), int(sys.argv.pop(1))

def interrupt():
    os.kill(os.getpid(), number)

if when == "at exit":
    atexit.register(interrupt)
try:
    main()
finally:
    if when == "after":
        interrupt()
"""

AFTER_A_WHILE = """
import os, sys, threading
from thence.cli import main
after, number = float(sys.argv.pop(1)), int(sys.argv.pop(1))
timer = threading.Timer(after, os.kill, (os.getpid(), number))
timer.daemon = True
timer.start()
main()
"""

EXPLORE = ("explore", "cykas", "--processes", "4", "--sends", "3")
COMMANDS = {
    "explore": EXPLORE,
    "explore any number": ("explore", "cykas", "--any-number", "--processes", "3"),
    "explore for ever": ("explore", "hybrid_basic", "--setting", "for ever 1", "--sends", "2,1,0"),
    "verify": ("verify", "cykas", "mf"),
    "prove": ("prove", "cykas"),
    "bmc": ("bmc", "cykas", "--depth", "9"),
    "conform": ("conform", "mf", "--impl", "thence.impl.mf:MF", "--cases", "1000000"),
    "matrix": ("matrix", "mf", "--impl", "thence.impl.mf:MF", "--cases", "100000"),
    "mutate": ("mutate", "cykas"),
    "cover": ("cover", "mf", "--cases", "100000"),
    "campaign start": ("campaign", "start", "there", "--protocol", "mf", "--cases", "1000000"),
}
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def ended(script: str, given: tuple[str, ...], words: tuple[str, ...], folder: Path) -> dict[str, object]:
    """The one JSON object of a command that got a signal."""
    done = subprocess.run(
        [sys.executable, "-c", script, *given, *words, "--json"], capture_output=True, cwd=folder, timeout=120,
        check=False, encoding="utf-8",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    assert found["exit"] == done.returncode
    assert "Traceback" not in done.stderr
    assert found["command"] == " ".join(words[: 2 if words[0] == "campaign" else 1])
    return found


@pytest.mark.long(but=("Signals.SIGTERM-1", "Signals.SIGINT-60"))
@pytest.mark.parametrize("imports", [1, 2, 10, 60, 200, 400])
@pytest.mark.parametrize("number", SIGNALS, ids=str)
def test_while_the_process_starts(tmp_path: Path, number: signal.Signals, imports: int) -> None:
    found = ended(AT_AN_IMPORT, (str(imports), str(int(number))), EXPLORE, tmp_path)
    assert (found["exit"], found["results"]) == (3, [])
    assert found.get("error") == "interrupted; nothing was finished" or found["complete"] is False


@pytest.mark.parametrize("imports", [2, 5_000])
@pytest.mark.parametrize("number", SIGNALS, ids=str)
def test_where_python_throws_exceptions_away(tmp_path: Path, number: signal.Signals, imports: int) -> None:
    """An interrupt in a `__del__` reaches nobody, so the signal has to come again; but it does not cut the output."""
    found = ended(WHERE_EXCEPTIONS_ARE_THROWN_AWAY, (str(imports), str(int(number))), EXPLORE, tmp_path)
    assert (found["exit"], found["results"]) == (3, [])


@pytest.mark.parametrize("number", SIGNALS, ids=str)
def test_while_one_is_thrown_away(tmp_path: Path, number: signal.Signals) -> None:
    found = ended(WHILE_ONE_IS_THROWN_AWAY, ("2", str(int(number))), EXPLORE, tmp_path)
    assert (found["exit"], found["results"]) == (3, [])


@pytest.mark.parametrize("when", ["after", "at exit"])
@pytest.mark.parametrize("number", SIGNALS, ids=str)
def test_after_the_output(tmp_path: Path, number: signal.Signals, when: str) -> None:
    """The process may not end by a signal while its output says otherwise."""
    found = ended(AT_THE_END, (when, str(int(number))), ("explore", "fifo"), tmp_path)
    assert found["exit"] == 0 and found["results"]


@pytest.mark.long(but=("explore-0",))
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", COMMANDS)
def test_at_any_moment(tmp_path: Path, name: str, seed: int) -> None:
    """The signal comes within the first seconds: before anything is known, while code is generated, in a search."""
    random = Random(f"{name} {seed}")
    given = (f"{random.uniform(0.05, 4):.3f}", str(int(random.choice(SIGNALS))))
    found = ended(AFTER_A_WHILE, given, COMMANDS[name], tmp_path)
    assert found["exit"] in (1, 3)
