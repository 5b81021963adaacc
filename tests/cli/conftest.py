"""The command `thence` as it is used: its exit code and its two streams, in this process or in one of its own."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import pytest
from jsonschema import Draft202012Validator

from thence.cli import main

THENCE = str(Path(sys.executable).parent / "thence")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> dict[str, Any]:
        """The one JSON object on stdout, which the published schema allows."""
        found = json.loads(self.out)
        schema = json.loads((files("thence.cli") / "schema.json").read_text(encoding="utf-8"))
        Draft202012Validator(schema).validate(found)
        assert found["exit"] == self.code and found["ok"] is (self.code == 0)
        assert isinstance(found, dict)
        return found

    def rejects(self, *words: str) -> bool:
        """Whether it exits with 2 and a message of one line with these words: no traceback, nothing on stdout."""
        message = self.err.strip().splitlines()
        said = len(message) == 1 and message[0].startswith("thence") and all(word in message[0] for word in words)
        return self.code == 2 and self.out == "" and said


Thence = Callable[..., Ran]


@pytest.fixture
def thence(tmp_path: Path) -> Thence:
    """Runs the command in this process, in an empty folder."""
    return lambda *arguments, cwd=tmp_path: in_process([str(each) for each in arguments], cwd)


@pytest.fixture
def thence_process(tmp_path: Path) -> Thence:
    """Runs the installed command in an empty folder, in a process of its own."""

    def run(*arguments: str | Path, cwd: Path = tmp_path) -> Ran:
        done = subprocess.run(
            [THENCE, *map(str, arguments)], capture_output=True, cwd=cwd, timeout=120, check=False, encoding="utf-8"
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def command() -> list[str]:
    """The installed command, for tests that start the process themselves."""
    return [THENCE]


def in_process(arguments: Sequence[str], cwd: Path) -> Ran:
    """Calls the entry point as the installed script does, and leaves this process as it was."""
    with tempfile.TemporaryDirectory(prefix="thence-streams-") as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        with streams_to(out, err), signals_as_before(), as_a_script(arguments, cwd):
            code = exit_code(main)
        return Ran(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


def exit_code(function: Callable[[], None]) -> int:
    """The code with which the interpreter would end after the call."""
    try:
        function()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def signals_as_before() -> Iterator[None]:
    """Puts back what the signals do, which the command leaves to itself until its process ends."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def streams_to(*files: Path) -> Iterator[None]:
    """Sends both streams to files, also those of programs that are started meanwhile."""
    before = sys.stdout, sys.stderr
    kept = [os.dup(number) for number in (1, 2)]
    for number, file in zip((1, 2), files, strict=True):
        target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(target, number)
        os.close(target)
    try:
        with text_stream(1, "strict") as sys.stdout, text_stream(2, "backslashreplace") as sys.stderr:
            yield
    finally:
        sys.stdout, sys.stderr = before
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)


def text_stream(number: int, errors: str) -> TextIO:
    """A stream to the file descriptor, which stays open."""
    return open(number, "w", encoding="utf-8", errors=errors, buffering=1 if number == 2 else -1, closefd=False)


@contextmanager
def as_a_script(arguments: Sequence[str], cwd: Path) -> Iterator[None]:
    """Arguments, folder, environment and import path of a script; imports from temporary folders are forgotten.

    The main module is empty, so that worker processes do not import pytest.
    """
    before = Path.cwd(), sys.argv, [*sys.path], dict(os.environ), sys.modules["__main__"]
    os.chdir(cwd)
    sys.argv = [THENCE, *arguments]
    sys.modules["__main__"] = ModuleType("__main__")
    importlib.invalidate_caches()
    try:
        yield
    finally:
        folder, sys.argv, sys.path[:], environment, sys.modules["__main__"] = before
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        forget_temporary_modules()


def forget_temporary_modules() -> None:
    """Modules of one test must not be those of the next, which has files of the same names."""
    temporary = Path(tempfile.gettempdir()).resolve()
    permanent = [ROOT.resolve(), Path(sys.prefix).resolve()]
    for name, module in [*sys.modules.items()]:
        place = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
        if place is None:
            continue
        path = Path(place).resolve()
        if path.is_relative_to(temporary) and not any(path.is_relative_to(one) for one in permanent):
            del sys.modules[name]
