"""Runs in the Informal Trace Format (ITF), which TLA+ tools read: JSON, one object a state.

Big numbers are `{"#bigint": "7"}`, sets `{"#set": [...]}`, tuples `{"#tup": [...]}`, maps `{"#map": [[key, value]]}`.
Variables: each state variable of the protocol as a map from processes, `network` as a map from packets to how often
they are in flight, `undelivered` as the set of the messages that are on the way, and `action`, which led to the state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from thence.dsl.ir.types import Bool, Collection, Map, Record, Sort, Type
from thence.dsl.run.actions import State
from thence.dsl.run.narrate import NarratedStep
from thence.dsl.run.system import System
from thence.dsl.run.values import Message, Packet, Value, ascending


def itf(system: System, steps: Sequence[NarratedStep], source: str) -> dict[str, Any]:
    """The run as an ITF object; `source` names the file or protocol that it is a run of."""
    names = [variable.name for variable in system.protocol.state]
    states = [_state(system, system.initial(), "")]
    states += [_state(system, step.outcome.state, step.title) for step in steps]
    return {
        "#meta": {
            "format": "ITF",
            "format-description": "Informal Trace Format, Apalache ADR 015",
            "source": source,
        },
        "vars": ["action", *(_free(name) for name in names), "network", "undelivered"],
        "states": [{"#meta": {"index": index}, **state} for index, state in enumerate(states)],
    }


def _free(name: str) -> str:
    """A name that is none of ours."""
    return f"{name}_" if name in ("action", "network", "undelivered") else name


def _state(system: System, state: State, action: str) -> dict[str, Any]:
    locals_ = system.locals_of(state)
    found: dict[str, Any] = {"action": action}
    for position, variable in enumerate(system.protocol.state):
        pairs = [[_number(process), value_of(local[position], variable.type)] for process, local in enumerate(locals_)]
        found[_free(variable.name)] = {"#map": pairs}
    flight = Counter(state.network)
    found["network"] = {
        "#map": [[_packet(system, system.packet(number)), _number(count)] for number, count in sorted(flight.items())]
    }
    found["undelivered"] = {"#set": [_message(entry.message) for entry in state.history.pending]}
    return found


def _number(value: int) -> dict[str, str]:
    return {"#bigint": str(value)}


def _message(message: Message) -> dict[str, Any]:
    destinations = {"#set": [_number(destination) for destination in message.dsts]}
    return {"src": _number(message.src), "number": _number(message.number), "dsts": destinations}


def _packet(system: System, packet: Packet) -> dict[str, Any]:
    kind = next(kind for kind in system.protocol.packets if kind.name == packet.kind)
    arguments = zip(kind.parameters, packet.arguments, strict=True)
    fields = {parameter.name: value_of(argument, parameter.type) for parameter, argument in arguments}
    return {"kind": packet.kind, "src": _number(packet.src), "dst": _number(packet.dst), "arguments": fields}


def value_of(value: Value, type_: Type) -> Any:
    """A run-time value in ITF. An option is a tuple with nothing or one value in it."""
    match type_:
        case Bool():
            return bool(value)
        case Sort("message"):
            return _message(value)
        case Record(fields=fields):
            return {label: value_of(part, kind) for (label, kind), part in zip(fields, value, strict=True)}
        case Map(key, item):
            return {"#map": [[value_of(known, key), value_of(part, item)] for known, part in value]}
        case Collection("set", item):
            return {"#set": [value_of(part, item) for part in ascending(value)]}
        case Collection("option", item):
            return {"#tup": [value_of(part, item) for part in value or ()]}
        case Collection("queue", item):
            return [value_of(part, item) for part in value]
        case Collection("sliding array", item):
            first, items = value
            return {"first": _number(first), "items": [value_of(part, item) for part in items]}
        case Collection("sliding map", item):
            following, entries = value
            pairs = [[_number(index), value_of(part, item)] for index, part in entries]
            return {"next": _number(following), "items": {"#map": pairs}}
        case _:
            return _number(value)
