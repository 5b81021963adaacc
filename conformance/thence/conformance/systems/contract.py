"""The contract `thence-exec/1` between Thence and a foreign system: one JSON object a line.

`contract.schema.json` has it as a JSON Schema, and docs/reference/conformance.md explains it. Thence asks on the
system's standard input, the system answers on its standard output, one reply for each request, in order. This module
makes requests and reads replies; nothing here knows how they travel.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypeAlias

from thence.conformance.cases.network import Settings
from thence.dsl.ir import PERIODICALLY
from thence.spec.json_objects import each_once
from thence.spec.value import record

VERSION: Final = "thence-exec/1"

LINE_BYTES: Final = 4 * 2**20
"""Most bytes of a reply."""

CASE_BYTES: Final = 64 * 2**20
"""Most bytes of all replies of a case together."""

NAME_LENGTH: Final = 200
"""Characters that are kept of a text from a system."""


class Broken(ValueError):
    """A reply that the contract does not allow; the message names its fault."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """The abilities that a system states in its reply to `init`.

    Attributes:
        timers: it wants `tick`.
        react: it can send from inside a delivery callback.
        kinds: it gives every packet the kind, and the message, of the packet of the protocol that it implements, and
            does in each step what the protocol does.
        cases: it takes `batch`, and can hold so many cases at once.
    """

    timers: bool = True
    react: bool = True
    kinds: bool = False
    cases: int = 1


@record(frozen=True, slots=True)
class Foreign:
    """A packet of a foreign system: `content` is its own business, and any JSON value.

    `kind` and `message` are what the system says about it: the kind of the protocol's packet, and the application
    message that it moves; None where it says nothing. `fields` are the fields of the protocol's packet, by name, as far
    as it says them.
    """

    content: Any
    kind: str | None = None
    message: str | None = None
    fields: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"{self.kind or 'packet'} {shortened(self.content)}"


class Emitted(NamedTuple):
    """A packet was put on the network, a copy to each destination. `process`: by another process than was asked."""

    destinations: tuple[int, ...]
    packet: Foreign
    process: int | None = None


class Delivered(NamedTuple):
    """A message was handed to the application; `sender` is None where the system does not name it."""

    message: str
    sender: int | None
    process: int | None = None


class Reacted(NamedTuple):
    """Inside a delivery callback the application causal-sent the message of an earlier `react`."""

    message: str
    process: int | None = None


Event: TypeAlias = Emitted | Delivered | Reacted


@dataclass(frozen=True, slots=True)
class Waits:
    """The application cannot have the input now; nothing has changed."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The system refused the request, with an error of its own."""

    error: str


# --- requests ------------------------------------------------------------------------------------


Request: TypeAlias = dict[str, Any]


def init(settings: Settings, hosts: Iterable[int]) -> Request:
    """Begins a case: everything that was before is forgotten. The process hosts the participants `hosts`."""
    return {
        "request": "init",
        "version": VERSION,
        "processes": settings.processes,
        "hosts": list(hosts),
        "delivery": settings.delivery,
        "channels": settings.channels,
        "duplication": settings.duplication,
        "loss": settings.loss,
        "self_sends": settings.self_sends,
        **({} if settings.timers == (PERIODICALLY,) else {"timers": list(settings.timers)}),
        **({} if not settings.inputs else {"inputs": [each.name for each in settings.inputs]}),
        **({} if not settings.links else {"links": [list(link) for link in settings.links]}),
    }


def send(request: Literal["send", "react"], process: int, destinations: Iterable[int], message: str) -> Request:
    """`send`: the application of `process` causal-sends. `react`: it does so inside its next delivery callback."""
    return {"request": request, "process": process, "destinations": list(destinations), "message": message}


def receive(process: int, source: int, content: Any) -> Request:
    """A packet arrives."""
    return {"request": "receive", "process": process, "from": source, "packet": content}


def tick(process: int, timer: str = PERIODICALLY) -> Request:
    """The timer of this name fires."""
    named = {} if timer == PERIODICALLY else {"timer": timer}
    return {"request": "tick", "process": process, **named}


def input_(process: int, name: str, arguments: Iterable[int]) -> Request:
    """The application of the process has an input of its own."""
    return {"request": "input", "process": process, "input": name, "arguments": list(arguments)}


def batch(requests: Sequence[Request]) -> Request:
    """Requests of several cases in one; each has the number of its `case`."""
    return {"request": "batch", "requests": requests}


def line(request: Request) -> bytes:
    """The request as a line. Raises: Broken, for a packet that JSON cannot express."""
    try:
        return _ENCODER.encode(request).encode() + b"\n"
    except RecursionError:
        raise Broken("has sent a packet that is nested too deeply") from None


# --- replies -------------------------------------------------------------------------------------


def read_abilities(line: bytes) -> Abilities | Raised:
    """The reply to `init`. Raises: Broken."""
    return abilities_in(_object(line))


def abilities_in(reply: dict[str, Any]) -> Abilities | Raised:
    """The reply to `init`, as a JSON object. Raises: Broken."""
    error = reply.get("error")
    if error is not None:
        return _raised(error)
    version = reply.get("version")
    if version != VERSION:
        raise Broken(f"replies to init with the version {shortened(version)}, and not {VERSION!r}")
    said = {name: reply[name] for name in ("timers", "react", "kinds") if name in reply}
    for name, value in said.items():
        if not isinstance(value, bool):
            raise Broken(f"replies to init with {name}: {shortened(value)}, which is neither true nor false")
    cases = _number(reply.get("cases", 1))
    if cases is None or cases < 1:
        raise Broken(f"replies to init with cases: {shortened(reply['cases'])}, which is no number from 1 on")
    return Abilities(**said, cases=cases)


