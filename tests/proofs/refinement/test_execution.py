"""The formulas of a handler against the interpreter: in random small states both give the same step.

A state of protocol, network and machine is drawn, and written down as a finite structure. Of all ways through the
handler exactly one has its conditions true there, unless the step is a fault or an event is refused. At its end the
variables and the packets in flight are those that the interpreter gives, the machine is what its step gives by
evaluation, and each invariant of the link, as a formula about the state before, is true where it is of that after.
Loops are executed round by round here; that a loop is cut at its head is tested in `test_obligations`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from operator import is_
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest
from tests.proofs.refinement.link_invariants import true_of
from tests.proofs.typed_protocols import drawn_value

from thence.dsl import ir
from thence.dsl.ir.constants import values_of, with_values
from thence.dsl.ir.topology import NEIGHBORS, NEXT_HOP, Edges, neighbors, next_hops
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record, Type, has_zero
from thence.dsl.load import load, load_bytes
from thence.dsl.run.evaluate import Frame, Names, compile_expression
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.interpreter import Interpreter, Step
from thence.dsl.run.values import Fault, Message, Occurrence, Packet, ascending, elements
from thence.proofs.logic.formula import Unsupported, free_locals
from thence.proofs.logic.structure import Structure, constant_table, evaluate, tuples
from thence.proofs.machine.transitions import enabled, step, symbols
from thence.proofs.refinement.execution import Execution
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.following import Check, Then, restored
from thence.proofs.refinement.following import Path as Way
from thence.proofs.refinement.obligations import Cause, causes, steps_of, through
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
    Window,
)
from thence.proofs.refinement.states import (
    any_state,
    keeps_order,
    place_facts,
    protocol_symbols,
    said_types,
    types_of_values,
    variable_name,
)
from thence.proofs.refinement.symbols import value_sort
from thence.proofs.refinement.transitions import action_of

Tables: TypeAlias = Mapping[str, dict[tuple[int, ...], Any]]
Happening: TypeAlias = tuple[str, str | None, tuple[Any, ...], int | None]
"""An event: its kind, the packet kind or name, its values, the peer."""

LIBRARY = Path(__file__).resolve().parents[3] / "spec/thence/spec/library"

WINDOW = 12
"""Numbers in the tables; those of drawn states are small, so that a step stays below."""

ROUNDS = 5
"""Of loops."""

MOST = 120
"""Ways and checks of a handler at most; of one with more, those are executed that are taken in a state."""

MOST_ROUNDS = 30
"""Of a loop where the state is known."""


@dataclass(slots=True)
class Drawn:
    """A state: local states, packets in flight and a machine's tables, with the messages that there are."""

    link: ir.Link
    processes: int
    random: Random
    messages: list[Message] = field(init=False)
    locals: list[list[Any]] = field(init=False)
    packets: list[Packet] = field(init=False)
    tree: Edges = field(init=False)
    places: list[int] = field(init=False)
    structure: Structure = field(init=False)
    elements: dict[Type, list[Any]] = field(init=False, default_factory=dict)
    """The values that are elements of a sort."""

    def __post_init__(self) -> None:
        one = self.random
        everyone = range(self.processes)
        self.messages = [self.message(at) for at in range(3)]
        self.tree = self.drawn_tree() if self.link.protocol.network.tree else ()
        self.locals = [[self.of(variable, process) for variable in self.link.protocol.state] for process in everyone]
        kinds = self.link.protocol.packets
        self.packets = [self.packet(one.choice(kinds)) for _ in range(4)] if kinds else []
        self.places = sorted(one.sample(range(WINDOW - 5), len(self.packets)))
        self.structure = self.written()

    def drawn_tree(self) -> Edges:
        names = self.random.sample(range(self.processes), self.processes)
        return tuple((names[self.random.randrange(at)], names[at]) for at in range(1, self.processes))

    def of(self, variable: ir.StateVariable, process: int) -> Any:
        """A value for a variable; those that say the tree have theirs."""
        if self.tree and variable.name == NEIGHBORS:
            return neighbors(self.tree, process)
        if self.tree and variable.name == NEXT_HOP:
            return next_hops(self.tree, process)
        return self.value(variable.type)

    def message(self, number: int) -> Message:
        """A message to some process; of a broadcast or multicast to some processes."""
        one = self.random
        everyone = range(self.processes)
        if self.link.machine.delivery == "unicast" or self.link.machine.delivery == "off":
            return Message(one.choice(everyone), number, (one.choice(everyone),))
        return Message(one.choice(everyone), number, tuple(each for each in everyone if one.random() < 0.7))

    def at(self, packet: Packet) -> int:
        """The position of the very packet among those in flight."""
        return next(at for at, each in enumerate(self.packets) if each is packet)

    def first_of_channels(self) -> list[Packet]:
        """The packets that may arrive."""
        if not keeps_order(self.link):
            return self.packets
        channels = [(each.src, each.dst) for each in self.packets]
        return [each for at, each in enumerate(self.packets) if (each.src, each.dst) not in channels[:at]]

    def packet(self, kind: ir.PacketKind) -> Packet:
        arguments = tuple(self.value(parameter.type) for parameter in kind.parameters)
        ends = (self.random.randrange(self.processes) for _ in range(2))
        return Packet(kind.name, *ends, arguments)

    def value(self, type_: Type) -> Any:
        """A value of the type, in the interpreter's form."""
        return drawn_value(self.random, type_, self.processes, self.messages)

    # --- as a structure ----------------------------------------------------------------------

    def element(self, value: Any) -> int:
        return self.messages.index(value) if isinstance(value, Message) else int(value)

    def terms(self, value: Any, type_: Type) -> tuple[int, ...]:
        if isinstance(type_, Record):
            pairs = zip(value, type_.fields, strict=True)
            return tuple(term for part, (_, kind) in pairs for term in self.terms(part, kind))
        return (self.element(value),)

    def written(self) -> Structure:
        protocol, machine = self.link.protocol, self.link.machine
        kinds = {kind.name: [one for one in self.packets if one.kind == kind.name] for kind in protocol.packets}
        universe = {"process": self.processes, "message": len(self.messages), "nat": WINDOW}
        universe |= {f"packet {name}": len(there) + 1 for name, there in kinds.items()}
        for type_ in types_of_values(protocol):
            there = (one for typed in self.typed() for one in members(*typed, type_))
            self.elements[type_] = list(dict.fromkeys(there))
            universe[value_sort(type_).name] = len(self.elements[type_]) + 1
        tables: dict[str, dict[tuple[int, ...], Any]] = {
            symbol.name: dict(constant_table(symbol, universe, False if symbol.result == BOOL else 0))
            for symbol in (*symbols(machine), *protocol_symbols(protocol))
        }
        for process, state in enumerate(self.locals):
            for variable, value in zip(protocol.state, state, strict=True):
                self.write(tables, variable_name(variable.name), (process,), variable.type, value)
        for type_, values in self.elements.items():
            for at, value in enumerate(values):
                self.write(tables, value_sort(type_).name, (at,), type_, value)
        for kind in protocol.packets:
            for at, packet in enumerate(kinds[kind.name]):
                tables[f"{kind.name} in flight"][at,] = True
                if keeps_order(self.link):
                    tables[f"{kind.name} place"][at,] = self.places[self.at(packet)]
                said = zip((*packet.arguments, packet.src, packet.dst), said_types(kind), strict=True)
                for number, (value, type_) in enumerate(said):
                    self.write(tables, f"{kind.name}.{number}", (at,), type_, value)
        if keeps_order(self.link):
            tables["end of channels"][()] = self.places[-1] + 1 if self.places else 0
        small = {**universe, "nat": 3}
        for symbol in symbols(machine):
            for key in tuples([parameter.type for parameter in symbol.parameters], small):
                tables[symbol.name][key] = self.element(self.value(symbol.result))
                if symbol.result == BOOL:
                    tables[symbol.name][key] = self.random.random() < 0.5
        if machine.delivery != "off":
            for at, message in enumerate(self.messages):
                tables["src"][at,] = message.src
                if machine.delivery == "unicast":
                    tables["dst"][at,] = message.dsts[0]
                else:
                    tables["to"].update({(at, each): each in message.dsts for each in range(self.processes)})
        return Structure(universe, tables)

    def typed(self) -> Iterator[tuple[Any, Type]]:
        """The values of variables and of packets, with their types."""
        for state in self.locals:
            yield from zip(state, (variable.type for variable in self.link.protocol.state), strict=True)
        for packet in self.packets:
            (kind,) = (one for one in self.link.protocol.packets if one.name == packet.kind)
            yield from zip(packet.arguments, (one.type for one in kind.parameters), strict=True)

    def write(self, tables: Tables, name: str, at: tuple[int, ...], type_: Type, value: Any) -> None:
        match type_:
            case Record(fields=fields):
                for part, (label, kind) in zip(value, fields, strict=True):
                    self.write(tables, f"{name}.{label}", at, kind, part)
            case Collection(kind="option", item=item):
                if value is not None:
                    tables[f"{name}.#some"][at] = True
                    self.write(tables, f"{name}.#value", at, item, value[0])
            case Collection(kind="set", item=item) if item in self.elements:
                for member in value:
                    tables[name][(*at, self.elements[item].index(member))] = True
            case Collection(kind="set", item=item):
                for member in value:
                    tables[name][(*at, *self.terms(member, item))] = True
            case Collection(kind="queue", item=item):
                first = self.random.randrange(3)
                tables[f"{name}.#first"][at], tables[f"{name}.#next"][at] = first, first + len(value)
                for number, member in enumerate(value, first):
                    self.write(tables, f"{name}.#at", (*at, number), item, member)
            case Collection(kind="sliding array", item=item):
                first, items = value
                tables[f"{name}.#first"][at], tables[f"{name}.#next"][at] = first, first + len(items)
                for number, member in enumerate(items, first):
                    self.write(tables, f"{name}.#at", (*at, number), item, member)
            case Collection(kind="sliding map", item=item):
                following, entries = value
                tables[f"{name}.#next"][at] = following
                tables[f"{name}.#first"][at] = entries[0][0] if entries else following
                for number, member in entries:
                    tables[f"{name}.#has"][(*at, number)] = True
                    self.write(tables, f"{name}.#at", (*at, number), item, member)
            case Map(key=key, value=kind):
                for known, its in value:
                    place = (*at, *self.terms(known, key))
                    if not has_zero(kind):
                        tables[f"{name}.#has"][place] = True
                    self.write(tables, name, place, kind, its)
            case _:
                tables[name][at] = value if type_ == BOOL else self.element(value)


