"""What every command has in common: output for readers or as JSON, errors, exit codes.

A command is a function that returns an `Output`. It never prints and never exits; faults of the input
are raised as `BadInput`, or as the error of the layer that found them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whence.dsl.diagnostics import Diagnostic
    from whence.dsl.load import Loaded
    from whence.spec.verdict import Result

AS_EXPECTED, REFUTED, BAD_INPUT, UNKNOWN = range(4)


class BadInput(Exception):
    """The user's input is at fault; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command found out.

    Attributes:
        results: the statements and their verdicts.
        diagnostics: with the files that they are about, for excerpts.
        text: for readers, before the table of results.
        fields: further fields of the JSON object.
        exit: the exit code, where it does not follow from the results and diagnostics.
        table: whether readers get the table of results.
    """

    results: tuple[Result, ...] = ()
    diagnostics: tuple[tuple[Diagnostic, Loaded], ...] = ()
    text: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    exit: int | None = None
    table: bool = True

    def exit_code(self) -> int:
        """The exit code by the rules of the design."""
        if self.exit is not None:
            return self.exit
        if any(diagnostic.severity == "error" for diagnostic, _ in self.diagnostics):
            return BAD_INPUT
        from whence.spec.verdict import exit_code

        return exit_code(self.results)


@dataclass(slots=True)
class Session:
    """One command's run. `status` shows a line of progress on a terminal, and nothing elsewhere."""

    name: str
    json: bool
    started: float = field(default_factory=time.perf_counter)
    _status: Any = None

    def status(self, line: str) -> None:
        """Replaces the line of progress."""
        if self.json or not sys.stderr.isatty():
            return
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status(line)
            self._status.start()
        else:
            self._status.update(line)

    def end_status(self) -> None:
        """Takes the line of progress away."""
        if self._status is not None:
            self._status.stop()
            self._status = None


def run_command(name: str, json_output: bool, body: Callable[[Session], Output]) -> None:
    """Runs a command, prints what it found, and exits."""
    session = Session(name, json_output)
    try:
        with _understood(session):
            output = body(session)
            session.end_status()
            _print(session, output)
            _exit(output.exit_code())
    finally:
        session.end_status()


@contextmanager
def _understood(session: Session) -> Iterator[None]:
    """Turns the errors that a user can cause into a message and an exit code."""
    try:
        yield
    except BadInput as error:
        _fail(session, str(error), BAD_INPUT)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
        _exit(BAD_INPUT)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(session, f"{where}{error.strerror or error}", BAD_INPUT)
    except KeyboardInterrupt:
        _fail(session, "interrupted", UNKNOWN)
    except MemoryError:
        _fail(session, "out of memory", UNKNOWN)
    except Exception as error:
        if _is_users_fault(error):
            _fail(session, str(error), BAD_INPUT)
        raise


def _is_users_fault(error: Exception) -> bool:
    """Whether a layer raised this about its input. The modules that are not loaded did not raise it."""
    named = (
        ("whence.dsl.load", "SourceError"),
        ("whence.dsl.narrate", "ReplayError"),
        ("whence.spec.trace", "TraceError"),
        ("whence.conformance.subject", "SubjectError"),
        ("whence.conformance.java", "JavaMissing"),
        ("whence.conformance.campaign", "CampaignError"),
    )
    for module, class_ in named:
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(error, getattr(loaded, class_, ())):
            return True
    return False


def _fail(session: Session, message: str, code: int) -> None:
    session.end_status()
    if session.json:
        _print_json(session, {"results": [], "diagnostics": [], "error": message}, code)
    else:
        print(f"whence {session.name}: {message}", file=sys.stderr)
    _exit(code)


def _exit(code: int) -> None:
    sys.stdout.flush()
    raise SystemExit(code)


def _print(session: Session, output: Output) -> None:
    if session.json:
        found = {
            "results": [result.to_json() for result in output.results],
            "diagnostics": [diagnostic.to_json() for diagnostic, _ in output.diagnostics],
            **output.fields,
        }
        _print_json(session, found, output.exit_code())
        return
    from whence.conformance.cli.tables import print_output

    print_output(output, time.perf_counter() - session.started)


def _print_json(session: Session, found: Mapping[str, Any], code: int) -> None:
    envelope = {
        "command": session.name,
        "version": version("whence"),
        "ok": code == AS_EXPECTED,
        "exit": code,
        "seconds": round(time.perf_counter() - session.started, 3),
        **found,
    }
    json.dump(envelope, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
    sys.stdout.flush()


def write_text(path: str, text: str) -> None:
    """Writes a file whole or not at all. Raises OSError."""
    from pathlib import Path

    target = Path(path)
    if target.is_dir():
        raise BadInput(f"{path} is a directory; name a file")
    if not target.parent.is_dir():
        raise BadInput(f"{path} cannot be written: there is no folder {target.parent}")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
