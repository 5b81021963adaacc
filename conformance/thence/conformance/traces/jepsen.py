"""Jepsen histories, EDN or JSON: operations `send` and `deliver` (also `receive`) of processes, with their invocations.

    {:process 0, :type :invoke, :f :send, :value {:message "m0", :destinations [1 2]}}
    {:process 0, :type :ok,     :f :send, :value {:message "m0", :destinations [1 2]}}
    {:process 1, :type :ok,     :f :deliver, :value "m0"}

A send counts from its invocation, unless it failed; one whose end is not known (`:info`, or none at all) is believed
only if somebody delivered it. A delivery counts when it is `:ok`. Other operations, and the nemesis, are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from thence.conformance.traces.named import Recording
from thence.spec.logs import LogError
from thence.spec.trace import Trace


def is_jepsen(value: object) -> bool:
    """Whether a value is an operation of a history."""
    return isinstance(value, Mapping) and {"process", "type", "f"} <= set(value)


def read_jepsen(operations: Sequence[Any]) -> Trace:
    """The execution of the history. Raises LogError with the operation that is at fault."""
    client = [
        (number, each) for number, each in enumerate(operations) if is_jepsen(each) and type(each["process"]) is int
    ]
    if not client:
        raise LogError("there is no operation of a client process in it")
    ended = {
        _message(number, each["value"])[0]: str(each["type"])
        for number, each in client
        if each["f"] == "send" and each["type"] != "invoke"
    }
    delivered = {
        _message(number, each["value"])[0] for number, each in client if each["f"] == "deliver" and each["type"] == "ok"
    }
    recording = Recording(str(process) for process in sorted({each["process"] for _, each in client}))
    for number, each in client:
        process = str(each["process"])
        match each["f"], each["type"]:
            case "send", "invoke":
                message, destinations = _message(number, each["value"])
                if ended.get(message) == "ok" or (ended.get(message) != "fail" and message in delivered):
                    recording.send(process, message, destinations)
            case "deliver", "ok":
                recording.deliver(process, _message(number, each["value"])[0])
            case "receive", "ok":
                message, _ = _message(number, each["value"])
                recording.receive(process, message, str(each["value"].get("from", process)))
            case _:
                pass
    return recording.trace({"source": "Jepsen"})


def _message(number: int, value: Any) -> tuple[str, list[str] | None]:
    """The message of a value, and its destinations where it has them."""
    match value:
        case str() | int():
            return str(value), None
        case {"message": message, **rest}:
            destinations = rest.get("destinations")
            return str(message), [str(each) for each in destinations] if isinstance(destinations, list) else None
    raise LogError(f"operation {number}: the value names no message; it is a name, or a map with :message")
