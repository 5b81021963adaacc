"""ITF traces (Apalache's ADR 015) of a model that keeps its last event in a variable `event`.

    {"vars": ["event", ...],
     "states": [{"event": {"event": "send", "process": 0, "message": "m0", "destinations": {"#set": [1]}}, ...}]}

The fields are those of `thence-trace/1`; a state whose `event` has `"event": "none"`, or is that of the state before,
in a stuttering step, adds nothing. So between two events that are the same there is a state with "none". Numbers may be
`{"#bigint": "7"}`, sets `{"#set": [...]}`. `#meta` may have the conditions of a header of `thence-trace/1`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from thence.spec.events import Event, Execution, printable
from thence.spec.logs import LogError
from thence.spec.trace import CONDITIONS, Trace, event_to_json, fault_of_conditions

_KINDS: Final = ("send", "receive", "deliver", "input")
_NOTHING: Final = {"event": "none"}


def is_itf(value: object) -> bool:
    """Whether a JSON value is a trace of states."""
    return isinstance(value, Mapping) and "vars" in value and "states" in value


def read_itf(value: Mapping[str, Any]) -> tuple[int, dict[str, Any], list[dict[str, Any]]]:
    """The number of processes, the `CONDITIONS` that are stated, and the events as objects of `thence-trace/1`.

    Raises:
        LogError: it has no events, or states what is no condition.
    """
    states = value["states"]
    if not isinstance(states, list) or not all(isinstance(state, Mapping) for state in states):
        raise LogError("its states are not a list of objects")
    if not any("event" in state for state in states):
        raise LogError("no state has a variable `event`: the model does not say which event each step was")
    found: list[dict[str, Any]] = []
    before = None
    for number, state in enumerate(states):
        event = _plain(state.get("event"))
        if event not in (None, _NOTHING, before):
            if not isinstance(event, dict) or event.get("event") not in _KINDS:
                said = printable(json.dumps(state["event"]))[:80]
                raise LogError(f"state {number} has the event {said}, which is none of {', '.join(_KINDS)}, none")
            found.append(event)
        before = event
    numbers = [number for event in found for number in _processes(event)]
    meta = value.get("#meta")
    stated = meta if isinstance(meta, Mapping) else {}
    if fault := fault_of_conditions(stated):
        raise LogError(". ".join(fault))
    conditions = {name: stated[name] for name in CONDITIONS if name in stated}
    declared = stated.get("processes")
    if not numbers and type(declared) is not int:
        raise LogError("no state has an event with a process")
    return declared if type(declared) is int else max(numbers) + 1, conditions, found


def write_itf(trace: Trace) -> dict[str, Any]:
    """The trace as an ITF object, with one state before the first event."""
    execution: Execution = trace.execution
    shown = [_NOTHING]
    for before, event in zip((None, *execution.events), execution.events, strict=False):
        shown += [_NOTHING, _coded(event)] if event == before else [_coded(event)]
    states = [{"#meta": {"index": index}, "event": event} for index, event in enumerate(shown)]
    meta = {
        "format": "ITF",
        "format-description": "Informal Trace Format, Apalache ADR 015",
        "processes": execution.processes,
        **{name: trace.header[name] for name in CONDITIONS if name in trace.header},
    }
    return {"#meta": meta, "vars": ["event"], "states": states}


def _coded(event: Event) -> dict[str, Any]:
    def code(name: str, value: Any) -> Any:
        match value:
            case bool():
                return value
            case int():
                return {"#bigint": str(value)}
            case list():
                items = [code(name, each) for each in value]
                return {"#set": items} if name == "destinations" else items
        return value

    return {name: code(name, value) for name, value in event_to_json(event).items()}


def _plain(value: Any) -> Any:
    match value:
        case {"#bigint": str(digits)}:
            try:
                return int(digits)
            except ValueError as error:
                raise LogError(f"{digits[:40]!r} is not a number") from error
        case {"#set": list(items)} | {"#tup": list(items)} | list(items):
            return [_plain(item) for item in items]
        case dict():
            return {name: _plain(part) for name, part in value.items()}
    return value


def _processes(event: Mapping[str, Any]) -> list[int]:
    destinations = event.get("destinations")
    numbers = [event.get("process"), event.get("from"), *(destinations if isinstance(destinations, list) else ())]
    return [number for number in numbers if type(number) is int]