def members(value: Any, type_: Type, wanted: Type) -> Iterator[Any]:
    """The members of this type of the sets inside a value."""
    match type_:
        case Record(fields=fields):
            for part, (_, kind) in zip(value, fields, strict=True):
                yield from members(part, kind, wanted)
        case Collection(kind=collection, item=item) if value is not None:
            for member in elements(value, type_):
                if collection == "set" and item == wanted:
                    yield member
                yield from members(member, item, wanted)
        case Map(value=kind):
            for _, its in value:
                yield from members(its, kind, wanted)
        case _:
            pass


@dataclass(slots=True)
class Reader:
    """Reads values back from formulas, in a structure."""

    drawn: Drawn
    structure: Structure
    environment: Mapping[str, Any]
    named: int = 0

    def truth(self, term: ir.Expr) -> bool:
        return bool(self.of(term))

    def of(self, term: ir.Expr) -> Any:
        return evaluate(term, self.structure, {**dict.fromkeys(free_locals(term), 0), **self.environment})

    def leaf(self, term: ir.Expr) -> Any:
        found = self.of(term)
        return self.drawn.messages[found] if term.type == MESSAGE else found

    def all(self, types: Sequence[Type]) -> Iterator[tuple[ir.Expr, ...]]:
        """Terms for all values of the types, one after the other: names with those values."""
        names = [f"?{self.named + at}" for at in range(len(types))]
        self.named += len(types)
        for values in tuples(types, self.structure.universe):
            self.environment = {**self.environment, **dict(zip(names, values, strict=True))}
            yield tuple(ir.Local(type_, name) for type_, name in zip(types, names, strict=True))

    def value(self, shape: Shape, type_: Type) -> Any:
        """The value, in the interpreter's form."""
        match shape, type_:
            case Parts(fields=parts), Record(fields=fields):
                return tuple(self.value(part, kind) for part, (_, kind) in zip(parts, fields, strict=True))
            case Perhaps(some=some, item=item), Collection(item=kind):
                return (self.value(item, kind),) if self.truth(some) else None
            case Members(has=has), Collection(item=kind):
                there = (terms for terms in self.all(leaves(kind)) if self.truth(has(terms)))
                return frozenset(self.value(built(kind, terms), kind) for terms in there)
            case Bag(groups=groups), Collection(item=kind):
                found = (group.item(terms) for group in groups for terms in self.all(group.types))
                return frozenset(self.value(item, kind) for there, item in found if self.truth(there))
            case Window(first=first, next=following, at=at), Collection(item=kind):
                places = range(self.of(first), self.of(following))
                items = tuple(self.value(at(ir.Literal_(NAT, place)), kind) for place in places)
                return items if type_.kind == "queue" else (self.of(first), items)
            case Numbered(first=first, next=following, has=there, at=at), Collection(item=kind):
                places = [place for place in range(WINDOW) if self.truth(there(ir.Literal_(NAT, place)))]
                assert self.of(first) == (places[0] if places else self.of(following))
                found = ((place, self.value(at(ir.Literal_(NAT, place)), kind)) for place in places)
                return self.of(following), tuple(found)
            case Table(at=at, has=has), Map(key=key, value=kind):
                pairs = {}
                for terms in self.all(leaves(key)):
                    if self.truth(has(terms)):
                        pairs[self.value(built(key, terms), key)] = self.value(at(terms), kind)
                return tuple((known, pairs[known]) for known in ascending(pairs))
            case Leaf(term=term), _:
                found = self.leaf(term)
                return bool(found) if type_ == BOOL else found
            case _:
                raise AssertionError((shape, type_))


