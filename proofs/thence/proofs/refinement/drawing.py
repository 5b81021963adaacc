"""A state of protocol and machine from which an obligation fails, as a reader of both would write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, PROCESS, Collection, Map, Record, Sort, Type
from thence.proofs.logic.countermodel import Names, fact, fact_lines, names_of
from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.structure import Value, evaluate
from thence.proofs.machine.transitions import symbols as machine_symbols
from thence.proofs.refinement.shapes.flat import built, leaves
from thence.proofs.refinement.shapes.kinds import (
    Bag,
    Group,
    Leaf,
    Members,
    Numbered,
    Parts,
    Perhaps,
    Shape,
    Table,
    Term,
    Window,
)
from thence.proofs.refinement.states import (
    State,
    any_state,
    flying_name,
    packet_sort,
    protocol_symbols,
    said_of,
    variable_name,
)
from thence.proofs.refinement.symbols import shape_of
from thence.proofs.solving.finite_models import Model

ANY = "_"
"""In the place of a value that does not matter: the obligation fails whatever it is."""

_LOOP = re.compile(r"#\d+")
"""What the names of symbols have that say a value at the head of a loop."""

_NOTHING = ("0", "false", "none", "{}", "[]", "<>", "[0: ]", "{ | next 0}", ANY)
"""What a variable has at first, as a rule."""


def reader_of(model: Model) -> Reader:
    """A reader of the model that names its elements."""
    return Reader(model, names_of(model.structure))


@dataclass(frozen=True, slots=True)
class Layers:
    """A state of both layers, or what changes in it: a line for each fact. What is empty, false or 0 is left out.

    Attributes:
        protocol: the variables of the processes, one process after the other; then the packets in flight.
        machine: its relations and functions.
    """

    protocol: tuple[str, ...]
    machine: tuple[str, ...]


def drawn(link: ir.Link, obligation: Obligation, reader: Reader) -> Layers:
    """The state before the step."""
    return _state(reader, link.protocol, obligation.signature.symbols, "")


def drawn_in_loops(link: ir.Link, obligation: Obligation, reader: Reader) -> tuple[Layers, ...]:
    """For each loop that the step has come to, what it may have changed, as it is when a round begins."""
    symbols = obligation.signature.symbols
    loops = dict.fromkeys(found[0] for one in symbols if (found := _LOOP.search(one.name)))
    return tuple(_state(reader, link.protocol, symbols, version) for version in loops)


def _state(reader: Reader, protocol: ir.Protocol, symbols: Sequence[ir.Symbol], version: str) -> Layers:
    """The state before the step, or what is known of it at the head of a loop."""
    machine: list[str] = []
    own = {symbol.name for symbol in protocol_symbols(protocol)}
    for symbol in symbols:
        found = _LOOP.search(symbol.name)
        if symbol.name in own or "@" in symbol.name or version != (found[0] if found else ""):
            continue
        if symbol.name not in {flying_name(kind.name, version) for kind in protocol.packets}:
            table = {symbol.name.removesuffix(version): reader.model.structure.tables[symbol.name]}
            renamed = replace(symbol, name=symbol.name.removesuffix(version))
            machine += fact_lines((renamed,), reader.model.structure.with_tables(table), reader.names)
    return Layers((*_variables(reader, protocol, version), *_flying(reader, protocol, version)), tuple(machine))


def constants(link: ir.Link, obligation: Obligation, reader: Reader) -> dict[str, str]:
    """What the obligation is about: the process that takes the step, what arrives, the roles; by name."""
    kinds = {packet_sort(kind): kind for kind in link.protocol.packets}
    found: dict[str, str] = {}
    for constant in obligation.constants:
        if constant.name in reader.model.environment:
            value = reader.model.environment[constant.name]
            kind = kinds.get(constant.type) if isinstance(constant.type, Sort) else None
            said = reader.names.of(value, constant.type) if kind is None else reader.packet(kind, int(value))
            found[_named(constant.name)] = said
    return found


# --- what changes ---------------------------------------------------------------------------------


def changes(link: ir.Link, after: State, reader: Reader) -> Layers:
    """What differs in a state of the step from the state before it: own variables, new packets, the machine."""
    return Layers(
        (*_changed_variables(link, after, reader), *_sent(link, after, reader)),
        tuple(_changed_facts(link, after, reader)),
    )


def _changed_variables(link: ir.Link, after: State, reader: Reader) -> Iterator[str]:
    before = any_state(link)
    for variable in link.protocol.state:
        if variable.name in after.own:
            was, now = (reader.said(state.mine(variable.name), variable.type) for state in (before, after))
            if was != now:
                yield f"{variable.name}: {was} becomes {now}"


def _sent(link: ir.Link, after: State, reader: Reader) -> Iterator[str]:
    for kind in link.protocol.packets:
        for group in after.network[kind.name]:
            if group.types != (packet_sort(kind),):
                with suppress(KeyError):
                    for packet in reader.in_group(group):
                        assert isinstance(packet, Parts)
                        yield f"now in flight: {reader.said_packet(kind, packet)}"


def _changed_facts(link: ir.Link, after: State, reader: Reader) -> Iterator[str]:
    for symbol in machine_symbols(link.machine):
        types = [parameter.type for parameter in symbol.parameters]
        for key in product(*map(reader.elements, types)):
            terms = tuple(reader.term(value, type_) for value, type_ in zip(key, types, strict=True))
            now = after.machine[symbol.name](terms)
            if now == ir.Apply(symbol.result, symbol.name, terms):
                continue
            with suppress(KeyError):
                value = reader.value(now)
                if value != reader.model.structure.tables[symbol.name].get(key):
                    yield fact(symbol, key, value, reader.names)


def _named(constant: str) -> str:
    """A constant of an obligation as a reader may call it: `p` of `#p.0`, `any` of `#any 5`."""
    return re.sub(r"^(any|each) \d+$", r"\1", constant.removeprefix("#")).removesuffix(".0")


def _variables(reader: Reader, protocol: ir.Protocol, version: str) -> Iterator[str]:
    """Those of every process; at the head of a loop, those of the process that takes the step."""
    for process in reader.elements(PROCESS) if not version else (None,):
        for variable in protocol.state:
            name = variable_name(variable.name, version)
            arguments = () if process is None else (reader.term(process, PROCESS),)
            at = "" if process is None else f"@{reader.names.of(process, PROCESS)}"
            said = reader.said(shape_of(name, arguments, variable.type), variable.type)
            if said not in _NOTHING:
                yield f"{variable.name}{at} = {said}"


def _flying(reader: Reader, protocol: ir.Protocol, version: str) -> Iterator[str]:
    for kind in protocol.packets:
        for packet in reader.elements(packet_sort(kind)):
            flying = ir.Apply(BOOL, flying_name(kind.name, version), (reader.term(packet, packet_sort(kind)),))
            with suppress(KeyError):
                if reader.is_true(flying):
                    yield f"{reader.packet(kind, packet)} in flight"


@dataclass(slots=True)
class Reader:
    """Reads values from a model. Where a symbol does not matter, the model has no table of it."""

    model: Model
    names: Names
    _elements: dict[str, Value] = field(default_factory=dict)

    def elements(self, type_: Type) -> range:
        """All elements of a sort, all truth values, or the numbers that the model has."""
        structure = self.model.structure
        if type_ == NAT:
            return range(structure.highest_number(self.model.environment) + 1)
        return range(2) if type_ == BOOL else range(structure.universe.get(str(type_), 0))

    def term(self, element: int, type_: Type) -> Term:
        """A term that is the element."""
        name = f"{type_} {element}"
        self._elements[name] = bool(element) if type_ == BOOL else element
        return ir.Local(type_, name)

    def is_true(self, formula: Term) -> bool:
        """Raises: KeyError for a symbol that does not matter."""
        return bool(self.value(formula))

    def value(self, term: Term) -> Value:
        """Of a term about the elements that were asked for, and the constants. Raises: KeyError, as `is_true`."""
        return evaluate(term, self.model.structure, {**self.model.environment, **self._elements})

    def tuples(self, types: Sequence[Type]) -> Iterator[tuple[Term, ...]]:
        """All elements of the types, as terms."""
        for values in product(*map(self.elements, types)):
            yield tuple(self.term(value, type_) for value, type_ in zip(values, types, strict=True))

    def packet(self, kind: ir.PacketKind, packet: int) -> str:
        """`MSG(m1, 0) from p0 to p1`."""
        return self.said_packet(kind, said_of(kind, self.term(packet, packet_sort(kind))))

    def said_packet(self, kind: ir.PacketKind, packet: Parts) -> str:
        """The same of a packet with or without a place."""
        types = [parameter.type for parameter in kind.parameters]
        sender, receiver = packet.fields[len(types) : len(types) + 2]
        values = ", ".join(self.said(part, type_) for part, type_ in zip(packet.fields, types, strict=False))
        return f"{kind.name}({values}) from {self.said(sender, PROCESS)} to {self.said(receiver, PROCESS)}"

    def said(self, shape: Shape, type_: Type) -> str:
        """The value, as `thence.dsl.run.values.show` writes those of runs; ANY where it, or a part, does not matter."""
        try:
            return self._said(shape, type_)
        except KeyError:
            return ANY

    def _said(self, shape: Shape, type_: Type) -> str:
        """Raises: KeyError, as `is_true`, where the value itself does not matter."""
        match shape, type_:
            case Leaf(term=term), _:
                return self.names.of(self.value(term), type_)
            case Parts(fields=fields), Record(name=name, fields=types):
                parts = zip(fields, types, strict=True)
                return f"{name}({', '.join(f'{label}: {self.said(one, part)}' for one, (label, part) in parts)})"
            case Perhaps(some=some, item=inside), Collection(item=item):
                return f"some({self.said(inside, item)})" if self.is_true(some) else "none"
            case Members(has=has), Collection(item=item):
                there = (built(item, terms) for terms in self._keys(item) if self.is_true(has(terms)))
                return f"{{{', '.join(self.said(each, item) for each in there)}}}"
            case Bag(groups=groups), Collection(item=item):
                found = (each for group in groups for each in self.in_group(group))
                return f"{{{', '.join(self.said(each, item) for each in found)}}}"
            case Table(at=at, has=has), Map(key=key, value=value):
                keys = [terms for terms in self._keys(key) if self.is_true(has(terms))]
                entries = (f"{self.said(built(key, terms), key)}: {self.said(at(terms), value)}" for terms in keys)
                return f"[{', '.join(entries)}]"
            case Window(first=first, next=following, at=at), Collection(item=item):
                ends = self._number(first), self._number(following)
                listed = ", ".join(self.said(at(self.term(number, NAT)), item) for number in range(*ends))
                return f"<{listed}>" if type_.kind == "queue" else f"[{ends[0]}: {listed}]"
            case Numbered(next=following, has=there, at=at), Collection(item=item):
                last = self._number(following)
                numbers = [number for number in range(last) if self.is_true(there(self.term(number, NAT)))]
                listed = ", ".join(f"{number}: {self.said(at(self.term(number, NAT)), item)}" for number in numbers)
                return f"{{{listed} | next {last}}}"
            case _:
                raise Unsupported(f"a value of type `{type_}` is not drawn")

    def _number(self, term: Term) -> int:
        """Raises: KeyError, as `is_true`."""
        return int(self.value(term))

    def _keys(self, type_: Type) -> Iterator[tuple[Term, ...]]:
        """All values of a flat type, as terms."""
        return self.tuples(leaves(type_))

    def in_group(self, group: Group) -> Iterator[Shape]:
        """The items of the group. Raises: KeyError, as `is_true`."""
        for terms in self.tuples(group.types):
            there, item = group.item(terms)
            if self.is_true(there):
                yield item
