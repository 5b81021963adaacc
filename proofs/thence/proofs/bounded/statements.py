"""The symbolic counterpart of `thence.dsl.run.execute`: the effects of statements on all paths at once.

Statements run under a path condition and give the path condition behind them, which leaves out the paths that have
returned. Loops are unrolled; more iterations than the bound allows are noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.types import Map, Type
from thence.dsl.run.evaluate import field_position
from thence.proofs.bounded.changes import change, push
from thence.proofs.bounded.circuit import FALSE, TRUE, Circuit, Literal
from thence.proofs.bounded.expressions import Frame, Place, condition_at, evaluate
from thence.proofs.bounded.operations import Workshop
from thence.proofs.bounded.symbolic import (
    MISSING,
    Choice,
    Fields,
    Slots,
    Symbolic,
    Table,
    Window,
    choice_of,
    condition_of,
    known,
    merge,
    present,
    select,
)
from thence.proofs.logic.formula import Unsupported

CALL_DEPTH = 16
"""Limit on nested calls; deeper recursion is refused."""


@dataclass(frozen=True, slots=True)
class Emission:
    """The tags of emissions: packet kinds in their order, then `deliver`."""

    kinds: Mapping[str, int]

    @property
    def deliver(self) -> int:
        return len(self.kinds)


@dataclass(slots=True)
class Executor:
    """Runs the bodies of one protocol."""

    procedures: Mapping[str, ir.Procedure]
    emission: Emission
    depth: int = 0

    def block(self, statements: Sequence[ir.Stmt], frame: Frame, when: Literal) -> Literal:
        """Runs the statements in order. Raises: Unsupported."""
        for statement in statements:
            if when == FALSE:
                return FALSE
            when = self._statement(statement, frame, when)
        return when

    def _statement(self, statement: ir.Stmt, frame: Frame, when: Literal) -> Literal:
        match statement:
            case ir.Let(name=name, value=value):
                frame.locals[name] = evaluate(value, frame, when)
                return when
            case ir.Var(name=name, value=value):
                frame.locals[name] = _cell(evaluate(value, frame, when), frame)
                return when
            case ir.Ref(name=name, place=place):
                frame.locals[name] = bind(place, frame, when)
                return when
            case ir.Assign(place=place, value=value):
                computed = evaluate(value, frame, when)
                bind(place, frame, when).put(computed, when)
                return when
            case ir.Mutate(place=place, method=method, arguments=arguments):
                values = [evaluate(argument, frame, when) for argument in arguments]
                bound = bind(place, frame, when)
                held = present(bound.get(when), place.type)
                changed = change(frame.workshop, method, place.type, held, values, when)
                bound.put(changed, when)
                return when
            case ir.Call(procedure=name, arguments=arguments):
                self._call(name, [evaluate(argument, frame, when) for argument in arguments], frame, when)
                return when
            case ir.If():
                return self._if(statement, frame, when)
            case ir.While():
                return self._while(statement, frame, when)
            case ir.For():
                return self._for(statement, frame, when)
            case ir.Choose():
                return self._choose(statement, frame, when)
            case ir.Either(branches=branches):
                return self._either(branches, frame, when)
            case ir.Return():
                return FALSE
            case ir.Send(kind=kind, arguments=arguments, to=to):
                values = [evaluate(argument, frame, when) for argument in arguments]
                self._emit(self.emission.kinds[kind], values, evaluate(to, frame, when), frame, when)
                return when
            case ir.Deliver(message=message):
                values = [evaluate(message, frame, when)]
                self._emit(self.emission.deliver, values, known(frame.process), frame, when)
                return when
            case _:
                assert_never(statement)

    def _emit(self, tag: int, values: Sequence[Symbolic], to: Symbolic, frame: Frame, when: Literal) -> None:
        payload: list[Symbolic] = [MISSING] * (self.emission.deliver + 1)
        payload[tag] = Fields(tuple(values))
        item = Fields((known(tag), to, *payload))
        emitted = push(frame.workshop, frame.emitted, item, when)
        after = merge(frame.workshop.circuit, when, emitted, frame.emitted)
        assert isinstance(after, Slots)
        frame.emitted = after

    def _call(self, name: str, values: Sequence[Symbolic], frame: Frame, when: Literal) -> None:
        if self.depth >= CALL_DEPTH:
            raise Unsupported(f"calls of `{name}` inside one another, more than {CALL_DEPTH}")
        procedure = self.procedures[name]
        parameters = [parameter.name for parameter in procedure.parameters]
        caller, frame.locals = frame.locals, dict(zip(parameters, values, strict=True))
        self.depth += 1
        self.block(procedure.body, frame, when)
        self.depth -= 1
        frame.locals = caller

    def _if(self, statement: ir.If, frame: Frame, when: Literal) -> Literal:
        circuit = frame.workshop.circuit
        test = condition_at(statement.condition, frame, when)
        then = self.block(statement.then, frame, circuit.conj((when, test)))
        otherwise = self.block(statement.otherwise, frame, circuit.conj((when, -test)))
        return circuit.disj((then, otherwise))

    def _while(self, statement: ir.While, frame: Frame, when: Literal) -> Literal:
        circuit = frame.workshop.circuit
        left: list[Literal] = []
        for _ in range(frame.workshop.bounds.iterations):
            test = condition_at(statement.condition, frame, when)
            left.append(circuit.conj((when, -test)))
            when = self.block(statement.body, frame, circuit.conj((when, test)))
            if when == FALSE:
                return circuit.disj(left)
        test = condition_at(statement.condition, frame, when)
        frame.workshop.exceed("iterations", circuit.conj((when, test)))
        return circuit.disj((*left, circuit.conj((when, -test))))

    def _for(self, statement: ir.For, frame: Frame, when: Literal) -> Literal:
        circuit = frame.workshop.circuit
        done = FALSE
        for there, item in _items(statement, frame, when):
            inside = circuit.conj((when, there))
            if inside == FALSE:
                continue
            frame.locals[statement.name] = item
            behind = self.block(statement.body, frame, inside)
            when = circuit.disj((circuit.conj((when, -there)), behind))
        return circuit.disj((done, when))

    def _either(self, branches: Sequence[Sequence[ir.Stmt]], frame: Frame, when: Literal) -> Literal:
        """One of the branches, which an input of the circuit picks."""
        circuit = frame.workshop.circuit
        picked = [circuit.fresh() for _ in branches]
        _pick_one(circuit, picked, TRUE)
        behind = [
            self.block(branch, frame, circuit.conj((when, here))) for branch, here in zip(branches, picked, strict=True)
        ]
        return circuit.disj(behind)

    def _choose(self, statement: ir.Choose, frame: Frame, when: Literal) -> Literal:
        """The body for an element that fits, which an input of the circuit picks."""
        circuit, name = frame.workshop.circuit, statement.name
        items: Sequence[tuple[Literal, Symbolic]] = [(TRUE, known(process)) for process in range(frame.processes)]
        if statement.domain is not None:
            domain = evaluate(statement.domain, frame, when)
            items = frame.workshop.elements(domain, statement.domain.type)
        before, picked = frame.locals.get(name), []
        for there, item in items:
            frame.locals[name] = item
            inside = circuit.conj((when, there))
            fits = TRUE if statement.condition is None else condition_at(statement.condition, frame, inside)
            able = circuit.conj((inside, fits))
            if able != FALSE:
                literal = circuit.fresh()
                circuit.require(circuit.implies(literal, able))
                picked.append((literal, able, item))
        found = circuit.disj(able for _, able, _ in picked)
        _pick_one(circuit, [literal for literal, _, _ in picked], found)
        frame.locals[name] = present(
            select(circuit, [(literal, item) for literal, _, item in picked]), statement.variable
        )
        behind = self.block(statement.body, frame, circuit.conj((when, found)))
        if before is not None:
            frame.locals[name] = before
        otherwise = self.block(statement.otherwise, frame, circuit.conj((when, -found)))
        return circuit.disj((behind, otherwise))


def _pick_one(circuit: Circuit, literals: Sequence[Literal], some: Literal) -> None:
    """Requires that at most one of the inputs is true, and exactly one where `some` is."""
    circuit.require(circuit.implies(some, circuit.disj(literals)))
    for one, other in combinations(literals, 2):
        circuit.require(circuit.disj((-one, -other)))


def _items(statement: ir.For, frame: Frame, when: Literal) -> list[tuple[Literal, Symbolic | Place]]:
    """The elements that a loop visits, as of its start; with `ref`, their places."""
    if statement.domain is None:
        return [(TRUE, known(process)) for process in range(frame.processes)]
    type_ = statement.domain.type
    if not statement.ref:
        return list(frame.workshop.elements(evaluate(statement.domain, frame, when), type_))
    parent = bind(statement.domain, frame, when)
    value = present(parent.get(when), type_)
    workshop = frame.workshop
    match value:
        case Table(entries):
            return [(workshop.mapped(value, key, type_), _map_entry(parent, known(key), type_, workshop))
                    for key, _, _ in entries]  # fmt: skip
        case Slots(count, items):
            return [
                (workshop.above(count, position), _queue_element(parent, position, type_, workshop))
                for position in range(len(items))
            ]
        case Window(items=indexed):
            return [
                (workshop.in_window(value, index), _window_element(parent, known(index), type_, workshop))
                for index, _ in indexed
            ]
        case _:
            raise AssertionError(f"{type_} has no places of elements")


# --- places ------------------------------------------------------------------------------------


def bind(expr: ir.Expr, frame: Frame, when: Literal) -> Place:
    """The place that the expression denotes."""
    match expr:
        case ir.StateOf(name=name, process=None):
            return _variable(frame, frame.positions[name])
        case ir.Local(name=name):
            place = frame.locals[name]
            assert isinstance(place, Place), f"{name} is not a place"
            return place
        case ir.FieldOf(target=target, name=name):
            return _record_field(bind(target, frame, when), field_position(target.type, name), target.type)
        case ir.Lookup(target=target, key=key):
            place = bind(target, frame, when)
            return _map_entry(place, choice_of(evaluate(key, frame, when)), target.type, frame.workshop)
        case ir.ElementAt(target=target, index=index):
            place = bind(target, frame, when)
            return _window_element(place, choice_of(evaluate(index, frame, when)), target.type, frame.workshop)
        case _:
            raise AssertionError(f"not a place: {expr}")


def _cell(value: Symbolic, frame: Frame) -> Place:
    """A place of its own: that of a local variable."""
    return _in_list([value], 0, frame)


def _variable(frame: Frame, position: int) -> Place:
    return _in_list(frame.state, position, frame)


def _in_list(state: list[Symbolic], position: int, frame: Frame) -> Place:
    circuit = frame.workshop.circuit

    def put(value: Symbolic, when: Literal) -> None:
        state[position] = merge(circuit, when, value, state[position])

    return Place(lambda when: state[position], put)


def _record_field(parent: Place, position: int, type_: Type) -> Place:
    def fields(when: Literal) -> Fields:
        value = present(parent.get(when), type_)
        assert isinstance(value, Fields)
        return value

    def put(value: Symbolic, when: Literal) -> None:
        values = fields(when).values
        parent.put(Fields((*values[:position], value, *values[position + 1 :])), when)

    return Place(lambda when: fields(when).values[position], put)


def _map_entry(parent: Place, key: Choice, type_: Type, workshop: Workshop) -> Place:
    assert isinstance(type_, Map)
    circuit = workshop.circuit

    def table(when: Literal) -> Table:
        value = present(parent.get(when), type_)
        assert isinstance(value, Table)
        return value

    def put(value: Symbolic, when: Literal) -> None:
        entries = {number: (there, item) for number, there, item in table(when).entries}
        for number, literal in key.options:
            there, item = entries.get(number, (FALSE, MISSING))
            entries[number] = (circuit.disj((there, literal)), merge(circuit, literal, value, item))
        parent.put(Table(tuple((number, *entries[number]) for number in sorted(entries))), when)

    return Place(lambda when: workshop.look_up(table(when), key, type_, when), put)


def _queue_element(parent: Place, position: int, type_: Type, workshop: Workshop) -> Place:
    circuit = workshop.circuit

    def queue(when: Literal) -> Slots:
        value = present(parent.get(when), type_)
        assert isinstance(value, Slots)
        workshop.fail(circuit.conj((when, -workshop.above(value.count, position))))
        return value

    def get(when: Literal) -> Symbolic:
        items = queue(when).items
        return items[position] if position < len(items) else MISSING

    def put(value: Symbolic, when: Literal) -> None:
        before = queue(when)
        items = (*before.items[:position], value, *before.items[position + 1 :])
        parent.put(Slots(before.count, items), when)

    return Place(get, put)


def _window_element(parent: Place, index: Choice, type_: Type, workshop: Workshop) -> Place:
    circuit = workshop.circuit

    def window(when: Literal) -> Window:
        value = present(parent.get(when), type_)
        assert isinstance(value, Window)
        return value

    def put(value: Symbolic, when: Literal) -> None:
        before = window(when)
        items = tuple(
            (number, merge(circuit, condition_of(index, number), value, item)) for number, item in before.items
        )
        inside = circuit.disj(
            circuit.conj((literal, workshop.in_window(before, number))) for number, literal in index.options
        )
        workshop.fail(circuit.conj((when, -inside)))
        parent.put(Window(before.first, before.next, items), when)

    return Place(lambda when: workshop.window_item(window(when), index, when), put)