@dataclass(frozen=True, slots=True)
class Taken:
    """All ways through a handler, with their checks."""

    cause: Cause
    ways: tuple[Way, ...]
    checks: tuple[Check, ...]
    guided: bool = False
    """There are many ways: those are executed that are taken in a state, once it is known."""
    invariants: dict[tuple[int, str], ir.Expr] = field(default_factory=dict)

    def after(self, link: ir.Link, way: Way, name: str) -> ir.Expr:
        """An invariant of the link at the end of a way."""
        if (id(way), name) not in self.invariants:
            (body,) = (one.body for one in link.invariants if one.name == name)
            self.invariants[id(way), name] = Evaluation(link.protocol, way.state, prefix="i").formula(body)
        return self.invariants[id(way), name]


class TooMany(Exception):
    """There are more ways and checks than are compared."""


def taken(link: ir.Link, cause: Cause, rounds: int) -> Taken:
    """All ways of so many rounds; or none yet, where there are too many, or a loop is not unrolled in every state."""
    execution = Execution(replace(link, invariants=()), any_state(link), unrolled=rounds)
    ways: list[Way] = []

    def end(path: Way) -> None:
        ways.append(path)
        if len(ways) + len(execution.checks) > MOST:
            raise TooMany

    try:
        through(execution, cause, end)
    except (TooMany, Unsupported):
        return Taken(cause, (), (), guided=True)
    return Taken(cause, tuple(ways), tuple(execution.checks))


@dataclass(slots=True)
class Guided(Execution):
    """Executes the ways that are taken in the state of `reader`, of up to `unrolled` rounds."""

    reader: Reader | None = None
    last: tuple[tuple[ir.NamedFormula, ...], Reader] | None = None
    """The conditions that were found true last, and with which names."""

    def run(self, statements: Sequence[ir.Stmt], path: Way, then: Then, back: Then, depth: int = 0) -> None:
        if self.chosen(path) is not None:
            Execution.run(self, statements, path, then, back, depth)

    def chosen(self, path: Way) -> Reader | None:
        """A reader with values for the names on the way; None where the way is not taken."""
        assert self.reader is not None
        found = None
        if self.last is not None:
            known, reader = self.last
            if len(known) <= len(path.conditions) and all(map(is_, known, path.conditions)):
                own = Reader(reader.drawn, reader.structure, {**reader.environment, **self.reader.environment})
                found = next(satisfying(own, path.conditions[len(known) :]), None)
                if found is None and own.environment.keys() == self.reader.environment.keys():
                    return None  # otherwise another element, place or argument may do
        if found is None:
            found = next(satisfying(self.reader, path.conditions), None)
        if found is not None:
            self.last = path.conditions, found
        return found

    def _unroll_for(self, statement: ir.For, path: Way, then: Then, back: Then, depth: int) -> None:
        """In the order of the interpreter: elements of a queue by their places, any others by their values."""
        groups, there = self._domain(path, statement)
        self._check(f"no fault on line {statement.span.line}", path, there)
        start = path.where("a value", there)
        reader = self.chosen(start)
        if reader is None:
            return
        items = self.in_order(statement, start, reader, groups)

        def round_(before: Way, left: Sequence[Shape]) -> None:
            if not left:
                then(restored(before, path))
                return
            inside = replace(before, locals={**before.locals, statement.name: left[0]})
            self.run(statement.body, inside, lambda after: round_(restored(after, path), left[1:]), back, depth)

        round_(start, items)

    def in_order(self, statement: ir.For, path: Way, reader: Reader, groups: Sequence[Group]) -> list[Shape]:
        shape = None if statement.domain is None else self._value(path, statement.domain).shape
        if isinstance(shape, Window):
            return [
                shape.at(ir.Literal_(NAT, number)) for number in range(reader.of(shape.first), reader.of(shape.next))
            ]
        found: dict[Any, Shape] = {}
        for group in groups:
            for values in tuples(group.types, reader.structure.universe):
                item = self.item(group, values, reader)
                if item is not None:
                    found[reader.value(item, statement.variable)] = item
        if statement.domain is None or shape is None:
            return [found[each] for each in sorted(found)]
        type_ = statement.domain.type
        return [found[each] for each in elements(reader.value(shape, type_), type_)]

    def item(self, group: Group, values: Sequence[Any], reader: Reader) -> Shape | None:
        """The item of the group at these elements, which have names from then on; None where it has none."""
        assert self.reader is not None
        terms = tuple(ir.Local(type_, f"#item {self._number()}") for type_ in group.types)
        named = {term.name: value for term, value in zip(terms, values, strict=True)}
        reader.environment = {**reader.environment, **named}
        there, item = group.item(terms)
        if not reader.truth(there):
            return None
        self.reader.environment = {**self.reader.environment, **named}
        return item


