"""ShiViz logs: each event with the vector clock of its host, in two lines, or in one.

    p0 {"p0": 1}
    send m0 to [1, 2]

Where every event reads `send M to [...]`, `receive M from P`, `deliver M` or `input NAME [...]`, as Thence writes
them, they mean that; a name with spaces or the like is a JSON string. Otherwise the clocks tell: an event whose clock
has news of another host delivers the latest event of that host, which thereby is a send. A message that comes late
brings no news, so that clocks alone never show a violation: for that, the events have to be named, and the header of
the trace has `inferred` where they are not. In a ShiViz log the own entry of a host goes up by one with each of its
events, so a log that leaves events out is refused; and so is one whose clocks contradict each other, or know of events
that are not in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thence.conformance.traces.named import Recording
from thence.spec.events import Deliver, Execution, Input, Receive, Send
from thence.spec.json_objects import json_value
from thence.spec.logs import LogError
from thence.spec.trace import Trace

_CLOCKED = re.compile(r"^(?P<host>\S+)\s+(?P<clock>\{.*?\})\s*(?P<event>.*)$")
_NAME = r'(?:"(?:[^"\\]|\\.)*"|\S+)'
_OURS = re.compile(
    rf"^(?:send (?P<sent>{_NAME}) to \[(?P<to>[^\]]*)\]|receive (?P<got>{_NAME}) from (?P<sender>\S+)"
    rf"|deliver (?P<had>{_NAME})|input (?P<input>\w+) (?P<arguments>\[[^\]]*\]))$"
)
_PARTS = re.compile(r"([^0-9]*)([0-9]*)")
_HOST = re.compile(r"[^\s,\[\]{}\"]+")


@dataclass(frozen=True, slots=True)
class _Entry:
    line: int
    host: str
    clock: dict[str, int]
    text: str


def is_shiviz(text: str) -> bool:
    """Whether the text begins like such a log."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    found = _CLOCKED.match(first)
    return found is not None and _clock(found["clock"]) is not None


def read_shiviz(text: str) -> Trace:
    """The execution of the log. Raises LogError with the line that is at fault."""
    entries = _ordered(list(_entries(text)))
    if not entries:
        raise LogError("there is no event in it")
    _check_clocks(entries)
    header: dict[str, Any] = {"source": "ShiViz"}
    named = {entry.host for entry in entries} | {host for entry in entries for host in entry.clock}
    hosts = sorted(named, key=_place)
    recording = Recording(hosts)
    if all(_OURS.match(entry.text) for entry in entries):
        for entry in entries:
            _spoken(recording, entry)
    else:
        header["inferred"] = True
        _inferred(recording, entries)
    return recording.trace(header)


def write_shiviz(execution: Execution) -> str:
    """The log, with a clock that counts events. Arrivals take the sender's clock over; without them, deliveries do.

    Hosts have the names of the processes, or numbers, where a name cannot be that of a host, or where the names would
    be read in another order. The first clock has all of them, so that as many processes are read.
    """
    arrivals = {(event.process, event.message) for event in execution.events if isinstance(event, Receive)}
    names = [execution.name_of(process) for process in range(execution.processes)]
    fit = all(map(_HOST.fullmatch, names)) and all(map(str.isprintable, names))
    if not fit or names != sorted(names, key=_place):
        names = [f"p{process}" for process in range(execution.processes)]
    clocks: list[dict[int, int]] = [{} for _ in names]
    sent: dict[str, dict[int, int]] = {}
    lines: list[str] = []
    for event in execution.events:
        clock = clocks[event.process]
        clock[event.process] = clock.get(event.process, 0) + 1
        match event:
            case Send(_, message, destinations):
                text = f"send {_named(message)} to [{', '.join(names[each] for each in destinations)}]"
                sent[message] = dict(clock)
            case Receive(_, message, sender):
                text = f"receive {_named(message)} from {names[sender]}"
                _merge(clock, sent[message])
            case Deliver(process, message):
                text = f"deliver {_named(message)}"
                if (process, message) not in arrivals:
                    _merge(clock, sent[message])
            case Input(_, name, arguments):
                text = f"input {name} {json.dumps(arguments)}"
        told = clock if lines else {process: clock.get(process, 0) for process in range(execution.processes)}
        shown = {names[process]: count for process, count in sorted(told.items())}
        lines += [f"{names[event.process]} {json.dumps(shown)}", text]
    return "".join(f"{line}\n" for line in lines)


def _place(host: str) -> tuple[list[tuple[str, int, str]], str]:
    """By which hosts are numbered: p2 comes before p10."""
    parts = [(word, digits.lstrip("0")) for word, digits in _PARTS.findall(host)]
    return [(word, len(digits), digits) for word, digits in parts], host


def _merge(clock: dict[int, int], other: dict[int, int]) -> None:
    for process, count in other.items():
        clock[process] = max(clock.get(process, 0), count)


