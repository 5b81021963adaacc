"""The processes of the system under test, called so that a call that fails returns a value.

A failure ends the case. Ctrl-C and the end of a time limit pass through as exceptions.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from thence.conformance.cases.network import Settings
from thence.conformance.cases.time_limit import OutOfTime, was_out_of_time
from thence.conformance.systems.foreign import FailureKind, SystemFailed, SystemRaised
from thence.conformance.systems.returned import COMMAND_LIMIT, NoCommands, commands_of
from thence.conformance.systems.strangers import plain, say, shown
from thence.conformance.systems.subject import MakeProcess, made
from thence.impl.commands import MustWait

TRACEBACK_FRAMES: Final = 6
"""Innermost frames of a subject's traceback that are kept."""

_LONGEST_ARGUMENTS: Final = 120


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed.

    Attributes:
        kind: `crash`: the process raised; of a system in another operating-system process, also `hang` and `memory`.
        text: the failure as a sentence.
        traceback: the innermost frames, or the last lines that a foreign system wrote on its standard error.
    """

    kind: FailureKind
    text: str
    traceback: str


@dataclass(frozen=True, slots=True)
class Waits:
    """A call for an input that the application cannot have now. Nothing has changed."""


class Participants:
    """The processes of one case.

    Attributes:
        processes: the subject's objects, by number.
        called: the process that was called last.
        steps: number of calls.
    """

    __slots__ = ("called", "processes", "steps")

    def __init__(self) -> None:
        self.processes: list[Any] = []
        self.called = 0
        self.steps = 0

    def make(self, make_process: MakeProcess, settings: Settings) -> tuple[int, Failure] | None:
        """Makes the processes; returns the first one that fails, with its failure."""
        for identity in range(settings.processes):
            self.called = identity
            try:
                if identity == 0:
                    begin_case = getattr(make_process, "begin_case", None)
                    if begin_case is not None:
                        begin_case(settings)
                self.processes.append(made(make_process, identity, settings))
            except SystemFailed as failed:
                return identity, _failed(identity, "asked to begin a case", failed)
            except (KeyboardInterrupt, OutOfTime):
                raise
            except BaseException as error:
                if was_out_of_time(error):
                    raise OutOfTime from error
                return identity, _raised(identity, "is made", error)
        return None

    def attribute(self, process: int, name: str) -> Any:
        """The attribute of a process; None where it has none, a `Failure` where it cannot be read."""
        try:
            return getattr(self.processes[process], name, None)
        except Exception as error:
            return _raised(process, name, error)

    def have(self, process: int, method: Callable[..., Any], arguments: Sequence[Any]) -> list[Any] | Failure | Waits:
        """As `call`, of the method of an input, which may say that the application has to wait."""

        waits = False

        def asked(*given: Any) -> Any:
            nonlocal waits
            try:
                return method(*given)
            except MustWait:
                waits = True
                return []

        asked.__name__ = getattr(method, "__name__", "an input")
        commands = self.call(process, asked, arguments)
        return Waits() if waits else commands

    def call(self, process: int, method: Callable[..., Any], arguments: Sequence[Any]) -> list[Any] | Failure:
        """The commands that the method returns, `COMMAND_LIMIT` of them at most."""
        self.steps += 1
        self.called = process
        try:
            returned = method(*arguments)
            return returned if type(returned) is list and len(returned) < COMMAND_LIMIT else commands_of(returned)
        except (KeyboardInterrupt, OutOfTime):
            raise
        except BaseException as error:
            if was_out_of_time(error):
                raise OutOfTime from error
            asked = f"{getattr(method, '__name__', type(method).__name__).strip('_')}{_shown(arguments)}"
            if isinstance(error, SystemFailed):
                return _failed(process, f"asked for {asked}", error)
            if isinstance(error, NoCommands):
                return Failure("crash", f"p{process}: {asked}: {error}", "")
            return _raised(process, asked, error)


def _failed(process: int, what: str, failed: SystemFailed) -> Failure:
    return Failure(failed.kind, f"p{process}, {what}, {failed}", failed.printed)


def _raised(process: int, what: str, error: BaseException) -> Failure:
    if isinstance(error, SystemRaised):
        return Failure("crash", f"p{process}: {what} raises {error}", error.printed)
    frames = traceback.format_tb(error.__traceback__)[1:][-TRACEBACK_FRAMES:]
    printed = plain("".join([*frames, *traceback.format_exception_only(error)]))
    return Failure("crash", f"p{process}: {what} raises {say(error)}", printed)


def _shown(arguments: Sequence[Any]) -> str:
    text = ", ".join(map(shown, arguments))
    return f"({text if len(text) <= _LONGEST_ARGUMENTS else text[: _LONGEST_ARGUMENTS - 1] + '…'})"