def guided(link: ir.Link, cause: Cause, reader: Reader) -> Taken:
    """The ways through a handler that are taken in the state of the reader."""
    execution = Guided(replace(link, invariants=()), any_state(link), unrolled=MOST_ROUNDS, reader=reader)
    ways: list[Way] = []
    through(execution, cause, ways.append)
    return Taken(cause, tuple(ways), tuple(execution.checks))


Seen: TypeAlias = Callable[[Drawn, Way, Reader, Step], None]
"""Is given the end of each way that is compared, and what the interpreter gives."""


def compare(drawn: Drawn, taken: Taken, seen: Seen | None = None) -> str:
    """Compares one step, for a random cause of this kind; what happened in it."""
    link, one = drawn.link, drawn.random
    protocol = with_values(link.protocol, {}, drawn.processes)
    process = one.randrange(drawn.processes)
    environment: dict[str, Any] = {"#self": process}
    for name, value in values_of(link.protocol, {}, drawn.processes).items():
        environment[f"#role {name}"] = value
    handler = taken.cause.handler
    interpreter = Interpreter(protocol, drawn.processes, drawn.tree)
    state = tuple(drawn.locals[process])
    left = list(drawn.packets)
    first = True
    cause: Any
    if taken.cause.name.startswith("receive "):
        kind = taken.cause.name.removeprefix("receive ")
        there = [packet for packet in drawn.packets if packet.kind == kind]
        if not there:
            return "nothing"
        at = one.randrange(len(there))
        cause = there[at]
        first = any(each is cause for each in drawn.first_of_channels())
        process = environment["#self"] = cause.dst
        state = tuple(drawn.locals[process])
        environment["#packet"] = at
        del left[drawn.at(cause)]
    elif handler is not None and handler.event == "causal_send":
        own = [at for at, each in enumerate(drawn.messages) if each.src == process]
        own = [at for at in own if not drawn.structure.tables["sent"][at,]]
        if not own:
            return "nothing"
        environment["#m"] = one.choice(own)
        cause = drawn.messages[environment["#m"]]
    else:
        assert handler is not None
        arguments = tuple(drawn.value(parameter.type) for parameter in handler.parameters)
        for parameter, value in zip(handler.parameters, arguments, strict=True):
            environment[f"#{parameter.name}.0"] = value
        name = handler.kind or ir.PERIODICALLY
        cause = Occurrence(name, arguments)
    reader = Reader(drawn, drawn.structure, environment)
    if not first:
        assert not any(arrives(reader, way.conditions) for way in taken.ways), "a packet overtakes another"
        return "behind another"
    if taken.guided:
        taken = guided(link, taken.cause, reader)
    failed = [check for check in taken.checks if fails(reader, check)]
    true = [(way, chosen) for way in taken.ways for chosen in satisfying(reader, way.conditions)]
    try:
        if handler is not None and not accepted(interpreter, process, state, cause, handler):
            assert not true
            return "not accepted"
        result = interpreter.step(process, state, cause)
    except Fault:
        if not failed and not true and not taken.guided:  # in a later round
            failed = [check for check in guided(link, taken.cause, reader).checks if fails(reader, check)]
        assert failed, "a fault that no check sees"
        return "fault"
    if not true and not failed:
        return "longer"  # more rounds than are unrolled
    machines = machines_after(drawn, taken.cause, process, cause, result)
    if not machines:
        seen = any("enabled" in check.name or "where the message goes" in check.name for check in failed)
        assert seen or loops(taken.checks), "a refusal that no check sees"
        return "refused"
    if failed and all("one packet to each process" in check.name for check in failed):
        return "no order"
    assert not failed, [check.name for check in failed]
    assert len(true) == len(machines), "as many ends as the machine may choose"
    alike = [[machine for machine in machines if is_machine(reader, way, machine)] for way, reader in true]
    assert all(alike) and all(any(one in found for found in alike) for one in machines), "the machines differ"
    (way, reader), after = true[0], alike[0][0]
    for variable, expected in zip(protocol.state, result.state, strict=True):
        found = reader.value(way.state.mine(variable.name), variable.type)
        assert found == expected, (variable.name, found, expected)
        for (other,) in reader.all((PROCESS,)):
            whose = reader.of(other)
            there = expected if whose == process else drawn.locals[whose][protocol.state.index(variable)]
            assert reader.value(way.state.of(variable.name, other), variable.type) == there, (variable.name, whose)
    sent = [
        Packet(emission.kind, process, emission.to, emission.arguments)
        for emission in result.emissions
        if isinstance(emission, Sent)
    ]
    if keeps_order(link):
        assert channels(flying(reader, way, protocol)) == channels([*left, *sent])
    assert Counter(flying(reader, way, protocol)) == Counter([*left, *sent])
    if seen is not None:
        seen(drawn, way, reader, result)
    if not link.invariants:
        return "alike"
    states = [result.state if other == process else local for other, local in enumerate(drawn.locals)]
    true_now = true_of(link, states, [*left, *sent], after, drawn.messages)
    name = one.choice([*true_now])
    with suppress(Unsupported):  # a count below a quantifier over all numbers is not evaluated
        assert reader.truth(taken.after(link, way, name)) == true_now[name], f"{name} after {taken.cause.name}"
    return "alike"


def is_machine(reader: Reader, way: Way, expected: Structure) -> bool:
    """Whether the machine at the end of a way is this one."""
    for symbol in symbols(reader.drawn.link.machine):
        for terms in reader.all([parameter.type for parameter in symbol.parameters]):
            found = reader.of(way.state.machine[symbol.name](terms))
            key = tuple(reader.of(term) for term in terms)
            if found != expected.tables[symbol.name].get(key, False if symbol.result == BOOL else 0):
                return False
    return True


def fails(reader: Reader, check: Check) -> bool:
    """Whether the goal is false where the conditions are true, in some round of a loop.

    That each of many events of a loop is enabled is about the machine in the midst of the loop, and is not evaluated.
    """
    if "in each round" in check.name:
        return False
    goal = ir.NamedFormula("goal", ir.Not(BOOL, check.goal))
    return any(True for _ in satisfying(reader, (*check.conditions, goal)))


