"""A state of protocol, network and machine together, as formulas.

NOTE(packets): packets of a kind are elements of a sort of their own, of which some are in flight: so two equal packets
are two. An element that is not in flight says nothing. Who sends a packet adds a group of new ones, and needs no names
for them: a quantifier over packets in flight is one over the old ones and over each group.

NOTE(places): where channels keep their order, each packet in flight has a place, a number; those of one channel arrive
in the order of their places. A packet that is sent gets the place `end`, which is above all others, and `end` rises.
The numbers are ours: that those of a channel differ, and are below `end`, is true of every state by definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, PROCESS, Sort, Type
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    conj,
    forall,
    free_locals,
    fresh_name,
    implies,
    map_children,
    negation,
)
from thence.proofs.machine.transitions import first_value, first_values, free_at_first, symbols
from thence.proofs.refinement.shapes.changes import merged
from thence.proofs.refinement.shapes.flat import alike, locals_of, same, term_of, variables
from thence.proofs.refinement.shapes.kinds import Group, Leaf, Parts, Shape, Term
from thence.proofs.refinement.symbols import facts_of, shape_of, symbols_of, value_sort, value_sorts, value_symbols

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
    end: Term | None = None
    """The place of the next packet; None where channels do not keep their order: see NOTE(places)."""

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
        """The state with packets more. All of a group have one place, so no two of them are on one channel."""
        if self.end is None:
            return replace(self, network={**self.network, kind: (*self.network[kind], group)})
        place = self.end

        def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
            there, value = group.item(terms)
            return there, placed(value, place)

        network = {**self.network, kind: (*self.network[kind], Group(group.types, item))}
        return replace(self, network=network, end=ir.Arithmetic(NAT, "+", place, ir.Literal_(NAT, 1)))

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


def packet_symbols(kind: ir.PacketKind) -> tuple[ir.Symbol, ...]:
    """What is in flight, and what each packet says: its parameters, then its sender and receiver."""
    packet = (ir.Variable("k", packet_sort(kind)),)
    said = (one for at, type_ in enumerate(said_types(kind)) for one in symbols_of(f"{kind.name}.{at}", packet, type_))
    return (ir.Symbol(flying_name(kind.name), packet, BOOL), *said)


def said_types(kind: ir.PacketKind) -> tuple[Type, ...]:
    """The types of a packet's parameters, then of its sender and receiver."""
    return (*(parameter.type for parameter in kind.parameters), PROCESS, PROCESS)


def place_symbol(kind: ir.PacketKind, version: str = "") -> ir.Symbol:
    return ir.Symbol(f"{kind.name} place{version}", (ir.Variable("k", packet_sort(kind)),), NAT)


def end_symbol(version: str = "") -> ir.Symbol:
    return ir.Symbol(f"end of channels{version}", (), NAT)


def placed(value: Shape, place: Term) -> Shape:
    """A packet with its place, which is behind the fields that a text knows."""
    assert isinstance(value, Parts)
    return Parts((*value.fields, Leaf(place)))


def place_of(packet: Shape) -> Term:
    """The place of a packet in flight, as a quantifier sees it."""
    assert isinstance(packet, Parts)
    return term_of(packet.fields[-1])


def channel_of(packet: Shape) -> tuple[Term, Term]:
    """Sender and receiver of a packet in flight on channels that keep their order."""
    assert isinstance(packet, Parts)
    return term_of(packet.fields[-3]), term_of(packet.fields[-2])


def flying_name(kind: str, version: str = "") -> str:
    return f"{kind} in flight{version}"


def packet_of_self(arguments: Sequence[Shape], to: Shape) -> Parts:
    """A packet as quantifiers see it: a record of its parameters, then sender and receiver. SELF sends it."""
    return Parts((*arguments, Leaf(SELF), to))


def in_flight(kind: ir.PacketKind, fifo: bool, version: str = "", *, without: Term | None = None) -> Group:
    """The packets of the kind that were in flight before the step, without the one that has arrived."""

    def item(terms: tuple[Term, ...]) -> tuple[Term, Shape]:
        flying: Term = ir.Apply(BOOL, flying_name(kind.name, version), terms)
        if without is not None:
            flying = conj((flying, negation(alike(terms[0], without))))
        value: Shape = said_of(kind, terms[0])
        if fifo:
            value = placed(value, ir.Apply(NAT, place_symbol(kind, version).name, (terms[0],)))
        return flying, value

    return Group((packet_sort(kind),), item)


def said_of(kind: ir.PacketKind, packet: Term) -> Parts:
    """What an element of the packets' sort says: the packet as quantifiers see it."""
    said = (shape_of(f"{kind.name}.{at}", (packet,), type_) for at, type_ in enumerate(said_types(kind)))
    return Parts(tuple(said))


def receiver_of(packet: Parts) -> Term:
    """The receiver of a packet without a place."""
    return term_of(packet.fields[-1])


def place_facts(state: State) -> tuple[ir.NamedFormula, ...]:
    """What is true of the places of packets by definition: see NOTE(places)."""
    if state.end is None:
        return ()
    numbers = iter(range(1_000))
    found: list[Term] = []
    groups = [group for kind in state.network.values() for group in kind]

    def bound(group: Group) -> tuple[ir.Variable, ...]:
        return variables(group.types, lambda: f"place#{next(numbers)}")

    for group in groups:
        names = bound(group)
        there, packet = group.item(locals_of(names))
        found.append(forall(names, implies(there, ir.Comparison(BOOL, "<", place_of(packet), state.end))))
    for one, other in combinations_with_replacement(groups, 2):
        left, right = bound(one), bound(other)
        (here, first), (there, second) = one.item(locals_of(left)), other.item(locals_of(right))
        alike_ = same((*channel_of(first), place_of(first)), (*channel_of(second), place_of(second)))
        apart = FALSE if one is not other else same(locals_of(left), locals_of(right))
        found.append(forall((*left, *right), implies(conj((here, there, alike_)), apart)))
    return tuple(ir.NamedFormula("places of packets", each) for each in found)


