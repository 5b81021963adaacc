"""Jepsen histories, EDN or JSON: operations `send` and `deliver` (also `receive`) of processes, with their invocations.

    {:process 0, :type :invoke, :f :send, :value {:message "m0", :destinations [1 2]}}
    {:process 0, :type :ok,     :f :send, :value {:message "m0", :destinations [1 2]}}
    {:process 1, :type :ok,     :f :deliver, :value "m0"}

A send counts from its invocation, unless it failed; one whose end is not known (`:info`, or none at all) is believed
only if it arrived or was delivered. An arrival without `:from` is from the sender of its message. A delivery counts
when it is `:ok`. Other operations, and the nemesis, are passed over; what is no operation is refused, since it might be
a delivery.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from thence.conformance.traces.named import Recording
from thence.spec.logs import LogError
from thence.spec.trace import Trace

_NEMESIS: Final = "nemesis"
_EVENTS: Final = ("send", "deliver", "receive")
_TYPES: Final = ("invoke", "ok", "fail", "info")


def is_jepsen(value: object) -> bool:
    """Whether a value is an operation of a history."""
    return isinstance(value, Mapping) and {"process", "type", "f"} <= set(value)


def read_jepsen(operations: Sequence[Any]) -> Trace:
    """The execution of the history. Raises LogError with the operation that is at fault."""
    client = [(number, each) for number, each in enumerate(operations) if _of_client(number, each)]
    if not client:
        raise LogError("there is no operation of a client process in it")
    happened = _sends(client)
    senders = {_message(number, each)[0]: each["process"] for number, each in client if number in happened}
    recording = Recording(str(process) for process in sorted({each["process"] for _, each in client}))
    for number, each in client:
        process = str(each["process"])
        match each["f"], each["type"]:
            case "send", "invoke":
                if number in happened:
                    recording.send(process, *_message(number, each))
            case "deliver", "ok":
                recording.deliver(process, _message(number, each)[0])
            case "receive", "ok":
                message, _ = _message(number, each)
                value = each["value"]
                known = value.get("from") if isinstance(value, Mapping) else None
                recording.receive(process, message, str(senders.get(message, process) if known is None else known))
            case _:
                pass
    return recording.trace({"source": "Jepsen"})


def _of_client(number: int, operation: Any) -> bool:
    """Whether it is an operation of a client, and not of the nemesis. Raises LogError: it is none of a history."""
    if not is_jepsen(operation):
        raise LogError(f"operation {number}: it is no map with :process, :type and :f")
    process, event, type_ = operation["process"], operation["f"], operation["type"]
    if process == _NEMESIS:
        return False
    if type(process) is not int:
        raise LogError(f"operation {number}: :process is {str(process)[:40]!r}, and no number; nor is it the nemesis")
    if event in _EVENTS and type_ not in _TYPES:
        raise LogError(f"operation {number}: :type is {str(type_)[:40]!r}, which is none of {', '.join(_TYPES)}")
    return True


def _sends(client: Sequence[tuple[int, Mapping[str, Any]]]) -> set[int]:
    """The invocations of sends that happened. An end is that of its process's last invocation with the same message."""
    came = {
        _message(number, each)[0]
        for number, each in client
        if each["f"] in ("deliver", "receive") and each["type"] == "ok"
    }
    happened: set[int] = set()
    open_: dict[tuple[int, str], int] = {}
    for number, each in client:
        if each["f"] != "send":
            continue
        message, _ = _message(number, each)
        sent = (each["process"], message)
        if each["type"] == "invoke":
            open_[sent] = number
            if message in came:
                happened.add(number)
            continue
        begun = open_.pop(sent, None)
        if begun is None and each["type"] == "ok":
            raise LogError(f"operation {number}: a send of {message!r} ends, and process {each['process']} began none")
        if begun is not None and each["type"] == "ok":
            happened.add(begun)
        elif begun is not None and each["type"] == "fail":
            happened.discard(begun)
    return happened


def _message(number: int, operation: Mapping[str, Any]) -> tuple[str, list[str] | None]:
    """The message of the operation's value, and its destinations where it has them."""
    match operation.get("value"):
        case value if _is_name(value):
            return str(value), None
        case {"message": message, **rest} if _is_name(message):
            destinations = rest.get("destinations")
            if destinations is None:
                return str(message), None
            if isinstance(destinations, list) and all(map(_is_name, destinations)):
                return str(message), [str(each) for each in destinations]
            raise LogError(f"operation {number}: :destinations is no list of processes")
    raise LogError(f"operation {number}: the value names no message; it is a name, or a map with :message")


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
