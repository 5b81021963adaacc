"""The symbolic counterpart of `thence.dsl.run.evaluate`: the values of expressions for all inputs at once.

Every evaluation has a path condition, `when`: a fault counts only where it is true. `and`, `or`, `implies` and
quantifiers evaluate the same parts as the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, PROCESS, Collection
from thence.dsl.run.evaluate import field_position
from thence.proofs.bounded.changes import inserted
from thence.proofs.bounded.circuit import FALSE, TRUE, Literal
from thence.proofs.bounded.operations import Workshop, item_type
from thence.proofs.bounded.symbolic import (
    Choice,
    Fields,
    Flags,
    Index,
    Maybe,
    Slots,
    Symbolic,
    Table,
    Window,
    choice,
    choice_of,
    condition_of,
    known,
    literal_of,
    present,
    select,
    zero_value,
)
from thence.proofs.logic.formula import Unsupported


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of a workload, numbered: the sender of each, and the conditions for its possible destinations.

    `destinations[m]` lists (condition, destinations); exactly one condition is true.
    """

    sources: tuple[int, ...]
    destinations: tuple[tuple[tuple[Literal, tuple[int, ...]], ...], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a value, with its indices evaluated: how to read it, and how to change it on a path."""

    get: Callable[[Literal], Symbolic]
    put: Callable[[Symbolic, Literal], None]


@dataclass(slots=True)
class Frame:
    """The variables of an expression; as `thence.dsl.run.evaluate.Frame`, with symbolic values."""

    workshop: Workshop
    messages: Messages
    processes: int
    positions: Mapping[str, int]
    process: int = 0
    state: list[Symbolic] = field(default_factory=list)
    all_states: Sequence[Sequence[Symbolic]] = ()
    locals: dict[str, Symbolic | Place] = field(default_factory=dict)
    emitted: Slots = field(default_factory=lambda: Slots(known(0), ()))


def evaluate(expr: ir.Expr, frame: Frame, when: Literal) -> Symbolic:
    """The value of the expression where the path condition is true. Raises: Unsupported."""
    return present(_value(expr, frame, when), expr.type)


def _value(expr: ir.Expr, frame: Frame, when: Literal) -> Symbolic:
    match expr:
        case ir.Literal_(value=constant):
            return (TRUE if constant else FALSE) if isinstance(constant, bool) else known(constant)
        case ir.Zero(type=type_):
            return zero_value(type_)
        case ir.Local(name=name):
            value = frame.locals[name]
            return value.get(when) if isinstance(value, Place) else value
        case ir.SelfProcess():
            return known(frame.process)
        case ir.StateOf(name=name, process=owner):
            position = frame.positions[name]
            if owner is None:
                return frame.state[position]
            whose = choice_of(evaluate(owner, frame, when))
            return select(
                frame.workshop.circuit,
                [(literal, frame.all_states[process][position]) for process, literal in whose.options],
            )
        case ir.Apply(symbol="window", arguments=(start,)):
            first = choice_of(evaluate(start, frame, when))
            assert isinstance(expr.type, Collection)
            return Window(first, first, ()) if expr.type.kind == "sliding array" else Index(first, ())
        case ir.Apply(symbol=symbol):
            raise Unsupported(f"`{symbol}` in a protocol")
        case ir.Not() | ir.Connective() | ir.Comparison() | ir.Member() | ir.IsEmpty() | ir.IsNone() | ir.Quantified():
            return _truth(expr, frame, when)
        case ir.Arithmetic(operator=operator, left=left, right=right):
            one, other = choice_of(evaluate(left, frame, when)), choice_of(evaluate(right, frame, when))
            return frame.workshop.compute(_OPERATIONS[operator], one, other, when)
        case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
            circuit = frame.workshop.circuit
            test = condition_at(condition, frame, when)
            yes = evaluate(then, frame, circuit.conj((when, test)))
            no = evaluate(otherwise, frame, circuit.conj((when, -test)))
            return select(circuit, ((test, yes), (-test, no)))
        case ir.FieldOf() | ir.Attribute() | ir.Lookup() | ir.ElementAt() | ir.Query():
            return _part(expr, frame, when)
        case ir.Construct(values=values):
            return Fields(tuple(evaluate(value, frame, when) for value in values))
        case ir.SetOf(items=items):
            return _set_of(expr, [evaluate(item, frame, when) for item in items], frame, when)
        case ir.Some(item=item):
            return Maybe(TRUE, evaluate(item, frame, when))
        case ir.InFlight():
            raise Unsupported("packets in flight")
        case ir.Placed():
            raise Unsupported("the order of a queue")
        case ir.Acted():
            raise Unsupported("actions")
        case _:
            assert_never(expr)


def _set_of(expr: ir.SetOf, items: Sequence[Symbolic], frame: Frame, when: Literal) -> Symbolic:
    found = zero_value(expr.type)
    if isinstance(found, Flags):
        return frame.workshop.set_of(items)
    for item in items:
        assert isinstance(found, Slots)
        found = inserted(frame.workshop, item_type(expr.type), found, item, when)
    return found


def condition_at(expr: ir.Expr, frame: Frame, when: Literal) -> Literal:
    """A truth value."""
    return literal_of(evaluate(expr, frame, when))


def _part(
    expr: ir.FieldOf | ir.Attribute | ir.Lookup | ir.ElementAt | ir.Query, frame: Frame, when: Literal
) -> Symbolic:
    workshop = frame.workshop
    target = evaluate(expr.target, frame, when)
    match expr:
        case ir.FieldOf(target=record, name=name):
            assert isinstance(target, Fields)
            return target.values[field_position(record.type, name)]
        case ir.Attribute(name=name):
            return _attribute(choice_of(target), name, frame)
        case ir.Lookup(target=map_, key=key):
            assert isinstance(target, Table)
            return workshop.look_up(target, choice_of(evaluate(key, frame, when)), map_.type, when)
        case ir.ElementAt(index=index):
            assert isinstance(target, Window)
            return workshop.window_item(target, choice_of(evaluate(index, frame, when)), when)
        case ir.Query(target=collection, name=name):
            return _query(target, collection, name, frame, when)
        case _:
            assert_never(expr)


def _attribute(message: Choice, name: str, frame: Frame) -> Symbolic:
    circuit, messages = frame.workshop.circuit, frame.messages
    if name == "src":
        options: dict[int, list[Literal]] = {}
        for number, literal in message.options:
            options.setdefault(messages.sources[number], []).append(literal)
        return choice(circuit, options)
    chosen: dict[int, list[Literal]] = {}
    for number, literal in message.options:
        for condition, destinations in messages.destinations[number]:
            for destination in destinations[:1] if name == "dst" else destinations:
                chosen.setdefault(destination, []).append(circuit.conj((literal, condition)))
    found = choice(circuit, chosen)
    return found if name == "dst" else Flags(found.options)


def _query(target: Symbolic, collection: ir.Expr, name: str, frame: Frame, when: Literal) -> Symbolic:
    workshop = frame.workshop
    match name, target:
        case "size", _:
            return workshop.size(target, collection.type)
        case "first", Window(first=first):
            return first
        case "next", Window(next=following) | Index(next=following):
            return following
        case "first", Index():
            return workshop.first_index(target)
        case "peek", Window(first=first):
            return workshop.window_item(target, first, when)
        case "first", Slots(count, items):
            workshop.fail(workshop.circuit.conj((when, condition_of(count, 0))))
            return items[0] if items else select(workshop.circuit, ())
        case "value", Maybe(there, item):
            workshop.fail(workshop.circuit.conj((when, -there)))
            return item
        case _:
            raise AssertionError((name, collection.type))


_Truth: TypeAlias = ir.Not | ir.Connective | ir.Comparison | ir.Member | ir.IsEmpty | ir.IsNone | ir.Quantified


def _truth(expr: _Truth, frame: Frame, when: Literal) -> Symbolic:
    workshop = frame.workshop
    circuit = workshop.circuit
    match expr:
        case ir.Not(operand=operand):
            return -condition_at(operand, frame, when)
        case ir.Connective():
            return _connective(expr, frame, when)
        case ir.Comparison(operator=operator, left=left, right=right):
            one, other = evaluate(left, frame, when), evaluate(right, frame, when)
            if operator == "=":
                return workshop.same(one, other, left.type)
            less = workshop.less(choice_of(one), choice_of(other))
            return less if operator == "<" else circuit.disj((less, workshop.same(one, other, left.type)))
        case ir.Member(item=item, collection=collection):
            held = evaluate(item, frame, when)
            return workshop.contains(evaluate(collection, frame, when), held, collection.type)
        case ir.IsEmpty(target=target):
            value = evaluate(target, frame, when)
            return -circuit.disj(there for there, _ in workshop.elements(value, target.type))
        case ir.IsNone(target=target):
            option = evaluate(target, frame, when)
            assert isinstance(option, Maybe)
            return -option.present
        case ir.Quantified():
            return _quantified(expr, frame, when)
        case _:
            assert_never(expr)


def _connective(expr: ir.Connective, frame: Frame, when: Literal) -> Literal:
    circuit = frame.workshop.circuit
    left = condition_at(expr.left, frame, when)
    match expr.operator:
        case "and":
            path = circuit.conj((when, left))
            return FALSE if path == FALSE else circuit.conj((left, condition_at(expr.right, frame, path)))
        case "or":
            path = circuit.conj((when, -left))
            return left if path == FALSE else circuit.disj((left, condition_at(expr.right, frame, path)))
        case "implies":
            path = circuit.conj((when, left))
            return TRUE if path == FALSE else circuit.disj((-left, condition_at(expr.right, frame, path)))
        case "iff":
            return circuit.iff(left, condition_at(expr.right, frame, when))
        case _ as never:
            assert_never(never)


def _quantified(expr: ir.Quantified, frame: Frame, when: Literal) -> Symbolic:
    circuit = frame.workshop.circuit
    if expr.kind == "count":
        return frame.workshop.number_of(
            circuit.conj((there, condition_at(expr.body, frame, circuit.conj((when, there)))))
            for there in _instances(expr.variables, frame, when)
        )
    if expr.kind == "sum":
        return _sum(expr, frame, when)
    decided: list[Literal] = []
    path = when
    for there in _instances(expr.variables, frame, when):
        inside = circuit.conj((path, there))
        if inside == FALSE:
            continue
        body = condition_at(expr.body, frame, inside)
        decided.append(circuit.implies(there, body) if expr.kind == "forall" else circuit.conj((there, body)))
        path = circuit.conj((path, decided[-1] if expr.kind == "forall" else -decided[-1]))
    return circuit.conj(decided) if expr.kind == "forall" else circuit.disj(decided)


def _sum(expr: ir.Quantified, frame: Frame, when: Literal) -> Choice:
    circuit, total = frame.workshop.circuit, known(0)
    for there in _instances(expr.variables, frame, when):
        inside = circuit.conj((when, there))
        if inside != FALSE:
            part = choice_of(evaluate(expr.body, frame, inside))
            larger = frame.workshop.compute(_OPERATIONS["+"], total, part, inside)
            total = choice_of(select(circuit, ((there, larger), (-there, total))))
    return total


def _instances(variables: tuple[ir.Bound, ...], frame: Frame, when: Literal) -> Iterator[Literal]:
    """Every combination of values, with the condition under which it exists. All domains are evaluated first."""
    for values in product(*[domain_of(bound, frame, when) for bound in variables]):
        for bound, (_, value) in zip(variables, values, strict=True):
            frame.locals[bound.name] = value
        yield frame.workshop.circuit.conj(there for there, _ in values)


def domain_of(bound: ir.Bound, frame: Frame, when: Literal) -> list[tuple[Literal, Symbolic]]:
    """The domain of a bound variable."""
    if bound.domain is not None:
        return frame.workshop.elements(evaluate(bound.domain, frame, when), bound.domain.type)
    if bound.type == PROCESS:
        return [(TRUE, known(process)) for process in range(frame.processes)]
    if bound.type == MESSAGE:
        return []
    raise Unsupported(f"no domain for `{bound.type}`")


_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda one, other: one + other,
    "*": lambda one, other: one * other,
    "-": lambda one, other: one - other,
    "max": max,
    "min": min,
}
