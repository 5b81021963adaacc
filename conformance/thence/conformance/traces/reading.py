"""Reading and writing recorded executions in any of the formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from thence.conformance.cases.recorded_case import FORMAT as CASE_FORMAT
from thence.conformance.traces.edn import read_all
from thence.conformance.traces.itf import is_itf, read_itf, write_itf
from thence.conformance.traces.jepsen import is_jepsen, read_jepsen
from thence.conformance.traces.otlp import is_otlp, read_otlp
from thence.conformance.traces.shiviz import is_shiviz, read_shiviz, write_shiviz
from thence.spec.json_objects import KeyTwice, json_value
from thence.spec.logs import Log, LogError, merged
from thence.spec.trace import (
    CONDITIONS,
    FORMAT,
    Trace,
    TraceError,
    opened,
    read_events,
    read_log,
    read_trace,
)
from thence.spec.words import counted

Format = Literal["ndjson", "itf", "shiviz", "jepsen", "otlp"]
FORMATS: Final[tuple[str, ...]] = get_args(Format)
WRITTEN: Final = ("ndjson", "itf", "shiviz")
LARGEST_BYTES: Final = 256 << 20
"""Formats other than NDJSON are read whole, up to this size."""


_ADVICE: Final = "`--format` says which format it is; docs/reference/traces.md says what is expected of each"


def read(path: str | Path, format_: str | None = None, *, packed: bool = False) -> Trace:
    """The execution in the file; the format is recognised unless it is given.

    Args:
        packed: leave events packed that were read so (`PackedEvents`), for whoever looks at them once or twice.

    Raises:
        TraceError: the file cannot be read, or is nothing of the kind.
    """
    path = Path(path)
    if format_ == "ndjson" or (format_ is None and _is_ndjson(path)):
        trace = read_trace(path)
        return trace if packed else replace(trace, execution=trace.execution.unpacked())
    text = _text(path)
    try:
        return _reader(path, text, format_)()
    except RecursionError as error:
        raise TraceError(path, None, "is nested too deeply", _ADVICE) from error
    except LogError as error:
        raise TraceError(path, None, str(error), _ADVICE) from error


def read_merged(paths: Sequence[str | Path]) -> Trace:
    """One execution from logs of which each knows a part: `thence-trace/1` files without a common clock.

    Raises:
        TraceError: a file is none, the headers disagree on the number of processes or on `CONDITIONS`, two files have
            events of one process, whose order nothing tells, or the logs contradict each other.
    """
    traces = [(Path(path), read_log(path)) for path in paths]
    first, one = traces[0]
    processes = one.execution.processes
    for path, trace in traces[1:]:
        if trace.execution.processes != processes:
            problem = f"has {counted(trace.execution.processes, 'process')}, and {first} has {processes}"
            raise TraceError(path, None, problem, "Logs of one run have the same number in their headers")
    header = _header_of_all(traces)
    _require_apart(traces)
    try:
        execution = merged([Log(str(path), tuple(trace.execution.events)) for path, trace in traces], processes)
    except LogError as error:
        raise TraceError(
            first, None, str(error), "Each log has its events in the order in which they happened"
        ) from error
    return Trace(execution, header)


def _header_of_all(traces: Sequence[tuple[Path, Trace]]) -> dict[str, Any]:
    """The header of logs of one run: that of the first, with the conditions that any of them states."""
    found = dict(traces[0][1].header)
    states = dict.fromkeys(found, traces[0][0])
    for path, trace in traces[1:]:
        for name in CONDITIONS.keys() & trace.header.keys():
            if found.setdefault(name, trace.header[name]) != trace.header[name]:
                problem = (
                    f"has {name} {json.dumps(trace.header[name])}, and {states[name]} has {json.dumps(found[name])}"
                )
                raise TraceError(path, None, problem, "Logs of one run state the same conditions, or leave them out")
            states.setdefault(name, path)
    return found


def _require_apart(traces: Sequence[tuple[Path, Trace]]) -> None:
    """Raises TraceError: two logs have events of one process."""
    found: dict[int, Path] = {}
    for path, trace in traces:
        for process in {event.process for event in trace.execution.events}:
            if (other := found.setdefault(process, path)) is not path:
                problem = f"has events of process {process}, and so has {other}: nothing says which came first"
                raise TraceError(path, None, problem, "Put all events of a process into one log, in their order")


def written(trace: Trace, format_: str) -> str | None:
    """The text of the trace in a format of `WRITTEN`, but None for NDJSON, which `write_trace` writes."""
    match format_:
        case "itf":
            return json.dumps(write_itf(trace), indent=1) + "\n"
        case "shiviz":
            return write_shiviz(trace.execution)
    return None


def _reader(path: Path, text: str, format_: str | None) -> Callable[[], Trace]:
    """The reader of the text. LogError where the format is unknown or does not fit."""
    values = None if format_ == "shiviz" else _json_values(text)
    if format_ == "shiviz" or (format_ is None and values is None and is_shiviz(text)):
        return lambda: read_shiviz(text)
    if values is None and format_ in (None, "jepsen"):
        values = _edn_values(text, format_)
    if values is None:
        raise LogError(f"it is not JSON, which {format_} is")
    if format_ == "otlp" or (format_ is None and values and all(map(is_otlp, values))):
        return lambda: read_otlp(values)
    if format_ == "itf" or (format_ is None and len(values) == 1 and is_itf(values[0])):
        if len(values) != 1 or not is_itf(values[0]):
            raise LogError("it is not one ITF object with `vars` and `states`")
        processes, conditions, events = read_itf(values[0])
        return lambda: Trace(read_events(path, processes, events), {"source": "ITF", **conditions})
    operations = _flat(values)
    if format_ == "jepsen" or (operations and all(map(is_jepsen, operations))):
        return lambda: read_jepsen(operations)
    raise _unrecognized(path, values)


def _unrecognized(path: Path, values: Sequence[Any]) -> TraceError:
    """What to do with a file that is none of the formats, judged by its first value."""
    first = values[0] if values and isinstance(values[0], dict) else {}
    if first.get("format") == CASE_FORMAT:
        advice = f"`thence conform --replay {path}` runs it again, and `thence play {path}` shows it"
        return TraceError(path, None, "it is a recorded case of `thence conform`, and no recorded execution", advice)
    if "event" in first and "process" in first:
        advice = f'The first line is {{"format": "{FORMAT}", "processes": N, ...}}'
        return TraceError(path, 1, "this is an event, and the line with the number of processes is missing", advice)
    return TraceError(path, None, f"it is none of the formats {', '.join(FORMATS)}", _ADVICE)


def _edn_values(text: str, format_: str | None) -> list[Any]:
    """The values of EDN, in which Jepsen writes. LogError: the text is none."""
    try:
        return _flat(read_all(text))
    except LogError as error:
        if format_ is None:
            raise LogError(f"it is none of the formats {', '.join(FORMATS)} (as jepsen: {error})") from error
        raise


def _flat(values: list[Any]) -> list[Any]:
    """A history may be one vector of operations, or operations one after the other."""
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def _json_values(text: str) -> list[Any] | None:
    """The JSON values of the text, one or one a line; None if it is not JSON. LogError: a key stands twice."""
    for parts in ([text], [line for line in text.split("\n") if line.strip()]):
        try:
            return [json_value(part) for part in parts]
        except KeyTwice as error:
            raise LogError(str(error)) from error
        except (ValueError, RecursionError):
            pass
    return None


def _is_ndjson(path: Path) -> bool:
    """Whether the first line is the header, or there is no line, which `read_trace` reports. TraceError: a pipe."""
    if path.is_fifo():
        advice = "Pipe it to the standard input and name `-`, or say with `--format` which format it is"
        raise TraceError(path, None, "is a pipe, which cannot be read twice", advice)
    try:
        with opened(path) as file:
            first = file.readline(1 << 20).strip()
    except (OSError, TraceError):
        return True
    return not first or b"\0" in first or f'"{FORMAT}"'.encode() in first or b'"thence-trace' in first


def _text(path: Path) -> str:
    try:
        with opened(path) as file:
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            problem = f"is larger than {LARGEST_BYTES >> 20} MiB"
            raise TraceError(path, None, problem, "Large recordings are read as NDJSON, line by line")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceError(path, None, "this is a binary file, or not UTF-8", _ADVICE) from error
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise TraceError(path, None, problem, "Check the name and the permissions") from error