def satisfying(reader: Reader, conditions: Sequence[ir.NamedFormula]) -> Iterator[Reader]:
    """With each choice of loop variables and places in queues for which the conditions are true."""
    for at, condition in enumerate(conditions):
        chosen = (
            (name, of) for name, of in free_locals(condition.body).items() if name.startswith(("#each", "#at", "#any"))
        )
        for name, type_ in chosen:
            if name not in reader.environment:
                for (value,) in tuples([type_], reader.structure.universe):
                    given = {**reader.environment, name: value}
                    yield from satisfying(Reader(reader.drawn, reader.structure, given), conditions[at:])
                return
        if not reader.truth(condition.body):
            return
    yield reader


def arrives(reader: Reader, conditions: Sequence[ir.NamedFormula]) -> bool:
    return all(reader.truth(each.body) for each in conditions if each.name == "the packet arrives")


def channels(packets: Iterable[Packet]) -> dict[tuple[int, int], list[Packet]]:
    """The packets of each channel, in their order."""
    found: dict[tuple[int, int], list[Packet]] = {}
    for packet in packets:
        found.setdefault((packet.src, packet.dst), []).append(packet)
    return found


def loops(checks: Sequence[Check]) -> bool:
    return any("in each round" in check.name for check in checks)


def accepted(interpreter: Interpreter, process: int, state: Any, cause: Any, handler: ir.Handler) -> bool:
    if isinstance(cause, Message):
        return interpreter.accepts(process, state, cause)
    return handler.event != "input" or interpreter.takes(process, state, cause)


def flying(reader: Reader, way: Way, protocol: ir.Protocol) -> list[Packet]:
    """The packets in flight, in the order of their places where they have any."""
    found: list[tuple[int, Packet]] = []
    place = () if protocol.network.reordering else (("place", NAT),)
    for kind in protocol.packets:
        said = ((one.name, one.type) for one in kind.parameters)
        record = Record("", (*said, ("from", PROCESS), ("to", PROCESS), *place))
        for group in way.state.network[kind.name]:
            for terms in reader.all(group.types):
                there, item = group.item(terms)
                if reader.truth(there):
                    values = list(reader.value(item, record))
                    at = values.pop() if place else 0
                    *arguments, src, dst = values
                    found.append((at, Packet(kind.name, src, dst, tuple(arguments))))
    return [packet for _, packet in sorted(found, key=lambda each: each[0])]


def machines_after(drawn: Drawn, cause: Cause, process: int, given: Any, result: Step) -> list[Structure]:
    """What the machine may be after the step's events, by evaluation; nothing where it refuses one."""
    found = [drawn.structure]
    for event in events(cause, given, result):
        found = [after for before in found for after in machine_steps(drawn, before, process, event)]
    return found


def events(cause: Cause, given: Any, result: Step) -> Iterator[Happening]:
    if isinstance(given, Message):
        yield "causal_send", None, (given,), None
    elif isinstance(given, Packet):
        yield "receive", given.kind, given.arguments, given.src
    else:
        assert cause.handler is not None
        yield cause.handler.event, cause.handler.kind, given.arguments, None
    for emission in result.emissions:
        if isinstance(emission, Delivered):
            yield "deliver", None, (emission.message,), None
        else:
            yield "send", emission.kind, emission.arguments, emission.to


def machine_steps(drawn: Drawn, structure: Structure, process: int, event: Happening) -> list[Structure]:
    """What the machine may be after an event: an argument that it finds is a process or a sent message."""
    what, kind, values, peer = event
    link = drawn.link
    for clause in link.clauses:
        if (clause.event, clause.kind) != (what, kind):
            continue
        protocol = link.protocol
        if what == "deliver" and link.machine.delivery == "unicast" and process not in values[0].dsts:
            return []
        given = values_of(protocol, {}, drawn.processes)
        names = Names({variable.name: at for at, variable in enumerate(protocol.state)})
        frame = Frame(process=process, state=list(drawn.locals[process]), processes=drawn.processes)
        frame.symbols = {name: (lambda value=value: value) for name, value in given.items()}
        frame.locals = dict(zip([one.name for one in clause.parameters], values, strict=False))
        if clause.peer is not None:
            frame.locals[clause.peer] = peer
        if clause.when is not None and not compile_expression(clause.when, names)(frame):
            return [structure]
        for target in clause.targets:
            action = action_of(link.machine, target.transition)
            choices = [
                found_by(structure, parameter.type)
                if argument is None
                else [drawn.element(compile_expression(argument, names)(frame))]
                for parameter, argument in zip(action.parameters, target.arguments, strict=True)
            ]
            ways = [step(action, each, structure) for each in product(*choices) if enabled(action, each, structure)]
            if ways:
                return ways
        return []
    return [structure]


def found_by(structure: Structure, type_: Type) -> list[int]:
    """The processes, or the messages that are sent."""
    elements_ = range(structure.universe[str(type_)])
    return [each for each in elements_ if type_ != MESSAGE or structure.tables["sent"][each,]]


def without_encoding(link: ir.Link) -> dict[str, str]:
    """Why handlers have no encoding, by the names of their causes."""
    if link.protocol.network.overlay:
        return {cause.name: "overlays" for cause in causes(link)}
    found = {}
    for cause in causes(link):
        try:
            steps_of(replace(link, invariants=()), cause, ())
        except Unsupported as reason:
            found[cause.name] = str(reason)
    return found


def compared_by_cause(link: ir.Link, seeds: Sequence[int], rounds: int) -> dict[str, Counter[str]]:
    """What happened in the steps that were compared, by the names of their causes."""
    left_out = without_encoding(link)
    known = [taken(link, cause, rounds) for cause in causes(link) if cause.name not in left_out]
    happened: dict[str, Counter[str]] = {each.cause.name: Counter() for each in known}
    for seed in seeds:
        one = Random(seed)
        drawn = Drawn(link, one.choice((2, 3)), one)
        for each in known:
            try:
                happened[each.cause.name][compare(drawn, each)] += 1
            except Unsupported:  # a sum of two numbers that are quantified over is not evaluated
                happened[each.cause.name]["not evaluated"] += 1
    return happened


def compared(link: ir.Link, seeds: Sequence[int], rounds: int = ROUNDS) -> Counter[str]:
    """What happened in the steps that were compared, and how many handlers have no encoding."""
    happened = sum(compared_by_cause(link, seeds, rounds).values(), Counter[str]())
    return happened + Counter(unsupported=len(without_encoding(link)))  # leaves out what is zero


