"""Which built-in properties can be seen to be violated, by what a protocol declares.

Causal order is about messages that are handed over; `csps` and `sps` are about packets that say what they carry.
A property that nothing can show to be violated is not one that holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from thence.dsl.ir.declarations import NamedFormula
from thence.dsl.ir.protocols import Handler, PacketKind, Procedure, Protocol
from thence.dsl.ir.remembered import remembered
from thence.dsl.ir.statements import Assign, Call, Deliver, For, Let, Mutate, Send, Stmt, Var
from thence.dsl.ir.terms import Acted, InFlight, Local, StateOf
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import MESSAGE, Type

OF_NETWORK_SENDS = ("csps", "sps")
"""The properties of network sends."""

OF_DELIVERIES = ("causal", "causally_ordered", "fifo", "at_most_once", "no_creation", "total_order")
"""The properties of what is handed over."""


@remembered
def sees_network(tree: object) -> bool:
    """Whether a formula, or one of several, speaks of packets in flight."""
    return any(isinstance(node, InFlight) for node in nodes(tree))


@remembered
def sees_actions(tree: object) -> bool:
    """Whether a formula, or one of several, speaks of what is done in a step."""
    return any(isinstance(node, Acted) for node in nodes(tree))


def judged_in_states(protocol: Protocol) -> tuple[NamedFormula, ...]:
    """The invariants, and denials of `reachable` formulas, about states."""
    return tuple(each for each in protocol.invariants if not sees_actions(each))


def own_invariants(protocol: Protocol) -> dict[str, NamedFormula]:
    """The protocol's invariants about states, by name; not those about what a step does, nor `reachable` formulas."""
    return {each.name: each for each in judged_in_states(protocol) if each.name not in protocol.witnesses}


def judged_in_steps(protocol: Protocol) -> tuple[NamedFormula, ...]:
    """Those about actions: they are judged in each step, by the states after it."""
    return tuple(each for each in protocol.invariants if sees_actions(each))


def beyond_states(tree: object) -> str | None:
    """What a formula, or one of several, speaks of besides the states of processes; None if of nothing."""
    if sees_actions(tree):
        return "actions"
    return "packets in flight" if sees_network(tree) else None


@remembered
def unobservable(protocol: Protocol, name: str) -> str | None:
    """Why no run of the protocol can be seen to violate the built-in property; None if one can."""
    if name in OF_DELIVERIES and not any(isinstance(node, Deliver) for node in nodes(_bodies(protocol))):
        return f"`{name}` cannot be observed: the protocol delivers nothing"
    if name not in OF_NETWORK_SENDS:
        return None
    sent = {node.kind for node in nodes(_bodies(protocol)) if isinstance(node, Send)}
    if not any(kind.carries is not None and kind.name in sent for kind in protocol.packets):
        return f"`{name}` cannot be observed: no packet that is sent says which message it `carries`"
    moved = next((kind.name for kind in protocol.packets if kind.name in sent and moves_unsaid(protocol, kind)), None)
    if moved is not None:
        return f"`{name}` cannot be observed: packet `{moved}` moves messages, and does not say which one it `carries`"
    return None


def unsaid_kinds(protocol: Protocol) -> tuple[PacketKind, ...]:
    """The packet kinds with messages in their parameters of which nothing says that they carry one, and should.

    A kind beside others that carry messages is one of them only if what it brings is delivered: acknowledgements name
    messages too.
    """
    silent = [kind for kind in protocol.packets if kind.carries is None and any(_messages_of(kind))]
    if all(kind.carries is None for kind in protocol.packets):
        return tuple(silent)
    return tuple(kind for kind in silent if moves_unsaid(protocol, kind))


def moves_unsaid(protocol: Protocol, kind: PacketKind) -> bool:
    """Whether messages in packets of the kind are handed over where they arrive, or kept in what is handed over."""
    if kind.carries is not None or not any(_messages_of(kind)):
        return False
    handler = next((each for each in protocol.handlers if each.kind == kind.name), None)
    if handler is None:
        return False
    held = {parameter.name for parameter in handler.parameters if _has_messages(parameter.type)}
    delivering = _delivering_state(protocol)
    return any(_hands_on(statement, held, delivering, protocol) for statement in _statements(handler.body))


def _hands_on(statement: object, held: set[str], delivering: set[str], protocol: Protocol) -> bool:
    match statement:
        case Deliver(message=given):
            return _mentions(given, held)
        case Mutate(place=place, method="push" | "add", arguments=given) | Assign(place=place, value=given):
            if _mentions(given, held):
                held.update(node.name for node in nodes(place) if isinstance(node, Local))
            return _mentions(given, held) and bool(delivering & _variables(place))
        case Call(procedure=name, arguments=given):
            called = next(each for each in protocol.procedures if each.name == name)
            return _mentions(given, held) and _delivers(called, protocol)
        case Let(name=name, value=given) | Var(name=name, value=given) | For(name=name, domain=given):
            if _mentions(given, held):
                held.add(name)
            return False
        case _:
            return False


def _statements(body: tuple[Stmt, ...]) -> Iterator[object]:
    return nodes(body)


def _delivers(body: Handler | Procedure, protocol: Protocol) -> bool:
    """Whether the handler or procedure, or one that it calls, delivers."""
    for node in nodes(body.body):
        match node:
            case Deliver():
                return True
            case Call(procedure=name):
                if _delivers(next(each for each in protocol.procedures if each.name == name), protocol):
                    return True
            case _:
                continue
    return False


def _delivering_state(protocol: Protocol) -> set[str]:
    """The state variables that are read where something is delivered."""
    found: set[str] = set()
    for body in _bodies(protocol):
        if any(isinstance(node, Deliver) for node in nodes(body)):
            found |= _variables(body)
    return found


def _variables(tree: object) -> set[str]:
    return {node.name for node in nodes(tree) if isinstance(node, StateOf)}


def _mentions(tree: object, names: set[str]) -> bool:
    return any(isinstance(node, Local) and node.name in names for node in nodes(tree))


def _messages_of(kind: PacketKind) -> Iterator[str]:
    return (parameter.name for parameter in kind.parameters if _has_messages(parameter.type))


def _has_messages(type_: Type) -> bool:
    return any(part == MESSAGE for part in nodes(type_))


def _bodies(protocol: Protocol) -> tuple[tuple[Stmt, ...], ...]:
    return (*(each.body for each in protocol.handlers), *(each.body for each in protocol.procedures))
