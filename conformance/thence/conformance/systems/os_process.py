"""One running foreign command: lines to it, lines from it, time limits, and an end that nothing of it survives."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any, Final

from thence.conformance.systems.contract import LINE_BYTES, printable, shown
from thence.conformance.systems.foreign import FailureKind, SystemFailed

STDERR_BYTES: Final = 4_000
"""The end of a command's standard error that is kept."""

LINUX: Final = sys.platform == "linux"
"""Whether the memory of other processes can be read, and orphans are adopted."""

_POSIX: Final = os.name == "posix"

_CHUNK: Final = 2**18
GRACE_S: Final = 0.5
"""Seconds that a command without standard input has to end by itself, and the supervisor to report its end."""

_CLEANING_S: Final = 7.0
"""Seconds that the supervisor has to kill everything: more than its `KILLING_S`."""


class CommandError(Exception):
    """A command that cannot be run; the message says why."""


def split_command(command: str) -> list[str]:
    """The words of a command line, by the rules of a POSIX shell, but without a shell.

    Raises:
        CommandError: there are no words, quotes do not match, there is no such program, or programs cannot be run and
            ended here.
    """
    if not _POSIX:
        raise CommandError("programs are tested on Linux and macOS only: elsewhere what they start cannot be ended")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CommandError(f"the command {command!r} cannot be read: {error}") from error
    if not words or "\0" in command:
        raise CommandError("the command is empty" if not words else f"no command is {command!r}")
    if shutil.which(words[0]) is None:
        raise CommandError(f"there is no program {words[0]!r} to run")
    return words


