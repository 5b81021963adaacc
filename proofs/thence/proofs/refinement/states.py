"""A state of protocol, network and machine together, as formulas.

NOTE(packets): packets of a kind are elements of a sort of their own, of which some are in flight: so two equal packets
are two. An element that is not in flight says nothing. Who sends a packet adds a group of new ones, and needs no names
for them: a quantifier over packets in flight is one over the old ones and over each group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, PROCESS, Sort, Type
from thence.proofs.logic.formula import conj, free_locals, fresh_name, map_children, negation
from thence.proofs.logic.structure import zero_of
from thence.proofs.machine.transitions import free_at_first, symbols
from thence.proofs.refinement.shapes import (
    Group,
    Parts,
    Shape,
    Term,
    alike,
    built,
    flat,
    leaves,
    merged,
    same,
    shape_of,
    symbols_of,
)

Symbols: TypeAlias = Mapping[str, Callable[[tuple[Term, ...]], Term]]
"""The machine's relations and functions, as they are in some state."""

SELF = ir.Local(PROCESS, "#self")
"""The process that takes the step."""


@dataclass(frozen=True, slots=True)
class State:
    """One state. `own` are the variables of the process SELF, `others` those of every process before the step."""

    own: Mapping[str, Shape]
    others: Callable[[str, Term], Shape]
    network: Mapping[str, tuple[Group, ...]]
    machine: Symbols

    def of(self, name: str, process: Term) -> Shape:
        """A variable of a process."""
        before = self.others(name, process)
        if name not in self.own or self.own[name] is UNCHANGED:
            return before
        return merged(alike(process, SELF), self.own[name], before)

    def mine(self, name: str) -> Shape:
        """A variable of the process that takes the step."""
        shape = self.own.get(name, UNCHANGED)
        return self.others(name, SELF) if shape is UNCHANGED else shape

    def assigned(self, name: str, shape: Shape) -> State:
        return replace(self, own={**self.own, name: shape})

    def sending(self, kind: str, group: Group) -> State:
        return replace(self, network={**self.network, kind: (*self.network[kind], group)})

    def about_machine(self, formula: ir.Expr, values: Mapping[str, Term] | None = None) -> Term:
        """A formula of the machine about this state of it, its free names replaced by values.

        The values are terms about the state before the step already, and are not read again. Bound variables are
        renamed where a value has their name.
        """
        return _read(formula, values or {}, self.machine)


UNCHANGED = Parts(())
"""In the place of the own variable that no statement has changed."""


def _read(formula: ir.Expr, values: Mapping[str, Term], symbols: Symbols) -> Term:
    match formula:
        case ir.Local(name=name):
            return values.get(name, formula)
        case ir.Apply():
            return symbols[formula.symbol](tuple(_read(one, values, symbols) for one in formula.arguments))
        case ir.Quantified():
            taken = {name for value in values.values() for name in free_locals(value)}
            inner = dict(values)
            bounds: list[ir.Bound] = []
            for bound in formula.variables:
                name = fresh_name(bound.name, taken) if bound.name in taken else bound.name
                taken.add(name)
                bounds.append(replace(bound, name=name))
                inner[bound.name] = ir.Local(bound.type, name)
            return replace(formula, variables=tuple(bounds), body=_read(formula.body, inner, symbols))
        case _:
            return map_children(formula, lambda part: _read(part, values, symbols))


# --- packets --------------------------------------------------------------------------------------


def packet_sort(kind: ir.PacketKind) -> Sort:
    return Sort(f"packet {kind.name}")


def packet_types(kind: ir.PacketKind) -> tuple[Type, ...]:
    """The types of the terms that a packet says: its parameters, then its sender and receiver."""
    return (*(leaf for parameter in kind.parameters for leaf in leaves(parameter.type)), PROCESS, PROCESS)


def packet_symbols(kind: ir.PacketKind) -> tuple[ir.Symbol, ...]:
    packet = (ir.Variable("k", packet_sort(kind)),)
    said = (ir.Symbol(f"{kind.name}.{at}", packet, type_) for at, type_ in enumerate(packet_types(kind)))
    return (ir.Symbol(flying_name(kind.name), packet, BOOL), *said)


def flying_name(kind: str, version: str = "") -> str:
    return f"{kind} in flight{version}"


