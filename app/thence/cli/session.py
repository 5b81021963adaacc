"""The run of a command: output for readers or as JSON, errors, exit codes.

A command is a function that returns an `Output`. It never prints and never exits; faults of the input
are raised as `BadInput`, or as the error of the layer that found them. Progress goes to standard error.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copymode
from typing import Any, NoReturn

from thence.cli.interrupts import is_writing
from thence.cli.output import AS_EXPECTED, BAD_INPUT, UNKNOWN, BadInput, Output
from thence.cli.readers.progress import ProgressLine, Stage
from thence.cli.streams import WITH_PLAIN_SIGNS, kept_streams
from thence.spec.user_error import CutOff, UserError

_UNSEEN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""What JSON need not escape and a terminal may take as an order."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ENOENT)
"""Errors of writing that need not name a file: a full disk, a quota, no folder for temporary files."""

_NO_THREAD = "can't start new thread"
"""What Python says where the system gives no more threads."""

_NO_MORE = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
"""Errors of a system that gives no more open files, processes or memory, whatever file they name."""


@dataclass(slots=True)
class Session:
    """One command's run. `status` shows a line of progress, never with --json.

    `verbosity` is the number of -v.
    """

    name: str
    json: bool
    verbosity: int = 0
    started: float = field(default_factory=time.perf_counter)
    _line: ProgressLine | None = None

    def status(self, doing: str, done: int = 0, of: int = 0, noun: str = "", share: float | None = None) -> None:
        """Replaces the line of progress: what is done now, and how much of all is done. A short run has none."""
        if self.json:
            return
        if self._line is None:
            self._line = ProgressLine(self.name, self.started)
        self._line.show(Stage(doing, done, of, noun, share))

    def say(self, line: str) -> None:
        """Prints a line of a long command at once; never with --json."""
        if not self.json:
            self.end_status()
            print(line, flush=True)

    def end_status(self) -> None:
        """Removes the line of progress."""
        if self._line is not None:
            self._line.end()
            self._line = None


def run_command(name: str, json_output: bool, body: Callable[[Session], Output], verbosity: int = 0) -> NoReturn:
    """Runs a command, prints its output, and exits."""
    session = Session(name, json_output, verbosity)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names of messages and files may hold characters that this stream cannot encode.
            stream.reconfigure(errors=WITH_PLAIN_SIGNS)
    try:
        with kept_streams(), _elsewhere() if json_output else nullcontext():
            output = _outcome(session, body)
    finally:
        session.end_status()
    _finish(session, output)


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Meanwhile, the output of systems under test and of other programs goes to standard error."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError, ValueError, AttributeError):  # Code under test may have closed or replaced it.
            sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _outcome(session: Session, body: Callable[[Session], Output]) -> Output | Failure:
    """The command's output; an error that a user can cause is a message and an exit code."""
    try:
        return body(session)
    except CutOff as error:
        return Failure(str(error), UNKNOWN)
    except UserError as error:
        return _rejection(error) or Failure(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        return _NOTHING_FINISHED
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> Failure:
    """What is said of an error that is none of the user's text."""
    match error:
        case MemoryError():
            return Failure("out of memory", UNKNOWN)
        case RuntimeError() if str(error) == _NO_THREAD:
            return Failure("the system gives no more threads", UNKNOWN)
        case OSError() if error.errno in _NO_MORE:
            return Failure(f"the system gives no more: {error.strerror}", UNKNOWN)
        case OSError() if error.filename is not None:
            return Failure(f"{error.filename}: {error.strerror or error}", BAD_INPUT)
        case OSError() if error.errno in _NO_ROOM:
            return Failure(f"a file cannot be written: {error.strerror or error}", BAD_INPUT)
        case OSError() if error.errno is None and error.args:  # as ctypes has it
            return Failure(f"a library cannot be loaded: {error}", UNKNOWN)
    with suppress(ValueError, AttributeError, OSError):  # Code under test may have closed the stream.
        traceback.print_exception(error)
    return Failure(f"a defect of thence itself, please report it: {type(error).__name__}: {error}", UNKNOWN)


def _rejection(error: UserError) -> Output | None:
    """The diagnostics of a file whose text has errors. Without the language loaded there are none."""
    find = sys.modules.get("thence.dsl.find")
    if find is None or not isinstance(error, find.Rejected):
        return None
    return Output(diagnostics=tuple((diagnostic, error.loaded) for diagnostic in error.loaded.diagnostics))


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a command has no output."""

    message: str
    code: int


_NOTHING_FINISHED = Failure("interrupted; nothing was finished", UNKNOWN)


def fail_interrupted(name: str, json_output: bool) -> NoReturn:
    """Ends a command that was interrupted where it has no output yet: before it runs, or just before it writes."""
    _finish(Session(name, json_output), _NOTHING_FINISHED)


def fail_usage(name: str, json_output: bool, message: str) -> NoReturn:
    """Ends a command whose command line is wrong, before it runs."""
    _finish(Session(name, json_output), Failure(message, BAD_INPUT))


def fail_loading(name: str, json_output: bool, error: Exception) -> NoReturn:
    """Ends a command whose code cannot be loaded, so that nothing can be said. The exit code is never 1."""
    _finish(Session(name, json_output), _failure(error))


def _finish(session: Session, found: Output | Failure) -> NoReturn:
    """Prints and exits. Output that cannot be written is bad input, too: exit 2."""
    is_writing()
    code = found.code if isinstance(found, Failure) else found.exit_code()
    try:
        _print(session, found, code)
        sys.stdout.flush()
    except OSError as error:
        fail_unwritten(session.name, error)
    except KeyboardInterrupt:
        _close_stdout()
        code = UNKNOWN
    raise SystemExit(code)


def fail_unwritten(name: str, error: OSError) -> NoReturn:
    """Ends a command whose output cannot be written. A reader that has read enough (`| head`) is told nothing."""
    _close_stdout()
    if not isinstance(error, BrokenPipeError):
        _complain(f"{f'thence {name}'.rstrip()}: the output cannot be written: {error.strerror or error}")
    raise SystemExit(BAD_INPUT)


def _close_stdout() -> None:
    """Discards unwritten output; the interpreter would report it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _complain(message: str) -> None:
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)