def is_head(state: State, kind: str, packet: Term, value: Shape) -> Term:
    """The packet in flight is the first of its channel: all others of it are behind. True where order is not kept."""
    if state.end is None:
        return TRUE
    numbers = iter(range(1_000))
    found: list[Term] = []
    for other in state.network:
        for group in state.network[other]:
            names = variables(group.types, lambda: f"head#{next(numbers)}")
            there, each = group.item(locals_of(names))
            itself = (negation(alike(locals_of(names)[0], packet)),) if other == kind else ()
            on_channel = same(channel_of(each), channel_of(value))
            behind = ir.Comparison(BOOL, "<", place_of(value), place_of(each))
            found.append(forall(names, implies(conj((there, *itself, on_channel)), behind)))
    return conj(found)


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
    values = (one for type_ in types_of_values(protocol) for one in value_symbols(type_))
    if protocol.network.reordering:
        return (*state, *packets, *values)
    return (*state, *packets, *values, *(place_symbol(kind) for kind in protocol.packets), end_symbol())


def protocol_facts(protocol: ir.Protocol) -> tuple[ir.NamedFormula, ...]:
    """What is true of all values that the symbols say, be they those of a state or not. Raises: Unsupported."""
    process = (ir.Variable("p", PROCESS),)
    found: list[ir.NamedFormula] = []
    for variable in protocol.state:
        found.extend(facts_of(variable_name(variable.name), process, variable.type))
    for kind in protocol.packets:
        packet = (ir.Variable("k", packet_sort(kind)),)
        for at, type_ in enumerate(said_types(kind)):
            found.extend(facts_of(f"{kind.name}.{at}", packet, type_))
    for type_ in types_of_values(protocol):
        found.extend(facts_of(value_sort(type_).name, (ir.Variable("v", value_sort(type_)),), type_))
    return tuple(found)


def types_of_values(protocol: ir.Protocol) -> tuple[Type, ...]:
    """The types whose values are elements of a sort: see NOTE(bag) in `shapes`."""
    said = (parameter.type for kind in protocol.packets for parameter in kind.parameters)
    types = (*(variable.type for variable in protocol.state), *said)
    return tuple(dict.fromkeys(one for type_ in types for one in value_sorts(type_)))


def keeps_order(link: ir.Link) -> bool:
    """Whether each channel of the network is a sequence."""
    return not link.protocol.network.reordering


def any_state(link: ir.Link) -> State:
    """A state of which nothing is known."""
    types = {variable.name: variable.type for variable in link.protocol.state}
    return State(
        {},
        lambda name, process: shape_of(variable_name(name), (process,), types[name]),
        {kind.name: (in_flight(kind, keeps_order(link)),) for kind in link.protocol.packets},
        {symbol.name: _unchanged(symbol) for symbol in symbols(link.machine)},
        ir.Apply(NAT, end_symbol().name, ()) if keeps_order(link) else None,
    )


def _unchanged(symbol: ir.Symbol, version: str = "") -> Callable[[tuple[Term, ...]], Term]:
    return lambda arguments: ir.Apply(symbol.result, f"{symbol.name}{version}", arguments)


def initial_state(link: ir.Link, initial: Callable[[str, Term], Shape]) -> State:
    """The state at first: nothing in flight, and the machine in one of its initial states."""
    free, given = free_at_first(link.machine), first_values(link.machine)

    def start(symbol: ir.Symbol) -> Callable[[tuple[Term, ...]], Term]:
        if symbol.name in free:
            return _unchanged(symbol)
        return lambda arguments: first_value(given, ir.Apply(symbol.result, symbol.name, arguments))

    machine = {symbol.name: start(symbol) for symbol in symbols(link.machine)}
    end = ir.Literal_(NAT, 0) if keeps_order(link) else None
    return State({}, initial, {kind.name: () for kind in link.protocol.packets}, machine, end)


def facts_of_new(link: ir.Link, version: str, variables: frozenset[str]) -> Iterator[ir.NamedFormula]:
    """What is true of all values of own variables that are forgotten with this version."""
    for variable in link.protocol.state:
        if variable.name in variables:
            yield from facts_of(variable_name(variable.name, version), (), variable.type)


def forgotten(
    state: State, link: ir.Link, version: str, variables: frozenset[str], kinds: frozenset[str], changed: frozenset[str]
) -> tuple[State, tuple[ir.Symbol, ...]]:
    """The state with nothing known of own variables, packets in flight and machine symbols; and the new symbols.

    Packets of the other kinds keep their places: those that are sent meanwhile come behind all of them.
    """
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
            network[kind.name] = (in_flight(kind, keeps_order(link), version),)
            new += [place_symbol(kind, version)] if keeps_order(link) else []
    end = state.end
    if kinds and keeps_order(link):
        new.append(end_symbol(version))
        end = ir.Apply(NAT, end_symbol(version).name, ())
    machine = dict(state.machine)
    for symbol in symbols(link.machine):
        if symbol.name in changed:
            new.append(replace(symbol, name=f"{symbol.name}{version}"))
            machine[symbol.name] = _unchanged(symbol, version)
    return replace(state, own=own, network=network, machine=machine, end=end), tuple(new)
