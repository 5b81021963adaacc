"""What a process did, written as it happens: a `thence-trace/1` file for each process, and one for all of them.

The file of one process has its own events only, so that a message may be delivered in it that another file sends.
`merged` puts the files of all processes into one global order, as `thence trace check` reads it.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from thence.spec.events import Deliver, Event, Receive, Send
from thence.spec.logs import Log, LogError
from thence.spec.logs import merged as merged_logs
from thence.spec.trace import FORMAT, Trace, event_to_json

__all__ = ["LogError", "RecordError", "Recorder", "merged"]


class RecordError(OSError):
    """The file cannot be opened, or a line cannot be written: then the file ends with the one before it."""


class Recorder:
    """Writes the events of one process to a file, a line each, at once: what has been written outlives a crash.

    Raises:
        RecordError: the file cannot be written.
    """

    def __init__(self, path: str | Path, process: int, processes: int, about: Mapping[str, Any] | None = None) -> None:
        self._process = process
        self._path = path
        try:
            self._file = Path(path).open("wb", buffering=0)  # noqa: SIM115  # open until `close`
        except OSError as error:
            raise RecordError(error.errno, error.strerror, str(path)) from error
        self._size = 0
        try:
            self._write({"format": FORMAT, "processes": processes, "process": process, **(about or {})})
        except RecordError:
            self.close()
            with suppress(OSError):
                Path(path).unlink()
            raise

    def send(self, message: str, destinations: Iterable[int]) -> None:
        """The application sends."""
        self._write(event_to_json(Send(self._process, message, tuple(destinations))))

    def receive(self, message: str, sender: int) -> None:
        """A packet with the message arrives from `sender`."""
        self._write(event_to_json(Receive(self._process, message, sender)))

    def deliver(self, message: str) -> None:
        """The application gets the message."""
        self._write(event_to_json(Deliver(self._process, message)))

    def close(self) -> None:
        """Nothing more is written."""
        self._file.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, fields: Mapping[str, Any]) -> None:
        line = (json.dumps(fields, separators=(",", ":")) + "\n").encode()
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(self._size)
            raise RecordError(error.errno, error.strerror, str(self._path)) from error
        self._size += len(line)


def merged(paths: Sequence[str | Path]) -> Trace:
    """The logs of all processes of a run as one execution: each process's events in their order, sends before arrivals.

    A last line that was cut off is left out. The header is that of the first file. See `thence.spec.logs`.

    Raises:
        LogError: the files are no logs, do not fit together, or something arrives that nobody sends.
        OSError: a file cannot be read.
    """
    logs = [_read(Path(path)) for path in paths]
    if not logs:
        raise LogError("there is no log")
    header = {name: value for name, value in logs[0][0].items() if name not in ("format", "process", "processes")}
    processes = logs[0][0]["processes"]
    if any(other["processes"] != processes for other, _ in logs):
        raise LogError("the logs are of groups of different sizes")
    named = [Log(Path(path).name, tuple(events)) for path, (_, events) in zip(paths, logs, strict=True)]
    return Trace(merged_logs(named, processes), header)


def _read(path: Path) -> tuple[Mapping[str, Any], list[Event]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    whole, cut_off = lines[:-1], lines[-1]
    try:
        header, *events = [json.loads(line) for line in whole]
        if cut_off and len(whole) < 1:
            raise LogError(f"{path} has no whole line")
        if header["format"] != FORMAT or not isinstance(header["processes"], int):
            raise LogError(f"{path} is not a {FORMAT} log")
        return header, [_event(fields) for fields in events]
    except (ValueError, KeyError, TypeError) as error:
        raise LogError(f"{path} is not a log: {error}") from error


def _event(fields: Mapping[str, Any]) -> Event:
    match fields["event"]:
        case "send":
            return Send(fields["process"], fields["message"], tuple(fields["destinations"]))
        case "receive":
            return Receive(fields["process"], fields["message"], fields["from"])
        case "deliver":
            return Deliver(fields["process"], fields["message"])
        case other:
            raise LogError(f"there is no event {other!r}")