def _print(session: Session, found: Output | Failure, code: int) -> None:
    if isinstance(found, Failure):
        if session.json:
            _print_json(session, {"results": [], "diagnostics": [], "error": found.message}, code)
        else:
            from thence.cli.readers.printing import plain

            _complain(plain(f"{f'thence {session.name}'.rstrip()}: {found.message}"))
        return
    if session.json:
        fields = {
            "results": [
                {**result.to_json(), **({"file": file} if file else {})}
                for result, file in zip(found.results, found.file_names(), strict=True)
            ],
            "diagnostics": [diagnostic.to_json() for diagnostic, _ in found.diagnostics],
            **found.fields,
        }
        _print_json(session, fields, code)
        return
    from thence.cli.readers.printing import print_output

    print_output(found, time.perf_counter() - session.started, session.verbosity)


def _print_json(session: Session, found: Mapping[str, Any], code: int) -> None:
    from importlib.metadata import version

    envelope = {
        "command": session.name,
        "version": version("thence"),
        "ok": code == AS_EXPECTED,
        "exit": code,
        "seconds": round(time.perf_counter() - session.started, 3),
        **found,
    }
    text = json.dumps(envelope, ensure_ascii=False, indent=2)
    sys.stdout.write(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def check_writable(path: str | None) -> None:
    """Raises BadInput where `write_text` could not write, so that hours of work are not lost at their end."""
    if path is None:
        return
    target = Path(path)
    if target.is_dir():
        raise BadInput(f"{path} is a directory; name a file")
    if not target.parent.is_dir():
        raise BadInput(f"{path} cannot be written: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        raise BadInput(f"{path} cannot be written: it is not a file")
    with _draft(target) as draft:
        draft.touch(exist_ok=False)


def folder_for(name: str, what: str) -> Path:
    """The folder of this name, made where it is missing. Raises BadInput: it cannot hold `what`."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{name} cannot hold {what}: {error.strerror or error}") from error
    return folder


def write_text(path: str, text: str) -> None:
    """Writes a file whole or not at all; in the place of a link, never through it. Raises BadInput."""
    check_writable(path)
    _write(Path(path), text)


def rewrite_text(path: str, text: str) -> None:
    """Writes what was read from here and changed: into the file that a link leads to, with its permissions.

    Raises BadInput.
    """
    target = str(Path(path).resolve())
    check_rewritable(target)
    _write(Path(target), text, like=target)


def check_rewritable(path: str) -> None:
    """Raises BadInput where `rewrite_text` could not write, or the file is for reading only."""
    check_writable(path)
    if not os.access(path, os.W_OK):
        raise BadInput(f"{path} cannot be written: it is read-only")


def _write(target: Path, text: str, like: str | None = None) -> None:
    """Writes a draft beside the target, and puts it there. `like`: whose permissions it gets. Raises BadInput.

    A byte of a file's name that is no UTF-8 is written as an escape, `\\udcff`.
    """
    with _draft(target) as draft:
        with draft.open("x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        if like is not None:
            copymode(like, draft)
        draft.replace(target)


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A file beside the target, which is not there yet, removed in the end. Raises BadInput for an OSError."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        yield draft
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
