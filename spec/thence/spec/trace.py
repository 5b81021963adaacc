"""Recorded executions in files: the format `thence-trace/1`, newline-delimited JSON.

The first line is a header: `{"format": "thence-trace/1", "processes": 3, ...}` with anything else about the
recording (`system`, `protocol`, `channels`, `duplication`, `loss`, `delivery`, `reactive`, `seed`, `source`). Then one
event a line, in one global order that respects each process's own:

    {"event": "send", "process": 0, "message": "m0", "destinations": [1, 2]}
    {"event": "receive", "process": 1, "message": "m0", "from": 0}      arrival of a packet; may be left out
    {"event": "deliver", "process": 1, "message": "m0"}
    {"event": "input", "process": 1, "input": "acquire", "arguments": [0]}      of the application; of some protocols

Other fields are allowed and ignored. A file may be compressed with gzip or zstd. The name `-` is the standard input.

A second delivery, or one where the message was not sent to, is an execution that can be judged; a delivery of a message
that nobody sent is not an execution.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, NoReturn, Protocol

from thence.spec.collector import collector_at_rest
from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send, printable
from thence.spec.json_objects import KeyTwice, each_once
from thence.spec.packed_events import DELIVER, Names, PackedEvents, SentTwice
from thence.spec.user_error import UserError

FORMAT: Final = "thence-trace/1"


_decode: Final = json.JSONDecoder(object_pairs_hook=each_once).raw_decode
LONGEST_LINE_BYTES: Final = 1 << 20
MOST_PROCESSES: Final = 1024
MOST_UNPACKED_BYTES: Final = 1 << 30
"""A compressed recording is read up to this size: a small file must not fill the memory."""

CONDITIONS: Final[Mapping[str, tuple[str | bool, ...]]] = {
    "channels": ("fifo", "reordering", "lossy"),
    "duplication": (True, False),
    "loss": (True, False),
    "delivery": ("unicast", "multicast", "broadcast"),
    "reactive": (True, False),
    "inferred": (True, False),
}
"""The fields of a header that say under which conditions was recorded, and the values that they may have."""

STANDARD_INPUT: Final = "-"
"""The name of the standard input among files."""

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BLOCK_BYTES: Final = 1 << 20
_MOST_LISTS: Final = 10_000

_NAME: Final = r'"([^"\\\x00-\x1f]+)"'
_NUMBER: Final = r"(0|[1-9][0-9]{0,3})"
_PLAIN: Final = re.compile(
    r'^\{"event": ?"(?:'
    rf'deliver", ?"process": ?{_NUMBER}, ?"message": ?{_NAME}'
    rf'|send", ?"process": ?{_NUMBER}, ?"message": ?{_NAME}, ?"destinations": ?\[([0-9, ]*)\]'
    rf'|receive", ?"process": ?{_NUMBER}, ?"message": ?{_NAME}, ?"from": ?{_NUMBER}'
    r")\}$",
    re.MULTILINE,
)
"""A line as `write_trace` and `json.dumps` write it. It matches nothing that `json` reads otherwise, but
for lists of destinations, and each of these is read by `json`."""


class Bytes(Protocol):
    """A file that is read from its beginning to its end."""

    def read(self, size: int = -1, /) -> bytes: ...
    def readline(self, size: int = -1, /) -> bytes: ...


class Unpacking:
    """The content of a compressed file, up to `MOST_UNPACKED_BYTES`.

    `kind` is the name of the compression; `damages` are the errors of its library that say that the file is damaged.

    Raises:
        TraceError: from any method: it is larger, damaged or cut off.
    """

    def __init__(self, path: Path, file: Bytes, kind: str, damages: tuple[type[Exception], ...]) -> None:
        self._path = path
        self._file = file
        self._kind = kind
        self._damages: tuple[type[Exception], ...] = (EOFError, *damages)
        self._left = MOST_UNPACKED_BYTES

    def read(self, size: int = -1, /) -> bytes:
        """As of a file."""
        return self._taken(self._file.read, size)

    def readline(self, size: int = -1, /) -> bytes:
        """As of a file."""
        return self._taken(self._file.readline, size)

    def _taken(self, take: Callable[[int], bytes], size: int) -> bytes:
        try:
            found = take(size if 0 <= size <= self._left else self._left + 1)
        except self._damages as error:
            problem = f"is a damaged {self._kind} file: {error}"
            raise TraceError(self._path, None, problem, "Compress it again, or give it as it was") from error
        self._left -= len(found)
        if self._left < 0:
            problem = f"has more than {MOST_UNPACKED_BYTES >> 20} MiB when decompressed"
            raise TraceError(self._path, None, problem, "Decompress it yourself if you trust it")
        return found


@contextmanager
def opened(path: Path) -> Iterator[Bytes]:
    """The content of a file, decompressed where it is gzip or zstd. Raises OSError, TraceError."""
    with _content(path) as file:
        start = file.peek(len(_ZSTD))
        if start.startswith(_GZIP):
            yield Unpacking(path, gzip.GzipFile(fileobj=file), "gzip", (zlib.error, gzip.BadGzipFile))
        elif start.startswith(_ZSTD):
            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
            yield Unpacking(path, zstd.ZstdFile(file), "zstd", (zstd.ZstdError,))
        else:
            yield file


def _content(path: Path) -> io.BufferedReader:
    if str(path) == STANDARD_INPUT:
        return io.BufferedReader(_Again(_standard_input().fileno()))
    return path.open("rb")


@cache
def _standard_input() -> IO[bytes]:
    """All of the standard input, in a file without a name: it is read once, and no memory holds it.

    Raises:
        OSError: there is no room for it. TraceError: it is too long.
    """
    kept = tempfile.TemporaryFile()  # noqa: SIM115  # it is open as long as this process
    left = MOST_UNPACKED_BYTES
    while block := sys.stdin.buffer.read(_BLOCK_BYTES):
        left -= len(block)
        if left < 0:
            kept.close()
            problem = f"has more than {MOST_UNPACKED_BYTES >> 20} MiB"
            raise TraceError(Path(STANDARD_INPUT), None, problem, "Write it into a file, or judge it with --follow")
        kept.write(block)
    kept.flush()
    return kept


class _Again(io.RawIOBase):
    """A file that is open already, read from its beginning, whoever else reads it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        found = os.pread(self._descriptor, len(buffer), self._at)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)