def _entries(text: str) -> Iterator[_Entry]:
    pending: tuple[int, str, dict[str, int]] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        found = _CLOCKED.match(line)
        clock = _clock(found["clock"]) if found else None
        if pending is not None:
            if found is not None and clock is not None:
                raise LogError(f"line {number}: the event of line {pending[0]} is missing")
            yield _Entry(*pending, line.strip())
            pending = None
        elif found is None or clock is None:
            raise LogError(f'line {number}: a host and its clock are expected, as in: p0 {{"p0": 1}}')
        elif clock.get(found["host"], 0) < 1:
            raise LogError(f"line {number}: the clock of {found['host']} has no entry for itself")
        elif found["event"]:
            yield _Entry(number, found["host"], clock, found["event"].strip())
        else:
            pending = (number, found["host"], clock)
    if pending is not None:
        raise LogError(f"line {pending[0]}: the event is missing")


def _clock(text: str) -> dict[str, int] | None:
    try:
        value = json_value(text)
    except (ValueError, RecursionError):
        return None
    fits = isinstance(value, dict) and all(type(count) is int and count >= 0 for count in value.values())
    return value if fits else None


def _ordered(entries: Sequence[_Entry]) -> list[_Entry]:
    """Each host's events by its own count, which has no gaps."""
    found = sorted(entries, key=lambda entry: (entry.host, entry.clock[entry.host]))
    for before, entry in zip([None, *found], found, strict=False):
        expected = before.clock[before.host] + 1 if before is not None and before.host == entry.host else 1
        if entry.clock[entry.host] != expected:
            own = entry.clock[entry.host]
            raise LogError(f"line {entry.line}: event {own} of {entry.host}, where its event {expected} should be")
    return found


def _check_clocks(entries: Sequence[_Entry]) -> None:
    """A clock knows events of the log only, all that these knew, and all that its host knew before. None of these knew
    the event itself. Raises: LogError."""
    at = {(entry.host, entry.clock[entry.host]): entry for entry in entries}
    for (host, own), entry in at.items():
        for source in entry.clock.items():
            if source[1] and source not in at:
                raise LogError(f"line {entry.line}: event {source[1]} of {source[0]} is not in the log")
        known = [source for source in entry.clock.items() if source[1] and source[0] != host]
        for source in (*known, *([(host, own - 1)] if own > 1 else ())):
            earlier = at[source]
            if earlier.clock.get(host, 0) >= own:
                raise LogError(f"line {entry.line}: {host} knows line {earlier.line}, which knows this event already")
            if any(count > entry.clock.get(other, 0) for other, count in earlier.clock.items()):
                raise LogError(f"line {entry.line}: the clock of {host} leaves out what line {earlier.line} knew")


def _spoken(recording: Recording, entry: _Entry) -> None:
    found = _OURS.match(entry.text)
    assert found is not None
    if found["sent"]:
        recording.send(entry.host, _name(found["sent"]), [name for name in re.split(r"[,\s]+", found["to"]) if name])
    elif found["got"]:
        recording.receive(entry.host, _name(found["got"]), found["sender"])
    elif found["had"]:
        recording.deliver(entry.host, _name(found["had"]))
    else:
        recording.input(entry.host, found["input"], _arguments(entry.line, found["arguments"]))


def _named(message: str) -> str:
    """The message in an event: its name, or the JSON text of it where that could be read as something else."""
    return message if message.isprintable() and not {" ", '"', "{"} & set(message) else json.dumps(message)


def _name(text: str) -> str:
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:
        return text


def _arguments(line: int, text: str) -> list[int]:
    try:
        values = json.loads(text)
    except ValueError:
        values = [None]
    if not all(isinstance(each, int) and each >= 0 for each in values):
        raise LogError(f"line {line}: the arguments of an input are natural numbers and truth values")
    return list(values)


def _inferred(recording: Recording, entries: Sequence[_Entry]) -> None:
    """Sends and deliveries from the clocks alone."""
    at = {(entry.host, entry.clock[entry.host]): entry for entry in entries}
    sources: dict[tuple[str, int], list[tuple[str, int]]] = {}
    sends: set[tuple[str, int]] = set()
    for key, entry in at.items():
        before = at[key[0], key[1] - 1].clock if key[1] > 1 else {}
        news = [(host, count) for host, count in entry.clock.items() if host != key[0] and count > before.get(host, 0)]
        direct = [
            source
            for source in news
            if not any(other != source and at[other].clock.get(source[0], 0) >= source[1] for other in news)
        ]
        sources[key] = direct
        sends |= set(direct)
    if not sends:
        raise LogError("no clock has news of another host: nobody sent anything")
    for key in at:
        for host, count in sources[key]:
            recording.deliver(key[0], f"{host}.{count}")
        if key in sends:
            recording.send(key[0], f"{key[0]}.{key[1]}", None)