def without_requirements(link: ir.Link) -> ir.Link:
    """The link to a machine that refuses nothing but to send a message twice: more steps come to their end."""
    transitions = tuple(replace(each, requires=()) for each in link.machine.transitions)
    return replace(link, machine=replace(link.machine, transitions=transitions))


LINKS = tuple(
    link
    for path in sorted(LIBRARY.glob("*.thence"))
    if (specification := load(path.stem).specification) is not None
    for link in specification.links
)

ONCE = "`once` in a link has no encoding"
SENT_BY = "`sent_by` has no encoding"
REF_M = "`for ref m` that changes more than its elements has no encoding"

LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    "cbcast_any to vector_clocks": {"receive MSG": "a choice (`choose`, `either`) has no encoding"},
    "dijkstra_scholten to engagement": dict.fromkeys(
        ("begin", "work", "rest", "receive JOB", "receive SIGNAL"), "overlays"
    ),
    "hybrid_basic to permits": {
        **dict.fromkeys(("causal_send", "periodically", "receive ACK"), ONCE),
        "receive PERMIT": SENT_BY,
    },
    "hybrid_basic to permits_by_number": {
        **dict.fromkeys(("causal_send", "periodically", "receive MSG", "receive ACK"), ONCE),
        "receive PERMIT": SENT_BY,
    },
    "hybrid_multicast to multicast_permits": {
        "causal_send": "`size` of a `set of process` has no encoding",
        "periodically": ONCE,
        "receive ACK": ONCE,
        "receive PERMIT": SENT_BY,
    },
    "hybrid_optimal to permission": {
        "causal_send": REF_M,
        "periodically": ONCE,
        "receive ACK": ONCE,
        "receive PERMIT": SENT_BY,
    },
    "hybrid_optimal to indices": {"causal_send": REF_M, "receive ACK": SENT_BY, "receive PERMIT": REF_M},
    "hybrid_remembering to remembering": {
        "causal_send": REF_M,
        **dict.fromkeys(("periodically", "receive ACK", "receive PERMIT"), ONCE),
    },
    "ks to remaining": {"causal_send": "`for ref o` that changes more than its elements has no encoding"},
    "skeen to priorities": {"receive PROPOSE": ONCE},
}
"""Handlers of links of the library that have no encoding, with the construct that has none."""

ALLOWED = {"ks to remaining": 0, "ses to vector_pairs": 10}
"""Of how many states steps are compared that a machine without requirements allows, where evaluation takes long."""

REFUSES_LITTLE = "rst_mf to matrix"
"""The machine refuses few steps from drawn states: none of those that are compared."""


def test_what_is_left_out() -> None:
    """Every handler of the library is compared but for these."""
    found = {link.name: without_encoding(link) for link in LINKS}
    assert {name: handlers for name, handlers in found.items() if handlers} == LEFT_OUT


@pytest.mark.long(
    but=("fifo to sequence_numbers", "newtop to lamport_order", "cykas to secrets", "mf_pipelined to pipelined")
)
@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_library(link: ir.Link) -> None:
    """Steps that the machine allows or refuses, and steps where it allows all."""
    refusable = compared_by_cause(link, range(15), 1)
    free = without_requirements(link)
    allowed = compared_by_cause(free, range(ALLOWED.get(link.name, 25)), 1)
    for name, its in refusable.items():
        whole = its + allowed[name]
        assert whole["alike"] or ends(free, name), f"no step of {name} is compared to its end"
        assert whole["longer"] <= 2 * whole["alike"], name
    if link.name not in LEFT_OUT:
        assert link.name == REFUSES_LITTLE or sum((*refusable.values(),), Counter())["refused"]


def ends(link: ir.Link, name: str) -> bool:
    """Whether a step of a cause that is seldom accepted is compared to its end."""
    (cause,) = (each for each in causes(link) if each.name == name)
    known = taken(link, cause, 1)
    drawn = (Drawn(link, 3, Random(seed)) for seed in range(1000, 2000))
    return any(compare(each, known) == "alike" for each in drawn)


# --- protocols that nobody wrote ------------------------------------------------------------------

HEAD = """
machine anything:
  relation told(p: process, q: process)
  function steps(p: process): nat
  transition causal_send(m):
    require told(src(m), dst(m))
  transition deliver(m):
    require forall x. before(x, m) implies delivered(x)
  transition tell(p: process, q: process):
    require not told(q, p)
    told(p, q) := true
  transition advance(p: process):
    forall q: steps(q) := if q = p then steps(q) + 1 else steps(q)
  prove at_most_once

protocol drawn:
  network reliable, reordering
  role boss: process = 1
  constant most: nat = 2
  record Out: m: message; n: nat
  record Odd: has: bool; some: bool; value: nat; at: process
  message MSG(m: message, n: nat) carries m
  message ACK(n: nat)
  message CTL(q: process)
  state:
    f: bool
    n: nat
    k: nat
    Q: queue of message
    O: queue of Out
    S: set of process
    P: set of Out
    L: option of process
    M: map process to nat
    T: map process to message
    U: map process to queue of Out
    E: map process to map nat to message
    C: map nat to Out
    D: map process to Odd
    G: option of Odd
"""

LINK = """
conforms drawn to anything:
  causal_send(m) is causal_send(m)
  deliver m is deliver(m)
  send CTL(q) to j is tell(self, j)
  receive CTL(q) from j is tell(j, q) or tell(q, self) or advance(self)
  receive ACK(x) from j is advance(self), when f or x > 1
  act(a, x) is tell(a, self)
  invariant one: forall MSG(m, n) from p to q in flight. sent(m) and n > 0 or p = q
  invariant two: exists ACK(x) from p to q in flight. n@p = x or told(q, p)
  invariant three: forall p: process. (count ACK(x) from q to r in flight. r = p) <= 1
  invariant four: forall p: process. (count ACK(x) from q to r in flight. r = p) + (count m in Q@p. m.src = p) = 1
  invariant five: forall p, q: process. forall n in E@p[q]. sent(E@p[q][n]) and n >= steps(q)
  invariant six: forall p: process, m: message. m in Q@p implies exists o in O@p. o.m = m or o.n < n@p
  invariant seven: forall p: process. (count q: process. told(p, q) and q != p) <= steps(p)
  invariant eight: exists p: process. S@p is empty and (count CTL(q) from a to b in flight. q = p) >= 1
  invariant ten: forall ACK(x) from p to q in flight. forall MSG(m, n) in flight ahead. n <= x
  invariant eleven: exists MSG(m, n) in flight. (count ACK(x) in flight ahead. x <= n) <= 1 and
    exists CTL(q) from r to s in flight ahead. q = r
  invariant twelve: forall p: process. forall m in Q@p. exists v ahead. v.src = m.src or m.dst = p
  invariant thirteen: exists p: process. exists o in O@p, u ahead, v ahead. u.n = o.n or (count x ahead. x.n > v.n) = 1
  invariant fourteen: forall p: process. forall m in Q@p, v ahead. v != m
  invariant nine: forall p, q: process. p in T@q implies T@q[p] in Q@p or delivered(T@q[p]) and hb(T@q[p], T@q[p])
"""

