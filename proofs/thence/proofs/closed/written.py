"""States outside memory: JSON values that need no table of any engine.

A value of the language is written by its type:

======================  ============================================================
type                    JSON
======================  ============================================================
process, nat, bool      a number; true or false
message                 [sender, number, [destination, ...]]
record, queue           [...], in order
option of T             [] or [T]
set of T                [T, ...], ascending
map K to V              [[K, V], ...], ascending by key
sliding array of T      [first, [T, ...]]
sliding map of T        [next, [[index, T], ...]]
======================  ============================================================

A local state is the list of its variables, a packet `[kind, from, to, [argument, ...]]`. A state names local states and
packets by their lines in the files of those. Messages in a causal past are numbered: those of process 0 come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from thence.dsl.ir.types import MESSAGE, PROCESS, Bool, Collection, Map, Nat, Record, Type, has_zero
from thence.dsl.run.actions import State
from thence.dsl.run.causality import History, Pending
from thence.dsl.run.interpreter import LocalState
from thence.dsl.run.system import System
from thence.dsl.run.values import Message, Packet, Value, ascending, zero


class Malformed(Exception):
    """A JSON value that is no such thing; the message says why."""


def demand(met: bool, said: str) -> None:
    """Raises: Malformed, where the condition is not met."""
    if not met:
        raise Malformed(said)


def whole(value: Any, below: int | None = None) -> int:
    """A whole number from 0, below a limit. Raises: Malformed."""
    demand(type(value) is int and value >= 0, "not a number from 0 up")
    demand(below is None or value < below, f"{value} is too large")
    assert isinstance(value, int)
    return value


def items(value: Any, length: int | None = None) -> list[Any]:
    """A list, of this length if one is given. Raises: Malformed."""
    demand(isinstance(value, list), "not a list")
    demand(length is None or len(value) == length, f"a list of {len(value)} and not of {length}")
    assert isinstance(value, list)
    return value


# --- values ----------------------------------------------------------------------------------


def written(value: Value, type_: Type) -> Any:
    """The JSON of a value."""
    if type_ == MESSAGE:
        return [value.src, value.number, list(value.dsts)]
    match type_:
        case Record(fields=fields):
            return [written(part, kind) for part, (_, kind) in zip(value, fields, strict=True)]
        case Map(key, item):
            return [[written(known, key), written(part, item)] for known, part in value]
        case Collection("option", item):
            return [] if value is None else [written(value[0], item)]
        case Collection("set", item):
            return [written(part, item) for part in ascending(value)]
        case Collection("queue", item):
            return [written(part, item) for part in value]
        case Collection("sliding array", item):
            return [value[0], [written(part, item) for part in value[1]]]
        case Collection("sliding map", item):
            return [value[0], [[at, written(part, item)] for at, part in value[1]]]
        case _:
            return value


def message_of(given: Any, sends: Sequence[int]) -> Message:
    """The message that a JSON value is, where each process sends so many. Raises: Malformed."""
    src, number, dsts = items(given, 3)
    src = whole(src, len(sends))
    to = tuple(whole(each, len(sends)) for each in items(dsts))
    demand(list(to) == sorted(set(to)), "destinations are not ascending")
    return Message(src, whole(number, sends[src]), to)


def value_of(given: Any, type_: Type, sends: Sequence[int]) -> Value:
    """The value that a JSON value is. Raises: Malformed."""

    def part(inner: Any, kind: Type) -> Value:
        return value_of(inner, kind, sends)

    if type_ == PROCESS:
        return whole(given, len(sends))
    if type_ == MESSAGE:
        return message_of(given, sends)
    match type_:
        case Bool():
            demand(isinstance(given, bool), "neither true nor false")
            return given
        case Nat():
            return whole(given)
        case Record(fields=fields):
            return tuple(part(each, kind) for each, (_, kind) in zip(items(given, len(fields)), fields, strict=True))
        case Map(key, item):
            pairs = [items(each, 2) for each in items(given)]
            found = [(part(known, key), part(each, item)) for known, each in pairs]
            keys = [known for known, _ in found]
            demand(keys == ascending(set(keys)), "keys are not ascending")
            demand(not has_zero(item) or all(each != zero(item) for _, each in found), "a map has an entry of zero")
            return tuple(found)
        case Collection("option", item):
            demand(len(items(given)) <= 1, "an option has one value at most")
            return (part(given[0], item),) if given else None
        case Collection("set", item):
            elements = [part(each, item) for each in items(given)]
            demand(elements == ascending(set(elements)), "elements are not ascending")
            return frozenset(elements)
        case Collection("queue", item):
            return tuple(part(each, item) for each in items(given))
        case Collection("sliding array", item):
            first, inside = items(given, 2)
            return whole(first), tuple(part(each, item) for each in items(inside))
        case Collection("sliding map", item):
            following, inside = items(given, 2)
            entries = tuple((whole(at, following), part(each, item)) for at, each in map(_pair, items(inside)))
            indices = [at for at, _ in entries]
            demand(indices == sorted(set(indices)), "indices are not ascending")
            return whole(following), entries
        case _:
            raise Malformed(f"states have no values of type {type_}")


def _pair(given: Any) -> tuple[Any, Any]:
    one, other = items(given, 2)
    return one, other


# --- local states, packets -------------------------------------------------------------------


def written_local(system: System, state: LocalState) -> Any:
    """The JSON of a local state."""
    return [written(value, variable.type) for value, variable in zip(state, system.protocol.state, strict=True)]


def local_of(given: Any, system: System) -> LocalState:
    """The local state. Raises: Malformed."""
    variables, sends = system.protocol.state, system.workload.sends
    values = items(given, len(variables))
    return tuple(value_of(each, variable.type, sends) for each, variable in zip(values, variables, strict=True))


def written_packet(system: System, packet: Packet) -> Any:
    """The JSON of a packet."""
    kinds = _parameters(system, packet.kind)
    inside = [written(each, kind) for each, kind in zip(packet.arguments, kinds, strict=True)]
    return [packet.kind, packet.src, packet.dst, inside]


def packet_of(given: Any, system: System) -> Packet:
    """The packet. Raises: Malformed."""
    sends = system.workload.sends
    name, src, dst, arguments = items(given, 4)
    demand(any(kind.name == name for kind in system.protocol.packets), "no packet of the protocol")
    kinds = _parameters(system, name)
    inside = tuple(value_of(each, kind, sends) for each, kind in zip(items(arguments, len(kinds)), kinds, strict=True))
    return Packet(name, whole(src, len(sends)), whole(dst, len(sends)), inside)


def _parameters(system: System, name: str) -> tuple[Type, ...]:
    kind = next(each for each in system.protocol.packets if each.name == name)
    return tuple(parameter.type for parameter in kind.parameters)


# --- states ----------------------------------------------------------------------------------


def written_state(state: State, local: Callable[[int], int], packet: Callable[[int], int]) -> Any:
    """The JSON of a state; `local` and `packet` give the lines of local states and packets by their numbers.

    The list has: local states by process; packets in flight, on FIFO channels in sending order; by process, the
    undelivered messages in its causal past; the undelivered messages, each with those to whom it is due and with its
    causal past; by process, how many messages it has sent; how often each timer and input has come that is counted, by
    process; how many packets were duplicated, and lost; by process, the place in its program; what `total_order` and
    `causally_ordered` need.
    """
    history = state.history
    return [
        [local(number) for number in state.locals],
        [packet(number) for number in state.network],
        [_bits(past) for past in history.pasts],
        [[written(each.message, MESSAGE), list(each.due), _bits(each.past)] for each in history.pending],
        list(state.sends),
        list(state.ticks),
        state.duplicates,
        state.losses,
        list(state.places),
        [[written(early, MESSAGE), written(late, MESSAGE)] for early, late in history.order],
        [[written(message, MESSAGE), process] for message, process in history.overtaken],
    ]


def state_of(given: Any, system: System, locals_: Sequence[int], packets: Sequence[int]) -> State:
    """The state, with the system's numbers of the local states and packets on each line. Raises: Malformed.

    What only a property needs that the system does not watch is left out: the search may have judged more.
    """
    workload = system.workload
    count, sends = workload.processes, workload.sends
    there, network, pasts, pending, sent, ticks, duplicates, losses, places, order, overtaken = items(given, 11)
    messages = sum(sends)
    waiting = [_pending(each, sends, messages) for each in items(pending)]
    demand(len({each.message for each in waiting}) == len(waiting), "a message is pending twice")
    programs = workload.programs
    for process, place in enumerate(items(places, len(programs))):
        whole(place, 1 + len(programs[process] or ()))
    watched = system.protocol.properties
    pairs = [_pair(each) for each in items(order)] if "total_order" in watched else []
    overs = [_pair(each) for each in items(overtaken)] if "causally_ordered" in watched else []
    return State(
        tuple([locals_[whole(each, len(locals_))] for each in items(there, count)]),
        system.arranged(tuple([packets[whole(each, len(packets))] for each in items(network)])),
        History(
            tuple([_mask(each, messages) for each in items(pasts, count)]),
            tuple(sorted(waiting)),
            tuple(sorted((message_of(early, sends), message_of(late, sends)) for early, late in pairs)),
            tuple(sorted((message_of(one, sends), whole(process, count)) for one, process in overs)),
        ),
        tuple([whole(each, most + 1) for each, most in zip(items(sent, count), sends, strict=True)]),
        tuple([whole(each) for each in items(ticks, count * len(system.counted))]),
        whole(duplicates),
        whole(losses),
        tuple(places),
    )


def _pending(given: Any, sends: Sequence[int], messages: int) -> Pending:
    message, due, past = items(given, 3)
    found = message_of(message, sends)
    to = tuple([whole(each, len(sends)) for each in items(due)])
    demand(bool(to) and list(to) == sorted({*to} & {*found.dsts}), "a message is due to others than its destinations")
    return Pending(found, to, _mask(past, messages))


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _mask(given: Any, messages: int) -> int:
    mask = 0
    for each in items(given):
        mask |= 1 << whole(each, messages)
    return mask