def packet_value(kind: ir.PacketKind, terms: Sequence[Term]) -> Parts:
    """The packet as quantifiers see it: a record of its parameters, then sender and receiver."""
    fields: list[Shape] = []
    at = 0
    for type_ in (*(parameter.type for parameter in kind.parameters), PROCESS, PROCESS):
        size = len(leaves(type_))
        fields.append(built(type_, terms[at : at + size]))
        at += size
    return Parts(tuple(fields))


def in_flight(kind: ir.PacketKind, version: str = "", *, without: Term | None = None) -> Group:
    """The packets of the kind that were in flight before the step, without the one that has arrived."""

    def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
        flying: Term = ir.Apply(BOOL, flying_name(kind.name, version), terms)
        if without is not None:
            flying = conj((flying, negation(alike(terms[0], without))))
        return flying, packet_value(kind, said_of(kind, terms[0]))

    return Group((packet_sort(kind),), item)


def said_of(kind: ir.PacketKind, packet: Term) -> tuple[Term, ...]:
    """What an element of the packets' sort says."""
    return tuple(ir.Apply(type_, f"{kind.name}.{at}", (packet,)) for at, type_ in enumerate(packet_types(kind)))


def packet_terms(value: Shape) -> tuple[Term, ...]:
    return flat(value)


# --- symbols and states ---------------------------------------------------------------------------


def variable_name(name: str, version: str = "") -> str:
    """The symbol of a protocol's variable: machines have no names with `@`."""
    return f"{name}@{version}"


def protocol_symbols(protocol: ir.Protocol) -> tuple[ir.Symbol, ...]:
    process = (ir.Variable("p", PROCESS),)
    state = (
        one for variable in protocol.state for one in symbols_of(variable_name(variable.name), process, variable.type)
    )
    packets = (one for kind in protocol.packets for one in packet_symbols(kind))
    return (*state, *packets)


def any_state(link: ir.Link) -> State:
    """A state of which nothing is known."""
    types = {variable.name: variable.type for variable in link.protocol.state}
    return State(
        {},
        lambda name, process: shape_of(variable_name(name), (process,), types[name]),
        {kind.name: (in_flight(kind),) for kind in link.protocol.packets},
        {symbol.name: _unchanged(symbol) for symbol in symbols(link.machine)},
    )


def _unchanged(symbol: ir.Symbol, version: str = "") -> Callable[[tuple[Term, ...]], Term]:
    return lambda arguments: ir.Apply(symbol.result, f"{symbol.name}{version}", arguments)


def initial_state(link: ir.Link, initial: Callable[[str, Term], Shape]) -> State:
    """The state at first: nothing in flight, and the machine in one of its initial states."""
    free = free_at_first(link.machine)

    def start(symbol: ir.Symbol) -> Callable[[tuple[Term, ...]], Term]:
        if symbol.name in free:
            return _unchanged(symbol)
        return lambda arguments: ir.Literal_(symbol.result, zero_of(symbol.result))

    machine = {symbol.name: start(symbol) for symbol in symbols(link.machine)}
    return State({}, initial, {kind.name: () for kind in link.protocol.packets}, machine)


def forgotten(
    state: State, link: ir.Link, version: str, variables: frozenset[str], kinds: frozenset[str], changed: frozenset[str]
) -> tuple[State, tuple[ir.Symbol, ...]]:
    """The state with nothing known of own variables, packets in flight and machine symbols; and the new symbols."""
    new: list[ir.Symbol] = []
    own = dict(state.own)
    for variable in link.protocol.state:
        if variable.name in variables:
            name = variable_name(variable.name, version)
            new.extend(symbols_of(name, (), variable.type))
            own[variable.name] = shape_of(name, (), variable.type)
    network = dict(state.network)
    for kind in link.protocol.packets:
        if kind.name in kinds:
            new.append(ir.Symbol(flying_name(kind.name, version), (ir.Variable("k", packet_sort(kind)),), BOOL))
            network[kind.name] = (in_flight(kind, version),)
    machine = dict(state.machine)
    for symbol in symbols(link.machine):
        if symbol.name in changed:
            new.append(replace(symbol, name=f"{symbol.name}{version}"))
            machine[symbol.name] = _unchanged(symbol, version)
    return replace(state, own=own, network=network, machine=machine), tuple(new)


def same_packet(left: Sequence[Term], right: Sequence[Term]) -> Term:
    return same(left, right)