CONDITIONS = (
    "f", "not f", "n > 0", "k = 1 or n = 2", "k < n", "k != most", "Q is empty", "O is not empty and O.first.n <= n",
    "self in S", "S is empty", "L is none", "L = some(self)", "L != some(boss) and f", "M[self] = 0", "boss in M",
    "self in T", "self in T and T[self].src = self", "n in E[boss]", "self in U", "n in C and C[n].n = k",
    "self in E", "exists y in S. M[y] > 0", "forall p: process. p in S implies M[p] < 2", "self < boss",
    "forall v in Q. v.dst = self", "exists o in U[self]. o.n = n", "exists y in E[self]. y > 0", "T is not empty",
    "(count y in S. M[y] = 0) = 1", "(count p: process. p in T) + (count v in Q. v.src = self) <= 1",
    "S = {self}", "M[boss] + 1 <= n", "max(n, k) > 1", "if f then n = 0 else k = 0", "f iff n = k", "Q.size > 1",
    "n - k > 0", "Out(m: Q.first, n: n) in P", "E[self] is empty", "few(k)",
    "self in D and D[self].has", "G is not none and G.value.some", "boss in D and D[boss].at = self",
)  # fmt: skip
STEPS = (
    "f := not f", "f := self in S", "n := n + 1", "n := n - 1", "k := k - n", "k := min(n, 2)", "S.add(self)",
    "S.add(boss)",
    "S.remove(boss)", "S.clear()", "L := some(boss)", "L := none", "M[self] := M[self] + 1", "M[boss] := 0",
    "M.remove(self)",
    "Q.pop()", "O.pop()", "Q.clear()", "if O is not empty: n := O.first.n", "U[self].clear()", "C.remove(n)",
    "E[self].remove(n)", "if n in C: C[n].n := k", "if self in T: Q.push(T[self])", "T.remove(boss)",
    "if C is not empty and n in C: O.push(C[n])", "send ACK(n) to self", "send CTL(boss) to boss", "S := {self, boss}",
    "for p in process: send CTL(self) to p", "for p in S: send ACK(M[p]) to p", "if true: let s = n + k; n := s",
    "for p in process: if p != self and p in M: send ACK(k) to p", "for o in U[boss]: send MSG(o.m, o.n) to boss",
    "for p in process: if f: send CTL(p) to p else: send ACK(n) to p", "bump(n)", "bump(1)",
    "if true: var c = k; c := c + 1; k := c",
    "for p in process: for o in U[p]: send MSG(o.m, o.n) to p", "tell(boss)", "if f: return",
    "while n > 0: n := n - 1", "while O is not empty and O.first.n < 2: O.pop()", "if few(n): deliver_all()",
    "for p in process: if p in S: send CTL(p) to p", "P.clear()",
    "D[self] := Odd(has: f, some: true, value: n, at: boss)", "D.remove(boss)", "if self in D: D[self].has := not f",
    "if self in D: G := some(D[self])", "if G is not none: D[boss] := G.value", "G := none",
    "n := count p: process. p in S and M[p] < 2", "Q.push(O.first.m)", "L := some(E[self][n].src)",
)  # fmt: skip
WITH_MESSAGE = (
    "Q.push(m)", "O.push(Out(m: m, n: n))", "U[m.src].push(Out(m: m, n: k))", "T[m.src] := m", "E[m.dst][n] := m",
    "deliver m",
    "P.add(Out(m: m, n: k))", "C[n] := Out(m: m, n: k)", "send MSG(m, n) to m.dst", "S.add(m.src)", "deliver_all()",
    "while n in E[m.src]: deliver E[m.src][n]; E[m.src].remove(n); n := n + 1",
)  # fmt: skip
ON_A_TREE = (
    "send ACK(n) to next_hop[boss]", "for y in neighbors: send CTL(y) to y", "M[next_hop[boss]] := n",
    "for p in process: if p in neighbors: send ACK(n) to p", "S := neighbors", "L := some(next_hop[boss])",
    "for y in S: if y in neighbors: send ACK(M[y]) to y", "if boss != self: send CTL(boss) to up",
    "if boss in neighbors: send ACK(k) to boss",
    "for p in process: if p != self: send CTL(p) to next_hop[p]", "if up in next_hop: up := next_hop[up]",
)  # fmt: skip
ON_A_TREE_WITH_MESSAGE = (
    "send MSG(m, n) to next_hop[m.dst]", "if m.dst != self: send MSG(m, k) to next_hop[m.dst]",
    "S.add(next_hop[m.src])",
)  # fmt: skip
CONDITIONS_ON_A_TREE = (
    "boss in neighbors", "boss in next_hop and next_hop[boss] = boss", "exists p in neighbors. M[p] > 0", "S = near",
    "forall p in next_hop. next_hop[p] in neighbors", "exists p: process. p != self and p not in neighbors",
)  # fmt: skip
VARIABLES_ON_A_TREE = """
    up: process = if self = boss then self else next_hop[boss]
    near: set of process = neighbors
"""
INVARIANTS_ON_A_TREE = """
  invariant fifteen: forall p, q: process. q in neighbors@p iff p != q and next_hop@p[q] = q
  invariant sixteen: forall ACK(x) from p to q in flight. q in neighbors@p or x > 1
  invariant seventeen: forall p: process. forall q in next_hop@p. next_hop@p[q] = up@p or told(p, q) or q in near@p
"""
PROCEDURES = """
  def few(x: nat): x + k < 3
  procedure bump(by: nat):
    if by > 2: return
    n := n + by
    if f: k := k + 1
  procedure tell(p: process):
    if p in S: send CTL(self) to p
    else: S.add(p)
  procedure deliver_all():
    while not f and Q is not empty:
      deliver Q.first
      send ACK(0) to Q.first.src
      Q.pop()
"""


