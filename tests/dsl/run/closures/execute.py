"""Statements by closures: each is a function that changes a frame, and tells whether the body has returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import Collection, Map, Type
from thence.dsl.run import execute
from thence.dsl.run.choices import Chosen
from thence.dsl.run.evaluate import Frame
from thence.dsl.run.execute import Delivered, Guard, Sent, telling_parts
from thence.dsl.run.values import ABSENT, Fault, Value, elements_of, zero
from thence.dsl.text.syntax import Span

from .evaluate import Evaluator, Names, compile_expression
from .places import QUEUE_ELEMENT, WINDOW_ELEMENT, Place, compile_place, entry_of, present, there, with_entry

Executor: TypeAlias = Callable[[Frame], bool]
Item = TypeVar("Item")


@dataclass(slots=True)
class Compiler:
    """Compiles the bodies of one protocol. `bodies` holds its procedures, filled while they are compiled.

    `visited`: where given, every statement adds its place when it is executed.
    """

    positions: Mapping[str, int]
    bodies: dict[str, tuple[tuple[str, ...], Executor]]
    visited: list[Span] | None = None

    def block(self, statements: tuple[ir.Stmt, ...], refs: frozenset[str]) -> Executor:
        """The statements in order; names that a `ref` introduces hold for the rest of the block."""
        steps: list[Executor] = []
        for statement in statements:
            before = refs
            if isinstance(statement, ir.Ref | ir.Var):
                refs = refs | {statement.name}
            elif isinstance(statement, ir.Let):
                refs = refs - {statement.name}
            inside = before if isinstance(statement, ir.Var) else refs  # its value knows nothing of the variable
            step = self._statement(statement, Names(self.positions, inside))
            steps.append(step if self.visited is None else _visiting(step, statement.span, self.visited))
        if len(steps) == 1:
            return steps[0]

        def run(frame: Frame) -> bool:
            for step in steps:  # noqa: SIM110  # `any` takes a generator, which takes longer than most steps
                if step(frame):
                    return True
            return False

        return run

    def _statement(self, statement: ir.Stmt, names: Names) -> Executor:
        match statement:
            case ir.Let(name=name, value=value):
                return _let(name, compile_expression(value, names))
            case ir.Var(name=name, value=value):
                return _var(name, compile_expression(value, names))
            case ir.Ref(name=name, place=place):
                return _let(name, compile_place(place, names))
            case ir.Assign(place=ir.StateOf(name=name, process=None), value=value):
                return _assign_variable(names.positions[name], compile_expression(value, names))
            case ir.Assign(place=place, value=value):
                return _assign(compile_place(place, names), compile_expression(value, names))
            case ir.Mutate(place=place, method=method, arguments=arguments):
                change = _change(method, place.type)
                computed = [compile_expression(argument, names) for argument in arguments]
                match place:
                    case ir.StateOf(name=name, process=None):
                        return _mutate_variable(names.positions[name], change, computed)
                    case _:
                        return _mutate(compile_place(place, names), change, computed)
            case ir.Call(procedure=procedure, arguments=arguments):
                return self._call(procedure, [compile_expression(argument, names) for argument in arguments])
            case ir.If():
                return self._if(statement, names)
            case ir.While():
                return self._while(statement, names)
            case ir.For():
                return self._for(statement, names)
            case ir.Choose():
                return self._choose(statement, names)
            case ir.Either(branches=branches):
                return _either([self.block(branch, names.refs) for branch in branches])
            case ir.Return():
                return lambda frame: True
            case ir.Send(kind=kind, arguments=arguments, to=to):
                computed = [compile_expression(argument, names) for argument in arguments]
                return _send(kind, computed, compile_expression(to, names))
            case ir.Deliver(message=message):
                return _deliver(compile_expression(message, names))
            case _:
                assert_never(statement)

    def _call(self, procedure: str, arguments: list[Evaluator]) -> Executor:
        def run(frame: Frame) -> bool:
            parameters, body = self.bodies[procedure]
            values = [argument(frame) for argument in arguments]
            caller, frame.locals = frame.locals, dict(zip(parameters, values, strict=True))
            body(frame)
            frame.locals = caller
            return False

        return run

    def _if(self, statement: ir.If, names: Names) -> Executor:
        test = _observed(statement, names)
        then = self.block(statement.then, names.refs)
        if not statement.otherwise:
            return lambda frame: test(frame) and then(frame)
        otherwise = self.block(statement.otherwise, names.refs)
        return lambda frame: then(frame) if test(frame) else otherwise(frame)

    def _while(self, statement: ir.While, names: Names) -> Executor:
        test = _observed(statement, names)
        body = self.block(statement.body, names.refs)

        def run(frame: Frame) -> bool:
            while test(frame):
                frame.budget += 1
                if frame.budget > execute.STEP_BUDGET:
                    raise _spent()
                if body(frame):
                    return True
            return False

        return run

    def _choose(self, statement: ir.Choose, names: Names) -> Executor:
        """The alternatives are in ascending order, whatever order loops have."""
        name, type_ = statement.name, statement.variable
        inner = Names(names.positions, names.refs - {name})
        fits = None if statement.condition is None else compile_expression(statement.condition, inner)
        body = self.block(statement.body, inner.refs)
        otherwise = self.block(statement.otherwise, names.refs)
        items: Callable[[Frame], Iterable[Value]] = _processes
        if statement.domain is not None:
            items = _elements(compile_expression(statement.domain, names), statement.domain.type)

        def run(frame: Frame) -> bool:
            able: list[Value] = []
            before = frame.locals.get(name)
            for item in items(frame):
                frame.locals[name] = item
                if (fits is None or fits(frame)) and item not in able:
                    able.append(item)
            if not able:
                frame.locals[name] = before
                return otherwise(frame)
            chosen = able[0 if frame.choices is None else frame.choices.pick(len(able))]
            if frame.choices is not None and len(able) > 1:
                frame.choices.chosen.append(Chosen(name, chosen, type_))
            frame.locals[name] = chosen
            return body(frame)

        return run

    def _for(self, statement: ir.For, names: Names) -> Executor:
        name, domain = statement.name, statement.domain
        if statement.ref:
            assert domain is not None
            body = self.block(statement.body, names.refs | {name})
            return _for_ref(name, compile_place(domain, names), domain.type, body, statement.any_order)
        body = self.block(statement.body, names.refs - {name})
        items: Callable[[Frame], Iterable[Value]] = _processes
        if domain is not None:
            items = _elements(compile_expression(domain, names), domain.type)
        if statement.any_order:
            items = _in_any_order(items)

        def run(frame: Frame) -> bool:
            listed = items(frame)
            for item in listed if frame.scan is None else frame.scan(listed):
                frame.budget += 1
                if frame.budget > execute.STEP_BUDGET:
                    raise _spent()
                frame.locals[name] = item
                if body(frame):
                    return True
            return False

        return run


def _either(branches: list[Executor]) -> Executor:
    def run(frame: Frame) -> bool:
        at = 0
        if frame.choices is not None:
            at = frame.choices.pick(len(branches))
            frame.choices.chosen.append(Chosen("", at + 1, None))
        return branches[at](frame)

    return run


def _visiting(step: Executor, place: Span, visited: list[Span]) -> Executor:
    def run(frame: Frame) -> bool:
        visited.append(place)
        return step(frame)

    return run


def _processes(frame: Frame) -> Iterable[Value]:
    return range(frame.processes)


def _elements(collection: Evaluator, type_: Type) -> Callable[[Frame], Iterable[Value]]:
    listed = elements_of(type_)
    return lambda frame: listed(collection(frame))


def _in_any_order(items: Callable[[Frame], Iterable[Item]]) -> Callable[[Frame], Iterable[Item]]:
    """The elements, each chosen from those that are left when its turn comes; without choices ascending."""

    def run(frame: Frame) -> Iterator[Item]:
        left = list(items(frame))
        while left:
            yield left.pop(0 if frame.choices is None else frame.choices.pick(len(left)))

    return run


def _spent() -> Fault:
    return Fault(f"a step takes more than {execute.STEP_BUDGET:,} loop iterations")


def _observed(statement: ir.If | ir.While, names: Names) -> Evaluator:
    """The condition; recorded with its values when the frame asks for guards."""
    test = compile_expression(statement.condition, names)
    terms = [(show, compile_expression(term, names), term.type) for show, term in telling_parts(statement.condition)]

    def evaluate(frame: Frame) -> Value:
        outcome = test(frame)
        if frame.guards is not None:
            values = []
            for text, term, type_ in terms:
                try:
                    values.append((text, term(frame), type_))
                except Fault:
                    continue
            bound = tuple(frame.locals.items())
            frame.guards.append(Guard(statement, bool(outcome), tuple(values), len(frame.emitted), bound))
        return outcome

    return evaluate


def _let(name: str, value: Callable[[Frame], Value | Place]) -> Executor:
    def run(frame: Frame) -> bool:
        frame.locals[name] = value(frame)
        return False

    return run


def _var(name: str, value: Evaluator) -> Executor:
    """A variable is a place of its own: the only one of a state with one variable."""

    def run(frame: Frame) -> bool:
        frame.locals[name] = Place([value(frame)], 0, ())
        return False

    return run


def _assign(place: Callable[[Frame], Place], value: Evaluator) -> Executor:
    def run(frame: Frame) -> bool:
        computed = value(frame)
        place(frame).put(computed)
        return False

    return run


def _assign_variable(position: int, value: Evaluator) -> Executor:
    """As `_assign`, where the place is a state variable."""

    def run(frame: Frame) -> bool:
        frame.state[position] = value(frame)
        return False

    return run


def _mutate_variable(position: int, change: Callable[..., Value], arguments: list[Evaluator]) -> Executor:
    """As `_mutate`, where the place is a state variable."""

    def run(frame: Frame) -> bool:
        values = [argument(frame) for argument in arguments]
        frame.state[position] = change(frame.state[position], *values)
        return False

    return run


def _mutate(place: Callable[[Frame], Place], change: Callable[..., Value], arguments: list[Evaluator]) -> Executor:
    def run(frame: Frame) -> bool:
        values = [argument(frame) for argument in arguments]
        place(frame).update(lambda before: change(there(before), *values))
        return False

    return run


def _send(kind: str, arguments: list[Evaluator], to: Evaluator) -> Executor:
    def run(frame: Frame) -> bool:
        frame.emitted.append(Sent(kind, tuple([argument(frame) for argument in arguments]), to(frame)))
        return False

    return run


def _deliver(message: Evaluator) -> Executor:
    def run(frame: Frame) -> bool:
        if frame.application is None:
            frame.emitted.append(Delivered(message(frame)))
        else:
            frame.application(frame, message)
        return False

    return run


def _for_ref(name: str, domain: Callable[[Frame], Place], type_: Type, body: Executor, any_order: bool) -> Executor:
    match type_:
        case Map():
            part = entry_of(type_)
        case Collection("queue"):
            part = QUEUE_ELEMENT
        case _:
            part = WINDOW_ELEMENT

    def keys(value: Value) -> Iterable[Value]:
        match type_:
            case Map():
                return [key for key, _ in value]
            case Collection("queue"):
                return range(len(value))
            case _:
                first, items = value
                return range(first, first + len(items))

    def elements(frame: Frame) -> Iterable[Place]:
        parent = domain(frame)
        return [parent.inside(part, key) for key in list(keys(present(parent)))]

    places = _in_any_order(elements) if any_order else elements

    def run(frame: Frame) -> bool:
        for place in places(frame):
            frame.budget += 1
            if frame.budget > execute.STEP_BUDGET:
                raise _spent()
            frame.locals[name] = place
            if body(frame):
                return True
        return False

    return run


def _change(method: str, type_: Type) -> Callable[..., Value]:
    """The value after the mutation, from the value before it and the arguments."""
    match method, type_:
        case "push", Collection("queue"):
            return lambda items, item: (*items, item)
        case "pop", Collection("queue"):
            return lambda items: _rest(items, "pop of an empty queue")
        case "remove", Collection("queue"):
            return _without_first
        case "add", Collection("set"):
            return lambda items, item: items if item in items else items | {item}
        case "remove", Collection("set"):
            return lambda items, item: items - {item} if item in items else items
        case "remove", Map():
            return lambda pairs, key: with_entry(pairs, key, ABSENT)
        case "add", Collection("sliding array"):
            return lambda window, item: (window[0], (*window[1], item))
        case "remove", Collection("sliding array"):
            return lambda window: (window[0] + 1, _rest(window[1], "remove from an empty sliding array"))
        case "add", Collection("sliding map"):
            return _with_key
        case "remove", Collection("sliding map"):
            return lambda window, item: (window[0], tuple([entry for entry in window[1] if entry[1] != item]))
        case "clear", Collection("sliding array"):
            return lambda window: (window[0] + len(window[1]), ())
        case "clear", Collection("sliding map"):
            return lambda window: (window[0], ())
        case "clear", _:
            nothing = zero(type_)
            return lambda _: nothing
        case _:
            raise AssertionError((method, type_))


def _rest(items: tuple[Value, ...], otherwise: str) -> tuple[Value, ...]:
    if not items:
        raise Fault(otherwise)
    return items[1:]


def _without_first(items: tuple[Value, ...], item: Value) -> tuple[Value, ...]:
    if item not in items:
        return items
    at = items.index(item)
    return (*items[:at], *items[at + 1 :])


def _with_key(window: Value, item: Value) -> Value:
    following, entries = window
    if any(known == item for _, known in entries):
        return window
    return (following + 1, (*entries, (following, item)))