def read_events(line: bytes, processes: int, *, may_wait: bool = False) -> tuple[Event, ...] | Raised | Waits:
    """Every other reply: the events, in order. `may_wait`: to an input. Raises: Broken."""
    return events_in(_object(line), processes, may_wait=may_wait)


def events_in(reply: dict[str, Any], processes: int, *, may_wait: bool = False) -> tuple[Event, ...] | Raised | Waits:
    """The same of a reply that is a JSON object. Raises: Broken."""
    error = reply.get("error")
    if error is not None:
        return _raised(error)
    if reply.get("waits") is True:
        if not may_wait:
            raise Broken(f"replies {_said(reply)}, and only an application that has an input may have to wait")
        if reply.get("events", []) != []:
            raise Broken(f"replies {_said(reply)}: who waits does nothing")
        return Waits()
    if "events" not in reply:
        raise Broken(f"replies {_said(reply)}, without events")
    events = reply["events"]
    if not isinstance(events, list):
        raise Broken(f"replies with the events {shortened(events)}, which is no list")
    return tuple([_event(entry, processes) for entry in events])


def read_replies(line: bytes, count: int) -> list[dict[str, Any]]:
    """The reply to a batch of so many requests: theirs, in order, as JSON objects. Raises: Broken."""
    replies = _object(line).get("replies")
    if not isinstance(replies, list) or not all(isinstance(reply, dict) for reply in replies):
        raise Broken(f"replies {shown(line)} to a batch, without a list of replies")
    if len(replies) != count:
        raise Broken(f"has {len(replies)} replies to a batch of {count} requests")
    return replies


def _event(entry: Any, processes: int) -> Event:
    event = _own_event(entry, processes)
    if "process" not in entry or entry["process"] is None:
        return event
    process = _number(entry["process"])
    if process is None or not 0 <= process < processes:
        raise Broken(f"reports an event of process {shortened(entry['process'])}; there are 0 to {processes - 1}")
    return event._replace(process=process)


def _own_event(entry: Any, processes: int) -> Event:
    if type(entry) is dict:  # No patterns: they take several times as long, and events are many.
        if "packet" in entry and "to" in entry:
            kind, message = entry.get("kind"), entry.get("message")
            if not (kind is None or type(kind) is str) or not (message is None or type(message) is str):
                raise Broken(f"reports the packet {shortened(entry)}, whose kind or message is not a string")
            fields = entry.get("fields")
            if not (fields is None or type(fields) is dict):
                raise Broken(f"reports the packet {shortened(entry)}, whose fields are not an object")
            packet = Foreign(entry["packet"], _named(kind), _named(message), fields)
            return Emitted(_destinations(entry["to"], processes), packet)
        delivered = entry.get("deliver")
        if type(delivered) is str:
            given = entry.get("from")
            sender = None if given is None else _number(given)
            if sender is None and given is not None:
                raise Broken(f"reports a delivery from {shortened(given)}, which is not the number of a process")
            return Delivered(printable(delivered), sender)
        sent = entry.get("sent")
        if type(sent) is str:
            return Reacted(printable(sent))
    raise Broken(f"reports the event {shortened(entry)}, which is none of packet, deliver and sent")


def _destinations(to: object, processes: int) -> tuple[int, ...]:
    if type(to) is int and 0 <= to < processes:
        return (to,)
    found = [_number(one) for one in (to if isinstance(to, list) else [to])]
    inside = tuple([one for one in found if one is not None and 0 <= one < processes])
    if len(inside) != len(found):
        raise Broken(f"sends a packet to {shortened(to)}; there are processes 0 to {processes - 1}")
    return inside


def _number(value: object) -> int | None:
    """The integer that a JSON value is; some languages write 1.0 for 1."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def _object(line: bytes) -> dict[str, Any]:
    try:
        reply = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        raise Broken(f"prints {shown(line)}, which is not JSON") from None
    if not isinstance(reply, dict):
        raise Broken(f"prints {shown(line)}, which is not a JSON object")
    if "request" in reply:
        raise Broken(f"prints {shown(line)}: it repeats what it was asked")
    return reply


def _said(reply: dict[str, Any]) -> str:
    return shown(json.dumps(reply).encode())


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False)
"""What is in a request came as JSON or is made here: it has no circles."""

_DECODER: Final = json.JSONDecoder(object_pairs_hook=each_once, parse_constant=_no_number)


def _raised(error: object) -> Raised:
    return Raised(printable(error) if isinstance(error, str) else shortened(error))


def _named(name: str | None) -> str | None:
    return None if name is None else printable(name)


# --- words ---------------------------------------------------------------------------------------


def shown(data: bytes) -> str:
    """A system's output, for people."""
    return repr(printable(data[: 2 * NAME_LENGTH].decode(errors="replace").rstrip("\r\n")))


def printable(text: str) -> str:
    """The text on one line, without anything that a terminal would obey or a file could not hold, and not endless."""
    if len(text) <= NAME_LENGTH and text.isprintable():
        return text
    kept = text if len(text) <= NAME_LENGTH else text[: NAME_LENGTH - 1] + "…"
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in kept)


def shortened(value: object) -> str:
    """A JSON value for people, as JSON."""
    text = printable(json.dumps(value, ensure_ascii=False, default=repr))
    return text if len(text) <= 80 else text[:79] + "…"
