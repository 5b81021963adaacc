"""The recording of the first ten minutes: a clone, its set-up, and what the README says next, really run.

`python -m thence.pages.recording REPOSITORY PAGE` clones the repository into a fresh folder, runs the commands, and
writes each with the time at which it began, all that it printed, and how it ended.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PAGE: Final = "first-ten-minutes.md"

_BLOCK: Final = re.compile(r"(?:<!-- (?P<note>[^>]*?) -->\n)?```(?P<kind>[a-z]+)\n(?P<body>.*?)```", re.DOTALL)
_COLUMNS: Final = "100"

_HEADING: Final = """\
# The first ten minutes, recorded

This is a recording, not an example. A script cloned the repository into an empty folder and ran the commands that the
README names, in its order. At the left is the time since the beginning, in minutes and seconds. Everything that was
printed is shown; only the name of the empty folder is replaced by `~`. The files that `cat` shows are those of the
README. `make recording` makes this page again. The time of `make setup` depends on the machine and on the network; this
machine has {cores} processors.

"""


def commands_of(readme: str) -> Iterator[tuple[str, str | None]]:
    """The commands of a README in their order; a file that it shows is a `cat`, with the text that it has."""
    for block in _BLOCK.finditer(readme):
        note = block["note"] or ""
        if note.startswith("file: "):
            yield f"cat {note.removeprefix('file: ')}", block["body"]
        elif block["kind"] == "console":
            for line in block["body"].splitlines():
                if line.startswith("$ "):
                    yield line.removeprefix("$ "), None


class Recording:
    """A session in one folder, written down as it happens."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "COLUMNS": _COLUMNS, "NO_COLOR": "1"}
        for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTEST_CURRENT_TEST"):
            self.environment.pop(name, None)
        self.lines: list[str] = []
        self.begin = time.monotonic()

    def run(self, command: str, shown: str | None = None) -> int:
        """Runs a command, writes it down, and returns its exit code. `shown` stands for it where it names a path."""
        start = time.monotonic()
        minutes, seconds = divmod(int(start - self.begin), 60)
        self.lines.append(f"{minutes:02d}:{seconds:02d} $ {shown or command}")
        done = subprocess.run(
            shlex.split(command),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.lines += [line.rstrip() for line in done.stdout.splitlines()]
        self.lines += [f"[exit code {done.returncode}, {time.monotonic() - start:.1f} s]", ""]
        return done.returncode

    def enter(self, folder: str) -> None:
        """Goes into a folder."""
        self.folder /= folder
        self.lines.append(f"      $ cd {folder}")

    def prepend_path(self, shown: str) -> None:
        """Puts a folder of this one in front of the path."""
        self.environment["PATH"] = f"{self.folder / shown}{os.pathsep}{self.environment['PATH']}"
        self.lines += [f'      $ export PATH="$PWD/{shown}:$PATH"', ""]


def recorded(repository: Path) -> str:
    """The whole page, after about as many minutes as the set-up takes.

    Raises: RuntimeError if the clone or its set-up fails.
    """
    with tempfile.TemporaryDirectory(prefix="thence-recording-") as folder:
        session = Recording(Path(folder))
        if session.run(
            f"git clone --quiet {shlex.quote(str(repository.resolve()))} thence",
            'git clone --quiet "$REPOSITORY" thence',
        ):
            raise RuntimeError("\n".join(session.lines))
        session.enter("thence")
        if session.run("make setup"):
            raise RuntimeError("\n".join(session.lines))
        session.prepend_path(".venv/bin")
        for command, text in commands_of((session.folder / "README.md").read_text(encoding="utf-8")):
            if text is not None:
                (session.folder / command.removeprefix("cat ")).write_text(text, encoding="utf-8")
            session.run(command)
        heading = _HEADING.format(cores=os.cpu_count())
        return f"{heading}```text\n" + "\n".join(session.lines).rstrip().replace(folder, "~") + "\n```\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(recorded(Path(sys.argv[1])), encoding="utf-8")