def block(
    one: Random, steps: Sequence[str], depth: int, indent: str, conditions: Sequence[str] = CONDITIONS
) -> list[str]:
    """Some statements, a few of them under conditions."""
    lines: list[str] = []
    for _ in range(one.randrange(1, 4)):
        if depth and one.random() < 0.4:
            lines.append(f"{indent}if {one.choice(conditions)}:")
            lines += block(one, steps, depth - 1, indent + "  ", conditions)
            if one.random() < 0.5:
                lines += [f"{indent}else:", *block(one, steps, depth - 1, indent + "  ", conditions)]
        else:
            lines += written(one.choice(steps), indent)
    return lines


def written(step: str, indent: str) -> list[str]:
    """A step on lines of its own: `A: B: c` is nested, `; ` ends a statement."""
    for word in ("for", "while", "if"):
        if step.startswith(word + " ") and ": " in step:
            head, _, rest = step.partition(": ")
            while head.count("{") != head.count("}") or head.endswith(("exists p", "forall p")):
                more, _, rest = rest.partition(": ")
                head += ": " + more
            then, _, otherwise = rest.partition(" else: ") if word == "if" else (rest, "", "")
            lines = [f"{indent}{head}:", *written(then, indent + "  ")]
            return [*lines, f"{indent}else:", *written(otherwise, indent + "  ")] if otherwise else lines
    first, _, rest = step.partition("; ")
    return [indent + first, *(written(rest, indent) if rest else [])]


def random_text(seed: int, network: str = "reliable, reordering") -> str:
    one = Random(seed)
    head, link = HEAD.rstrip(), LINK
    steps, with_message, conditions = STEPS, (*WITH_MESSAGE, *STEPS), CONDITIONS
    if "tree" in network:
        head, link = head + VARIABLES_ON_A_TREE.rstrip(), link + INVARIANTS_ON_A_TREE.lstrip("\n")
        elsewhere = tuple(each for each in STEPS if "send" not in each)
        steps = (*elsewhere, *ON_A_TREE * 3)
        with_message = (*ON_A_TREE_WITH_MESSAGE * 5, *WITH_MESSAGE, *steps)
        conditions = (*CONDITIONS, *CONDITIONS_ON_A_TREE * 2)
    heads = {
        "on causal_send(m) when not f or n < 3:": with_message,
        "on receive MSG(m, x) from j:": (*with_message, "M[j] := x", "S.add(j)", "n := x"),
        "on receive ACK(x) from j:": (*steps, "M[j] := x", "if x > k: L := some(j)", "T.remove(j)"),
        "on receive CTL(q) from j:": (*steps, "S.add(q)", "M[q] := M[j]", "U[q].clear()"),
        "on act(a: process, x: nat) when x < 3 or few(n):": (*steps, "S.add(a)", "n := x", "M[a] := M[a] + x"),
        "periodically:": steps,
    }
    text = drawn_text(one, head + "\n" + PROCEDURES.strip("\n"), heads, conditions)
    return text.replace("reliable, reordering", network) + link


def drawn_text(one: Random, head: str, handlers: Mapping[str, Sequence[str]], conditions: Sequence[str]) -> str:
    """A protocol with this head; each handler has a few of its statements."""
    lines = [head.rstrip()]
    for title, its in handlers.items():
        lines += [f"  {title}", *block(one, its, 1, "    ", conditions)]
    return "\n".join(lines) + "\n"


def drawn_link(seed: int, network: str = "reliable, reordering") -> ir.Link:
    return linked(random_text(seed, network))


def linked(text: str) -> ir.Link:
    """The first link of a drawn text."""
    loaded = load_bytes(Path("drawn.thence"), text.encode())
    assert loaded.specification is not None, [(one.message, one.span.line) for one in loaded.diagnostics]
    return loaded.specification.links[0]


NETWORKS = ("reliable, reordering", "reliable, fifo")
ON_TREE = "reliable, fifo, tree"


@pytest.mark.long(but=1, share=2)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("seeds", [range(start, start + 10) for start in range(0, 40, 10)], ids=str)
def test_random_protocols(seeds: range, network: str) -> None:
    happened: Counter[str] = Counter()
    for seed in seeds:
        happened += compared(drawn_link(seed, network), range(15))
    assert happened["alike"] > 100
    assert happened["fault"]
    assert happened["refused"]
    assert happened["longer"] < happened["alike"] / 10
    assert happened["no order"] < happened["alike"] / 10
    assert bool(happened["behind another"]) == ("fifo" in network)


@pytest.mark.long(but=("range(0, 3)",))
@pytest.mark.parametrize("seeds", [range(3), range(3, 8)], ids=str)
def test_random_protocols_on_trees(seeds: range) -> None:
    happened: Counter[str] = Counter()
    for seed in seeds:
        happened += compared(drawn_link(seed, ON_TREE), range(6))
    assert happened["alike"] > 10
    assert happened["fault"]
    assert happened["refused"]


@pytest.mark.parametrize(("seed", "network"), [*product(range(2), NETWORKS), (0, ON_TREE)])
def test_invariants(seed: int, network: str) -> None:
    """The formulas of invariants about processes, messages and packets in flight have the interpreter's values."""
    link = drawn_link(seed, network)
    state = any_state(link)
    formulas = {one.name: Evaluation(link.protocol, state, prefix="i").formula(one.body) for one in link.invariants}
    happened: Counter[tuple[str, bool]] = Counter()
    for number in range(30 if network == ON_TREE else 60):
        one = Random(1000 * seed + number)
        drawn = Drawn(link, one.choice((2, 3)), one)
        reader = Reader(drawn, drawn.structure, {})
        assert all(reader.truth(fact.body) for fact in place_facts(state))
        true = true_of(link, drawn.locals, drawn.packets, drawn.structure, drawn.messages)
        for invariant in link.invariants:
            expected = true[invariant.name]
            assert reader.truth(formulas[invariant.name]) == expected, invariant.name
            happened[invariant.name, expected] += 1
    assert len(happened) >= 2 * len(link.invariants) - (1 if network == "reliable, fifo" else 3)
