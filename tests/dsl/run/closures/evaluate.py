"""Expressions by closures: a walk of the tree, one function for each node, which shares no text with `run.evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE, PROCESS, Collection, Map, Type, has_zero
from thence.dsl.run.evaluate import Frame
from thence.dsl.run.values import ABSENT, Fault, Value, elements_of, lookup, size, zero

Evaluator: TypeAlias = Callable[[Frame], Value]


@dataclass(frozen=True, slots=True)
class Names:
    """The meaning of names while an expression is compiled: positions of state variables, and locals that are refs."""

    positions: Mapping[str, int]
    refs: frozenset[str] = frozenset()


def compile_expression(expression: ir.Expr, names: Names) -> Evaluator:
    """The function that computes the expression. It raises Fault where the expression has no value."""

    def sub(part: ir.Expr) -> Evaluator:
        return compile_expression(part, names)

    match expression:
        case ir.Literal_(value=constant):
            return lambda frame: constant
        case ir.Zero(type=type_):
            nothing = zero(type_)
            return lambda frame: nothing
        case ir.Local(name=name):
            if name in names.refs:
                return _ref(name)
            return lambda frame: frame.locals[name]
        case ir.SelfProcess():
            return lambda frame: frame.process
        case ir.StateOf(name=name, process=owner):
            position = names.positions[name]
            if owner is None:
                return lambda frame: frame.state[position]
            whose = sub(owner)
            return lambda frame: frame.all_states[whose(frame)][position]
        case ir.FieldOf(target=target, name=name):
            return _field(sub(target), target.type, name)
        case ir.Attribute(target=target, name=name):
            return _attribute(sub(target), name)
        case ir.Lookup(target=target, key=key):
            return _lookup(sub(target), sub(key), target.type)
        case ir.ElementAt(target=target, index=index):
            return _element_at(sub(target), sub(index))
        case ir.Query(target=target, name=name):
            return _query(sub(target), target.type, name)
        case ir.Construct(values=values):
            parts = [sub(value) for value in values]
            return lambda frame: tuple([part(frame) for part in parts])
        case ir.SetOf(items=items):
            parts = [sub(item) for item in items]
            return lambda frame: frozenset([part(frame) for part in parts])
        case ir.Some(item=item):
            inside = sub(item)
            return lambda frame: (inside(frame),)
        case ir.Apply(symbol=symbol, arguments=arguments):
            return _apply(symbol, [sub(argument) for argument in arguments])
        case ir.Not(operand=operand):
            denied = sub(operand)
            return lambda frame: not denied(frame)
        case ir.Connective(operator=operator, left=left, right=right):
            return _connective(operator, sub(left), sub(right))
        case ir.Comparison(operator=operator, left=left, right=right):
            return _comparison(operator, sub(left), sub(right))
        case ir.Member(item=item, collection=collection):
            return _member(sub(item), sub(collection), collection.type)
        case ir.Arithmetic(operator=operator, left=left, right=right):
            return _arithmetic(operator, sub(left), sub(right))
        case ir.IsEmpty(target=target):
            held, type_ = sub(target), target.type
            return lambda frame: size(held(frame), type_) == 0
        case ir.IsNone(target=target):
            option = sub(target)
            return lambda frame: option(frame) is None
        case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
            test, yes, no = sub(condition), sub(then), sub(otherwise)
            return lambda frame: yes(frame) if test(frame) else no(frame)
        case ir.InFlight(kind=kind, ahead=other):
            return _in_flight(kind) if other is None else _ahead(kind, sub(other))
        case ir.Placed(queue=queue, ahead=other):
            return _placed(sub(queue), None if other is None else sub(other))
        case ir.Acted(verb=verb, kind=kind):
            done = (verb, kind)
            return lambda frame: frame.acted.get(done, ())
        case ir.Quantified(kind=kind, variables=variables, body=body):
            return _quantified(kind, [domain_of(bound, names) for bound in variables], variables, sub(body))
        case _:
            assert_never(expression)


def _ref(name: str) -> Evaluator:
    def read(frame: Frame) -> Value:
        value = frame.locals[name].get()
        if value is ABSENT:
            raise Fault("a map is read at a key that it does not have")
        return value

    return read


def _in_flight(kind: str) -> Evaluator:
    def packets(frame: Frame) -> Value:
        flying = enumerate(frame.flying)
        return tuple([(*each.arguments, each.src, each.dst, at) for at, each in flying if each.kind == kind])

    return packets


def _ahead(kind: str, other: Evaluator) -> Evaluator:
    def packets(frame: Frame) -> Value:
        *_, src, dst, place = other(frame)
        ends = (kind, src, dst)
        before = list(enumerate(frame.flying))[:place] if frame.fifo else []
        return tuple((*each.arguments, src, dst, at) for at, each in before if (each.kind, each.src, each.dst) == ends)

    return packets


def _placed(queue: Evaluator, other: Evaluator | None) -> Evaluator:
    def elements(frame: Frame) -> Value:
        places = tuple(zip(queue(frame), range(len(queue(frame))), strict=True))
        return places if other is None else places[: other(frame)[1]]

    return elements


def _field(target: Evaluator, type_: Type, name: str) -> Evaluator:
    position = field_position(type_, name)
    return lambda frame: target(frame)[position]


def field_position(type_: Type, name: str) -> int:
    """The position of a field in a record."""
    labels = [label for label, _ in type_.fields]  # type: ignore[union-attr]
    return labels.index(name)


def _attribute(target: Evaluator, name: str) -> Evaluator:
    match name:
        case "src":
            return lambda frame: target(frame).src
        case "dst":
            return lambda frame: target(frame).dsts[0]
        case _:
            return lambda frame: frozenset(target(frame).dsts)


def _lookup(target: Evaluator, key: Evaluator, type_: Type) -> Evaluator:
    assert isinstance(type_, Map)
    default = zero(type_.value) if has_zero(type_.value) else ABSENT

    def evaluate(frame: Frame) -> Value:
        map_, wanted = target(frame), key(frame)
        for known, value in map_:  # `lookup`, written out: the most frequent of all steps
            if known == wanted:
                return value
        if default is ABSENT:
            raise Fault("a map is read at a key that it does not have")
        return default

    return evaluate


def _element_at(target: Evaluator, index: Evaluator) -> Evaluator:
    def evaluate(frame: Frame) -> Value:
        first, items = target(frame)
        at = index(frame) - first
        if not 0 <= at < len(items):
            raise Fault(f"index {at + first} is outside the window [{first}, {first + len(items)})")
        return items[at]

    return evaluate


def _query(target: Evaluator, type_: Type, name: str) -> Evaluator:
    match name, type_:
        case "size", _:
            return lambda frame: size(target(frame), type_)
        case "first", Collection("sliding array"):
            return lambda frame: target(frame)[0]
        case "next", Collection("sliding array"):

            def next_index(frame: Frame) -> Value:
                first, items = target(frame)
                return first + len(items)

            return next_index
        case "first", Collection("sliding map"):

            def first_index(frame: Frame) -> Value:
                following, entries = target(frame)
                return entries[0][0] if entries else following

            return first_index
        case "next", Collection("sliding map"):
            return lambda frame: target(frame)[0]
        case "peek", Collection("sliding array"):
            return lambda frame: _head(target(frame)[1], "peek of an empty sliding array")
        case "first", Collection("queue"):
            return lambda frame: _head(target(frame), "first of an empty queue")
        case "value", Collection("option"):
            return lambda frame: _head(target(frame) or (), "value of none")
        case _:
            raise AssertionError((name, type_))


def _head(items: tuple[Value, ...], otherwise: str) -> Value:
    if not items:
        raise Fault(otherwise)
    return items[0]


def _apply(symbol: str, arguments: list[Evaluator]) -> Evaluator:
    if symbol == "window":
        start = arguments[0]
        return lambda frame: (start(frame), ())
    if len(arguments) == 1:
        only = arguments[0]
        return lambda frame: frame.symbols[symbol](only(frame))
    return lambda frame: frame.symbols[symbol](*[argument(frame) for argument in arguments])


def _connective(operator: str, left: Evaluator, right: Evaluator) -> Evaluator:
    match operator:
        case "and":
            return lambda frame: left(frame) and right(frame)
        case "or":
            return lambda frame: left(frame) or right(frame)
        case "implies":
            return lambda frame: not left(frame) or right(frame)
        case _:
            return lambda frame: left(frame) == right(frame)


def _comparison(operator: str, left: Evaluator, right: Evaluator) -> Evaluator:
    match operator:
        case "=":
            return lambda frame: left(frame) == right(frame)
        case "<":
            return lambda frame: left(frame) < right(frame)
        case _:
            return lambda frame: left(frame) <= right(frame)


def _member(item: Evaluator, collection: Evaluator, type_: Type) -> Evaluator:
    match type_:
        case Map():
            return lambda frame: lookup(collection(frame), item(frame)) is not ABSENT
        case Collection("set" | "queue"):
            return lambda frame: item(frame) in collection(frame)
        case _:
            listed = elements_of(type_)
            return lambda frame: item(frame) in listed(collection(frame))


def _arithmetic(operator: str, left: Evaluator, right: Evaluator) -> Evaluator:
    match operator:
        case "+":
            return lambda frame: left(frame) + right(frame)
        case "*":
            return lambda frame: left(frame) * right(frame)
        case "max":
            return lambda frame: max(left(frame), right(frame))
        case "min":
            return lambda frame: min(left(frame), right(frame))
        case _:

            def minus(frame: Frame) -> Value:
                difference = left(frame) - right(frame)
                if difference < 0:
                    raise Fault("a nat goes below zero")
                return difference

            return minus


def domain_of(bound: ir.Bound, names: Names) -> Callable[[Frame], Iterable[Value]]:
    """The function that gives the values of a bound variable."""
    if bound.domain is not None:
        collection, listed = compile_expression(bound.domain, names), elements_of(bound.domain.type)
        return lambda frame: listed(collection(frame))
    if bound.type == PROCESS:
        return lambda frame: range(frame.processes)
    if bound.type == MESSAGE:
        return lambda frame: frame.messages
    raise AssertionError(f"no domain for {bound.type}")


def _quantified(
    kind: str, domains: list[Callable[[Frame], Iterable[Value]]], variables: tuple[ir.Bound, ...], body: Evaluator
) -> Evaluator:
    labels = [bound.name for bound in variables]
    if len(labels) == 1:
        label, domain = labels[0], domains[0]

        def instances(frame: Frame) -> Iterable[Value]:
            local = frame.locals
            for value in domain(frame):
                local[label] = value
                yield body(frame)

    else:

        def instances(frame: Frame) -> Iterable[Value]:
            local = frame.locals
            for values in product(*[domain(frame) for domain in domains]):
                local.update(zip(labels, values, strict=True))
                yield body(frame)

    match kind:
        case "forall" if len(labels) == 1:
            return _first(labels[0], domains[0], body, False)
        case "exists" if len(labels) == 1:
            return _first(labels[0], domains[0], body, True)
        case "forall":
            return lambda frame: all(instances(frame))
        case "exists":
            return lambda frame: any(instances(frame))
        case "sum":
            return lambda frame: sum(instances(frame))
        case _:
            return lambda frame: sum(1 for truth in instances(frame) if truth)


def _first(label: str, domain: Callable[[Frame], Iterable[Value]], body: Evaluator, wanted: bool) -> Evaluator:
    """Whether the body is as `wanted` for some value of the variable; of the other truth value, if for none."""

    def evaluate(frame: Frame) -> Value:
        local = frame.locals
        for value in domain(frame):
            local[label] = value
            if bool(body(frame)) is wanted:
                return wanted
        return not wanted

    return evaluate