class OsProcess:
    """A command that runs, under a supervisor (see `supervisor`).

    One line is asked, one line is answered. After `SystemFailed`, and after any other exception in the middle of an
    exchange, all that is left to do is `close`.
    """

    def __init__(self, words: Sequence[str], memory_bytes: int = 0) -> None:
        """`memory_bytes`: the memory limit of the command and its descendants together; 0 is no limit."""
        self._memory_bytes = memory_bytes
        status_read, status_write = os.pipe()
        control_read, control_write = os.pipe()
        text = (files("thence.conformance.systems") / "supervisor.py").read_text(encoding="utf-8")
        given = [str(status_write), str(control_read), str(memory_bytes), *words]
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", text, *given],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(status_write, control_read),
                start_new_session=True,
            )
        except BaseException:
            os.close(status_read)
            os.close(control_write)
            raise
        finally:
            os.close(status_write)
            os.close(control_read)
        self._in, self._out, self._err = (_descriptor(stream) for stream in _streams(self._supervisor))
        self._status = status_read
        self._end = weakref.finalize(self, _end, self._supervisor, status_read, control_write)
        self._said = b""
        """The supervisor's report."""
        self._buffer = bytearray()
        """The command's output that nobody has read yet."""
        self._printed = bytearray()
        self._out_ended = False
        self._poll = select.poll()
        for descriptor in (self._out, self._err, self._status):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        os.set_blocking(self._in, False)

    @property
    def printed(self) -> str:
        """The end of the command's standard error."""
        self._read_errors()
        return self._printed.decode(errors="replace")

    def forget(self) -> None:
        """What the command has printed on its standard error so far belongs to the past."""
        self._read_errors()
        self._printed.clear()

    def ask(
        self, lines: bytes, limit_s: float, count: int = 1, meanwhile: Callable[[], None] | None = None
    ) -> list[bytes]:
        """Writes lines, and reads as many as `count` in reply, without their ends.

        `meanwhile` is called when the lines are written, while the command works on them. What time it takes does not
        count against the command.

        Raises:
            SystemFailed: there are none in `limit_s` seconds; or the command has ended, or printed something before.
        """
        until = time.monotonic() + limit_s
        if self._buffer or self._out_ended or self._poll.poll(0):
            self._look(0)
            if self._buffer:
                raise self._failed("crash", f"has printed {shown(bytes(self._buffer))} before it was asked")
        self._write(lines, until, limit_s)
        if meanwhile is not None:
            left_s = until - time.monotonic()
            meanwhile()
            until = time.monotonic() + left_s
        replies = [self._read_line(until, limit_s) for _ in range(count)]
        if self._buffer:
            twice = f"answers {shown(replies[-1])}, and goes on with {shown(bytes(self._buffer))} before it is asked"
            raise self._failed("crash", f"{twice} (standard output is for answers only)")
        return replies

    def part(self) -> None:
        """Ends the command's standard input: it is to end by itself."""
        with suppress(OSError):
            _streams(self._supervisor)[0].close()

    def wait(self, until: float) -> None:
        """Waits for the end of the command, until that time of the monotonic clock at most."""
        while self._end.alive and not self._said and (remaining := until - time.monotonic()) > 0:
            self._look(remaining)
            self._buffer.clear()

    def close(self) -> None:
        """Ends the command and everything that it started."""
        self._end()

    # --- streams -----------------------------------------------------------------------------

    def _write(self, lines: bytes, until: float, limit_s: float) -> None:
        try:
            left = lines[os.write(self._in, lines) :]
        except BlockingIOError:
            left = lines
        except OSError:
            raise self._ended("input") from None
        # The rare case: more than the pipe takes, to a command that does not read.
        while left:
            remaining = until - time.monotonic()
            if remaining <= 0:
                raise self._failed("hang", f"does not read what it is asked, for {limit_s:g} s")
            select.select([self._out, self._err, self._status], [self._in], [], remaining)
            self._look(0)
            if self._out_ended:
                raise self._ended()
            try:
                left = left[os.write(self._in, left) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._ended("input") from None

    def _read_line(self, until: float, limit_s: float) -> bytes:
        searched = 0
        while True:
            end = self._buffer.find(b"\n", searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                return line
            searched = len(self._buffer)
            if searched > LINE_BYTES:
                raise self._failed("crash", f"answers with a line of more than {LINE_BYTES:,} bytes")
            remaining = until - time.monotonic()
            if remaining <= 0:
                began = f", only {shown(bytes(self._buffer))}, without the end of the line" if self._buffer else ""
                raise self._failed("hang", f"gives no answer in {limit_s:g} s{began}")
            if self._out_ended:
                raise self._ended()
            self._look(remaining)

    def _look(self, wait_s: float) -> None:
        """Takes the bytes that have come on any stream, after a wait of a limited time."""
        for descriptor, _ in self._poll.poll(max(0.0, wait_s) * 1000):
            if descriptor == self._out:
                self._read_output()
            elif descriptor == self._err:
                self._read_errors()
            else:
                self._read_status()

    def _read_output(self) -> None:
        try:
            data = os.read(self._out, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._buffer += data
        else:
            self._out_ended = True
            self._poll.unregister(self._out)

    def _read_errors(self) -> None:
        try:
            data = os.read(self._err, _CHUNK)
        except OSError:
            return
        if data:
            self._printed += data
            del self._printed[:-STDERR_BYTES]
        else:
            with suppress(KeyError):
                self._poll.unregister(self._err)

    def _read_status(self) -> None:
        try:
            data = os.read(self._status, 4096)
        except BlockingIOError:
            return
        # The command is over; the rest of its output is in the pipe. Descendants that hold it open are killed.
        # A supervisor that says nothing has been killed, and the command with it.
        self._said = data or b"lost"
        self._poll.unregister(self._status)

    # --- the end -----------------------------------------------------------------------------

    def _ended(self, stream: str = "output") -> SystemFailed:
        """The end of the command, or of one of its streams."""
        until = time.monotonic() + GRACE_S
        while not self._said and (remaining := until - time.monotonic()) > 0:
            if select.select([self._status], [], [], remaining)[0]:
                self._read_status()
        said, _, what = self._said.decode(errors="replace").strip().partition(" ")
        began = f", having printed {shown(bytes(self._buffer))}" if self._buffer else ""
        match said:
            case "exit":
                return self._failed("crash", f"has ended with exit code {what}{began}")
            case "signal":
                return self._failed("crash", f"was ended by {_signal(what)}{began}")
            case "memory":
                used, limit = size(int(what)), size(self._memory_bytes)
                return self._failed("memory", f"has {used} in memory, with all that it started; {limit} is the limit")
            case "lost":
                return self._failed("crash", f"was ended from outside{began}")
            case "cannot":
                return self._failed("crash", f"cannot be run: {printable(what)}")
            case _:
                return self._failed("crash", f"has closed its standard {stream}{began}")

    def _failed(self, kind: FailureKind, text: str) -> SystemFailed:
        return SystemFailed(kind, text, self.printed)


def size(count: int) -> str:
    """Bytes, for people."""
    return f"{count / 2**20:,.0f} MiB"


def _streams(process: subprocess.Popen[bytes]) -> tuple[Any, Any, Any]:
    return process.stdin, process.stdout, process.stderr


def _descriptor(stream: Any) -> int:
    return int(stream.fileno())


def _signal(number: str) -> str:
    try:
        return signal.Signals(int(number)).name
    except ValueError:
        return f"signal {number}"


def _end(supervisor: subprocess.Popen[bytes], status: int, control: int) -> None:
    """Has the supervisor kill everything, and waits until it has."""
    os.close(control)
    for stream in _streams(supervisor):
        with suppress(OSError):
            stream.close()
    os.close(status)
    try:
        supervisor.wait(_CLEANING_S)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