class TraceError(UserError, ValueError):
    """The file is not a trace. `str()` is `file:line: what is wrong`, then what to do."""

    def __init__(self, path: Path, line: int | None, problem: str, advice: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        self.advice = advice
        place = printable(str(path)) if line is None else f"{printable(str(path))}:{line}"
        super().__init__(f"{place}: {problem}. {advice}")


@dataclass(frozen=True, slots=True)
class Trace:
    """An execution and what its recorder said about it; `header` is the first line without the format."""

    execution: Execution
    header: Mapping[str, Any] = field(default_factory=dict)


def read_trace(path: str | Path) -> Trace:
    """Read a `thence-trace/1` file, line by line. Its events are packed: some fifteen bytes each.

    Raises:
        TraceError: the file cannot be read, or is not a trace.
    """
    return _Reader(Path(path)).read()


def read_log(path: str | Path) -> Trace:
    """Read a part of a recording: as `read_trace`, but the sends of messages may be in other files.

    Raises:
        TraceError: the file cannot be read, or is not a trace.
    """
    return _Reader(Path(path), whole=False).read()


def read_events(path: Path, processes: int, events: Iterable[Mapping[str, Any]]) -> Execution:
    """The execution of events that are JSON objects already; faults are those of the n-th event of `path`.

    Raises:
        TraceError: one of them is no event, or not where it stands.
    """
    return _Reader(path).execution(processes, events)


def read_lines(path: str | Path, file: Bytes) -> tuple[int, Mapping[str, Any], Iterator[Event]]:
    """The number of processes, the header and the events of a trace that is read line by line, as `file` has them.

    Raises:
        TraceError: at once, and from the iterator: the lines are no trace.
    """
    return _Reader(Path(path)).lines(file)


def write_trace(path: str | Path, trace: Trace) -> None:
    """Write `trace`; the file appears whole or not at all.

    Raises:
        TraceError: the file cannot be written.
    """
    path = Path(path)
    header = {"format": FORMAT, **trace.header, "processes": trace.execution.processes}
    temporary = path.parent / f".{path.name}.{os.getpid()}.part"
    try:
        try:
            with temporary.open("x", encoding="utf-8") as file:
                file.write(_json(header) + "\n")
                file.writelines(_json(event_to_json(event)) + "\n" for event in trace.execution.events)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise TraceError(path, None, problem, "Give a file name in a folder that you may write to") from error


def event_to_json(event: Event) -> dict[str, Any]:
    """The JSON object of one event."""
    match event:
        case Send(process, message, destinations):
            return {"event": "send", "process": process, "message": message, "destinations": list(destinations)}
        case Receive(process, message, sender):
            return {"event": "receive", "process": process, "message": message, "from": sender}
        case Deliver(process, message):
            return {"event": "deliver", "process": process, "message": message}
        case Input(process, name, arguments):
            return {"event": "input", "process": process, "input": name, "arguments": list(arguments)}


class _Reader:
    """One reading of one file. `_line` is the line under the eye, from 1."""

    def __init__(self, path: Path, *, whole: bool = True) -> None:
        self._path = path
        self._whole = whole
        self._line = 0
        self._processes = 0
        self._names = Names(forgets=False)  # of the messages sent so far
        self._sent_in = array("I")  # of each of them the line

    def read(self) -> Trace:
        try:
            if self._path.is_dir():
                advice = "Name the files themselves, for instance with FOLDER/*.ndjson"
                raise TraceError(self._path, None, "is a directory, not a trace", advice)
            with opened(self._path) as file:
                header = self._header(next(self._lines(file), None))
                with collector_at_rest():
                    events = self._packed(file)
        except OSError as error:
            problem = f"cannot be read: {error.strerror or error}"
            raise TraceError(self._path, None, problem, "Check the name and the permissions") from error
        return Trace(Execution(self._processes, events), header)

    def lines(self, file: Bytes) -> tuple[int, Mapping[str, Any], Iterator[Event]]:
        lines = self._lines(file)
        header = self._header(next(lines, None))
        return self._processes, header, map(self._noted, lines)

    def execution(self, processes: int, events: Iterable[Mapping[str, Any]]) -> Execution:
        if not 1 <= processes <= MOST_PROCESSES:
            problem = f"has {_excerpt(str(processes))} processes"
            raise TraceError(self._path, None, problem, f"There are 1 to {MOST_PROCESSES}")
        self._processes = processes
        found = []
        for number, fields in enumerate(events, 1):
            self._line = number
            found.append(self._noted(fields))
        return Execution(processes, tuple(found))

    def _noted(self, fields: Mapping[str, Any]) -> Event:
        """The event of one line, whose send is noted."""
        event = self._event(fields)
        if isinstance(event, Send):
            self._sent_in.append(self._line)
            self._names.add(event.message, len(event.destinations))
        return event

    def _packed(self, file: Bytes) -> PackedEvents:
        """The events of the lines that are left."""
        events = PackedEvents(self._processes)
        self._names = events.names
        try:
            try:
                self._fill(events, file)
            finally:
                events.names.require_apart()
        except SentTwice as twice:
            self._line = self._sent_in[twice.second]
            self._refuse_again(twice.name, twice.first)
        return events

    def _fill(self, events: PackedEvents, file: Bytes) -> None:
        """Take the lines that are left, block by block. A block in which any line is not plain is read line by line,
        which also says what is wrong. Raises SentTwice: a message is sent again whose name was let go of.
        """
        processes = {str(process): process for process in range(self._processes)}
        routes: dict[str, tuple[int, int]] = {}
        kinds, places, numbers = events.kinds, events.places, events.numbers
        names = events.names
        known, left = names.known, names.left
        while block := file.read(_BLOCK_BYTES):
            if not block.endswith(b"\n"):
                block += file.readline(LONGEST_LINE_BYTES + 1)
            last = len(block) - 1 - block.rfind(b"\n", 0, -1)  # no other line can be too long
            found = None if last > LONGEST_LINE_BYTES else _plain(block)
            if found is None:
                for fields in self._lines(io.BytesIO(block)):
                    self._take(events, fields)
                continue
            for deliverer, delivered, sender, sent, to, receiver, received, source in found:
                self._line += 1
                if delivered:
                    number = known.get(delivered)
                    if number is None or deliverer not in processes:
                        self._take(events, _fields("deliver", deliverer, delivered))
                        continue
                    kinds.append(DELIVER)
                    places.append(processes[deliverer])
                    numbers.append(number)
                    if names.forgets:
                        if left[number] > 1:
                            left[number] -= 1
                        else:
                            del known[delivered]
                elif sent:
                    if sender in processes and to in routes and sent not in known:
                        self._sent_in.append(self._line)
                        events.send(processes[sender], sent, *routes[to])
                        continue
                    fields = {**_fields("send", sender, sent), "destinations": _value(f"[{to}]")}
                    self._take(events, fields)
                    if len(routes) < _MOST_LISTS:
                        destinations = events.destinations[events.routes[-1]]
                        routes[to] = events.routes[-1], len({*destinations})
                else:
                    self._take(events, {**_fields("receive", receiver, received), "from": _value(source)})

    def _take(self, events: PackedEvents, fields: Mapping[str, Any]) -> None:
        """Put the event of one line at the end."""
        event = self._event(fields)
        if isinstance(event, Send):
            self._sent_in.append(self._line)
        events.append(event)

    def _lines(self, file: Bytes) -> Iterator[dict[str, Any]]:
        """The JSON objects of the lines; empty lines are skipped."""
        while raw := file.readline(LONGEST_LINE_BYTES + 1):
            self._line += 1
            if len(raw) > LONGEST_LINE_BYTES:
                self._fail(
                    f"the line is longer than {LONGEST_LINE_BYTES:,} bytes", "A trace has one short JSON object a line"
                )
            if b"\0" in raw:
                self._fail("this is a binary file", "A trace is text: one JSON object a line")
            try:
                text = raw.decode("utf-8-sig" if self._line == 1 else "utf-8").strip()
            except UnicodeDecodeError:
                self._fail("this is a binary file, or not UTF-8", "A trace is UTF-8 text: one JSON object a line")
            if not text:
                continue
            yield self._object(text)

    def _object(self, text: str) -> dict[str, Any]:
        """The JSON object of one line."""
        try:
            fields, end = _decode(text)
            if end != len(text):
                fields = json.loads(text)  # which says what is wrong
        except (ValueError, RecursionError) as error:
            match error:
                case json.JSONDecodeError():
                    reason = f"{error.msg}, column {error.colno}"
                case RecursionError():
                    reason = "nested too deeply"
                case KeyTwice():
                    reason = str(error)
                case _:
                    reason = "a number is too long"
            self._fail(
                f"the line is not JSON ({reason}): {_excerpt(text)}",
                "Every line is one whole JSON object; was the recorder cut off, or the file edited?",
            )
        if not isinstance(fields, dict):
            self._fail(f"the line is not a JSON object: {_excerpt(text)}", "Every line is one JSON object, {...}")
        return fields

    def _header(self, fields: dict[str, Any] | None) -> Mapping[str, Any]:
        first = f'The first line is {{"format": "{FORMAT}", "processes": N, ...}}'
        if fields is None:
            raise TraceError(self._path, None, "the file is empty", first)
        if "format" not in fields:
            self._fail("the header is missing", first)
        if fields["format"] != FORMAT:
            self._fail(f"the format is {_excerpt(json.dumps(fields['format']))}", f"This version reads {FORMAT}")
        processes = fields.get("processes")
        if not isinstance(processes, int) or isinstance(processes, bool) or not 1 <= processes <= MOST_PROCESSES:
            self._fail(
                f'"processes" in the header is {_shown(fields, "processes")}',
                f"It is the number of processes, 1 to {MOST_PROCESSES}",
            )
        self._processes = processes
        if fault := fault_of_conditions(fields):
            self._fail(*fault)
        return {name: value for name, value in fields.items() if name not in ("format", "processes")}

    def _event(self, fields: Mapping[str, Any]) -> Event:
        process = fields.get("process")
        if type(process) is not int or not 0 <= process < self._processes:
            process = self._process(fields, "process")
        if fields.get("event") == "input":
            return self._input(fields, process)
        message = fields.get("message")
        if not isinstance(message, str) or not message:
            self._fail(f'"message" is {_shown(fields, "message")}', "Every event names its message, by a string")
        match fields.get("event"):
            case "deliver":
                self._check_sent(message, "delivered")
                return Deliver(process, message)
            case "send":
                return self._send(fields, process, message)
            case "receive":
                self._check_sent(message, "received")
                return Receive(process, message, self._process(fields, "from"))
            case _:
                self._fail(f'"event" is {_shown(fields, "event")}', 'It is "send", "receive", "deliver" or "input"')

    def _input(self, fields: Mapping[str, Any], process: int) -> Input:
        name, arguments = fields.get("input"), fields.get("arguments", [])
        if not isinstance(name, str) or not name.isidentifier():
            self._fail(f'"input" is {_shown(fields, "input")}', "It is the name of an input of the protocol")
        if not isinstance(arguments, list) or not all(isinstance(one, int) and one >= 0 for one in arguments):
            self._fail(
                f'"arguments" is {_shown(fields, "arguments")}', "It is a list of natural numbers and truth values"
            )
        return Input(process, name, tuple(arguments))

    def _send(self, fields: Mapping[str, Any], process: int, message: str) -> Send:
        if message in self._names.known:
            self._refuse_again(message, self._names.known[message])
        destinations = fields.get("destinations")
        if not isinstance(destinations, list):
            self._fail(f'"destinations" is {_shown(fields, "destinations")}', "It is the list of process numbers")
        return Send(process, message, tuple([self._number(number, "destinations") for number in destinations]))

    def _refuse_again(self, message: str, first: int) -> NoReturn:
        self._fail(
            f"message {message!r} is sent again (first in line {self._sent_in[first]})",
            "A message identifier is unique in its trace; one multicast is one send with several destinations",
        )

    def _check_sent(self, message: str, what: str) -> None:
        if self._whole and self._names.number(message) is None:
            self._fail(
                f"message {message!r} is {what}, but no earlier line sends it",
                "Lines are in one global order with every send before its deliveries: is the recording complete?",
            )

    def _process(self, fields: Mapping[str, Any], name: str) -> int:
        if name not in fields:
            self._fail(f'"{name}" is missing', f"It is the number of a process, 0 to {self._processes - 1}")
        return self._number(fields[name], name)

    def _number(self, value: object, name: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < self._processes:
            self._fail(
                f'"{name}" has {_excerpt(json.dumps(value))}, which is not one of the {self._processes} processes',
                f"Processes are numbered 0 to {self._processes - 1}, as the header says",
            )
        return value

    def _fail(self, problem: str, advice: str) -> NoReturn:
        raise TraceError(self._path, self._line, problem, advice)


def _plain(block: bytes) -> list[tuple[str, ...]] | None:
    """The parts of each line of a block; None unless all of its lines are plain."""
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError:
        return None
    found = _PLAIN.findall(text)
    lines = text.count("\n") + (not text.endswith("\n"))
    return found if len(found) == lines and all(map(_is_json, {parts[4] for parts in found})) else None


def _is_json(destinations: str) -> bool:
    """Whether a list that looks like one is one: commas may be missing."""
    try:
        return isinstance(json.loads(f"[{destinations}]"), list)
    except ValueError:
        return False


def _fields(event: str, process: str, message: str) -> dict[str, Any]:
    return {"event": event, "process": _value(process), "message": message}


def _value(text: str) -> Any:
    return json.loads(text)


def fault_of_conditions(header: Mapping[str, Any]) -> tuple[str, str] | None:
    """What is wrong with the `CONDITIONS` that a header states, and what to do; None where nothing is."""
    for name, values in CONDITIONS.items():
        if name in header and not any(type(header[name]) is type(one) and header[name] == one for one in values):
            known = ", ".join(map(json.dumps, values))
            return f'"{name}" in the header is {_shown(header, name)}', f"It is one of {known}, or is left out"
    return None


def may_lose(header: Mapping[str, Any]) -> bool:
    """Whether a header says that packets may be lost below the system."""
    return header.get("loss") is True or header.get("channels") == "lossy"


def _shown(fields: Mapping[str, Any], name: str) -> str:
    return _excerpt(json.dumps(fields[name])) if name in fields else "missing"


def _excerpt(text: str) -> str:
    printable = "".join(character if character.isprintable() else "?" for character in text)
    return printable if len(printable) <= 60 else printable[:57] + "..."


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
