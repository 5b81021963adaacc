"""The meaning of statements: bodies of handlers and procedures are written as Python text, which is compiled.

A body becomes a function of a frame and of its parameters. Where steps are observed, every condition that is evaluated
is recorded, for reports that name the guard which kept an event from happening.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias, TypeVar, assert_never

from thence.dsl import ir
from thence.dsl.ir.types import Collection, Map, Type
from thence.dsl.run.choices import Chosen
from thence.dsl.run.evaluate import Frame, Source, Terms, zero_text
from thence.dsl.run.places import Place, bound_place
from thence.dsl.run.values import Fault, Message, Value
from thence.dsl.text.syntax import Span

Executor: TypeAlias = Callable[..., None]
"""A body: a function of a frame and of the values of its parameters."""

Item = TypeVar("Item")

STEP_BUDGET = 100_000
"""Loop iterations that one handler may take; more is a fault, so that no step runs for ever."""


class Sent(NamedTuple):
    """A packet leaves, as part of a step."""

    kind: str
    arguments: tuple[Value, ...]
    to: int


class Delivered(NamedTuple):
    """A message is handed over, as part of a step. `then`: what the application sends at once, inside the delivery."""

    message: Message
    then: Message | None = None


Emission: TypeAlias = Sent | Delivered

Decided: TypeAlias = tuple[ir.If | ir.While, bool]
"""A condition that a step evaluated, by its statement, and its outcome."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that a step evaluated: where, what it gave, and the values that it was computed from.

    `emitted` is how much the step had emitted by then; `locals` are the values of parameters and lets.
    """

    statement: ir.If | ir.While
    outcome: bool
    values: tuple[tuple[str, Value, Type], ...]
    emitted: int = 0
    locals: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a statement knows.

    Attributes:
        read: how each is read, as text.
        places: those that `ref` and `var` introduce.
    """

    read: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)

    def value(self, name: str, text: str) -> Names:
        """With a name that keeps its value."""
        places = {known: place for known, place in self.places.items() if known != name}
        return Names({**self.read, name: text}, places)

    def place(self, name: str, place: Place) -> Names:
        """With a name of a place."""
        return Names({**self.read, name: place.read()}, {**self.places, name: place})

    @property
    def constant(self) -> dict[str, str]:
        """How those are read that keep their values."""
        return {name: text for name, text in self.read.items() if name not in self.places}


MOST_INSIDE: Final = 15
"""Blocks inside one another in one function of Python, which takes 20 loops and 100 levels."""

_FROM_FRAME: Final = ("process", "state", "processes", "emitted", "application", "scan")
_AT_HAND: Final = {name: name for name in _FROM_FRAME}
_ASSIGNED: Final = re.compile(r"\s*(?:for )?(\w+_\d+)(?: = | in )")


@dataclass(slots=True)
class Compiler:
    """Compiles the bodies of one protocol.

    Attributes:
        positions: the position of each state variable by name.
        observed: whether the conditions of steps are recorded, in `frame.guards`.
        visited: where given, every statement adds its place when it is executed.
        decided: where given, every condition adds its statement and its outcome when it is evaluated.
    """

    positions: Mapping[str, int]
    observed: bool = False
    visited: list[Span] | None = None
    decided: list[Decided] | None = None
    _source: Source = field(init=False, default_factory=Source)
    _lines: list[str] = field(init=False, default_factory=list)
    _outlined: set[str] = field(init=False, default_factory=set)
    _functions: dict[str, str] = field(init=False, default_factory=dict)
    _depth: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._source.objects |= {
            "Sent": Sent, "Delivered": Delivered, "any_order": _any_order, "chosen": _chosen, "guarded": _guarded,
            "picked": _picked, "spent": _spent, "most_iterations": _most_iterations,
        }  # fmt: skip
        if self.visited is not None:
            self._source.objects["visited"] = self.visited
        if self.decided is not None:
            self._source.objects["decide"] = self.decided.append

    def add(self, name: str, parameters: Iterable[str], body: tuple[ir.Stmt, ...]) -> str:
        """Writes a body. Procedures are called by their `name`. Returns: the name of its function."""
        values = {parameter: self._source.fresh(parameter) for parameter in parameters}
        written = self._block(body, Names(values), "")
        text = "\n".join([*self._source.parts, *written])
        given = [f"{part} = frame.{part}" for part in _FROM_FRAME if re.search(rf"\b{part}\b", text)]
        if re.search(r"\blimit\b", text):
            given.append("limit = most_iterations()")
        given += [f"{local} = None" for local in sorted(self._outlined)]
        self._outlined.clear()
        function = self._function(name)
        head = f"def {function}({', '.join(['frame', *values.values()])}):"
        self._lines += self._source.lines(head, [line.removeprefix(" ") for line in written], given)
        return function

    def _function(self, name: str) -> str:
        """The name of the function of a procedure, or of a handler."""
        if name not in self._functions:
            self._functions[name] = self._source.fresh(name)
        return self._functions[name]

    def compiled(self) -> dict[str, Executor]:
        """The functions of the bodies, by name."""
        return self._source.functions(self._lines)

    def _terms(self, names: Names) -> Terms:
        return Terms(self._source, self.positions, names.read, (), _AT_HAND)

    def _block(self, statements: tuple[ir.Stmt, ...], names: Names, leave: str) -> list[str]:
        """The statements in order; the names that one of them introduces hold for the rest of the block. `leave`: what
        `return` gives back."""
        if self._depth == MOST_INSIDE:
            return self._in_a_function(statements, names, leave)
        self._depth += 1
        lines: list[str] = []
        for statement in statements:
            if self.visited is not None:
                lines.append(self._visit(statement))
            more, names = self._statement(statement, names, leave)
            lines += more
        self._depth -= 1
        return [f" {line}" for line in lines or ["pass"]]

    def _in_a_function(self, statements: tuple[ir.Stmt, ...], names: Names, leave: str) -> list[str]:
        """The block as a function inside the body's."""
        name, depth = self._source.fresh("block"), self._depth
        self._depth = 0
        inside = self._block(statements, names, " True")
        self._depth = depth
        assigned = sorted({match[1] for line in inside if (match := _ASSIGNED.match(line))})
        self._outlined.update(assigned)
        outer = [f" nonlocal {', '.join(assigned)}"] if assigned else []
        self._source.parts += [f"def {name}():", *outer, *inside]
        return [f" if {name}(): return{leave}"]

    def _visit(self, statement: ir.Stmt) -> str:
        return f"visited.append({self._source.object(statement.span)})"

    def _statement(self, statement: ir.Stmt, names: Names, leave: str) -> tuple[list[str], Names]:
        """Its lines, and the names known after it."""
        terms, fresh = self._terms(names), self._source.fresh
        match statement:
            case ir.Let(name=name, value=value):
                given = fresh(name)
                return [f"{given} = {terms.bare(value)}"], names.value(name, given)
            case ir.Var(name=name, value=value):
                given = fresh(name)
                return [f"{given} = {terms.bare(value)}"], names.place(name, Place(given))
            case ir.Ref(name=name, place=place):
                lines, found = bound_place(place, terms, names.places)
                return lines, names.place(name, found)
            case ir.Assign(place=place, value=value):
                return self._assign(place, value, names), names
            case ir.Mutate():
                return self._mutate(statement, names), names
            case ir.Call(procedure=procedure, arguments=arguments):
                return [f"{self._function(procedure)}({', '.join(['frame', *map(terms.bare, arguments)])})"], names
            case ir.If():
                return self._if(statement, names, leave), names
            case ir.While(body=body):
                test = self._condition(statement, names)
                return [f"while {test}:", *_counted(), *self._block(body, names, leave)], names
            case ir.For(ref=True):
                return self._for_ref(statement, names, leave), names
            case ir.For():
                return self._for(statement, names, leave), names
            case ir.Choose():
                return self._choose(statement, names, leave), names
            case ir.Either(branches=branches):
                taken = fresh("taken")
                lines = [f"{taken} = picked(frame, {len(branches)})"]
                for at, branch in enumerate(branches):
                    head = f"{'elif' if at else 'if'} {taken} == {at}:" if at < len(branches) - 1 or not at else "else:"
                    lines += [head, *self._block(branch, names, leave)]
                return lines, names
            case ir.Return():
                return [f"return{leave}"], names
            case ir.Send(kind=kind, arguments=arguments, to=to):
                values = "".join(f"{terms.bare(argument)}, " for argument in arguments)
                return [f"emitted.append(Sent({kind!r}, ({values}), {terms.bare(to)}))"], names
            case ir.Deliver(message=message):
                text = terms.bare(message)
                return [
                    f"if application is None: emitted.append(Delivered({text}))",
                    f"else: application(frame, lambda frame: {text})",
                ], names
            case _:
                assert_never(statement)

    def _assign(self, place: ir.Expr, value: ir.Expr, names: Names) -> list[str]:
        terms = self._terms(names)
        lines, found = bound_place(place, terms, names.places)
        if not found.parts:
            return [f"{found.root} = {terms.bare(value)}"]
        computed = self._source.fresh("value")
        return [f"{computed} = {terms.bare(value)}", *lines, *found.written(computed, self._source.fresh)]

    def _mutate(self, statement: ir.Mutate, names: Names) -> list[str]:
        terms = self._terms(names)
        lines, found = bound_place(statement.place, terms, names.places)
        computed = []
        arguments = []
        for argument in statement.arguments:
            arguments.append(self._source.fresh("value"))
            computed.append(f"{arguments[-1]} = {terms.bare(argument)}")
        change = _change(statement.method, statement.place.type, arguments)
        often = statement.method in ("add", "remove")
        return [*computed, *lines, *found.changed(change, self._source.fresh, often=often)]

    def _if(self, statement: ir.If, names: Names, leave: str) -> list[str]:
        lines = [f"if {self._condition(statement, names)}:", *self._block(statement.then, names, leave)]
        while True:
            match statement.otherwise:
                case ():
                    return lines
                case (ir.If() as statement,):
                    test = self._condition(statement, names)
                    if self.visited is not None:
                        test = f"{self._visit(statement)} or {test}"
                    lines += [f"elif {test}:", *self._block(statement.then, names, leave)]
                case otherwise:
                    return [*lines, "else:", *self._block(otherwise, names, leave)]

    def _condition(self, statement: ir.If | ir.While, names: Names) -> str:
        """The condition; recorded with its values where steps are observed."""
        terms = self._terms(names)
        test = terms.text(statement.condition)
        if self.decided is not None:
            yes, no = (self._source.object((statement, outcome)) for outcome in (True, False))
            return f"(decide({yes}) is None if {test} else decide({no}) is not None)"
        if not self.observed:
            return test
        parts = telling_parts(statement.condition)
        known = self._source.object((statement, tuple((show, part.type) for show, part in parts)))
        values = "".join(f"lambda: {terms.bare(part)}, " for _, part in parts)
        bound = "".join(f"({name!r}, {text}), " for name, text in names.constant.items())
        return f"guarded(frame, {known}, {test}, ({values}), ({bound}))"

    def _choose(self, statement: ir.Choose, names: Names, leave: str) -> list[str]:
        """The alternatives are in ascending order, whatever order loops have."""
        able, item = self._source.fresh("able"), self._source.fresh(statement.name)
        inner = names.value(statement.name, item)
        fits = ""
        if statement.condition is not None:
            fits = f"{self._terms(inner).text(statement.condition)} and "
        return [
            f"{able} = []",
            f"for {item} in {self._items(statement.domain, names)}:",
            f"  if {fits}{item} not in {able}: {able}.append({item})",
            f"if {able}:",
            f" {item} = chosen(frame, {self._source.object((statement.name, statement.variable))}, {able})",
            *self._block(statement.body, inner, leave),
            "else:",
            *self._block(statement.otherwise, names, leave),
        ]

    def _items(self, domain: ir.Expr | None, names: Names) -> str:
        return "range(processes)" if domain is None else self._terms(names).elements(domain)

    def _for(self, statement: ir.For, names: Names, leave: str) -> list[str]:
        item = self._source.fresh(statement.name)
        listed = self._items(statement.domain, names)
        if statement.any_order:
            listed = f"any_order(frame, {listed})"
        given = self._source.fresh("items")
        return [
            f"{given} = {listed}",
            f"for {item} in {given} if scan is None else scan({given}):",
            *_counted(),
            *self._block(statement.body, names.value(statement.name, item), leave),
        ]

    def _for_ref(self, statement: ir.For, names: Names, leave: str) -> list[str]:
        assert statement.domain is not None
        lines, parent = bound_place(statement.domain, self._terms(names), names.places)
        key, held = self._source.fresh("key"), parent.read()
        match statement.domain.type:
            case Map() as type_:
                found, place = f"keys({held})", parent.inside("entry", key, type_)
            case Collection("queue") as type_:
                found, place = f"range(len({held}))", parent.inside("queue element", key, type_)
            case type_:
                found, place = f"indices({held})", parent.inside("window element", key, type_)
        return [
            *lines,
            f"for {key} in {f'any_order(frame, {found})' if statement.any_order else found}:",
            *_counted(),
            *self._block(statement.body, names.place(statement.name, place), leave),
        ]


def _counted() -> list[str]:
    return [" frame.budget += 1", " if frame.budget > limit: raise spent()"]


def _most_iterations() -> int:
    return STEP_BUDGET


def _any_order(frame: Frame, items: Iterable[Item]) -> Iterator[Item]:
    """The elements, each chosen from those that are left when its turn comes; without choices ascending."""
    left = list(items)
    while left:
        yield left.pop(0 if frame.choices is None else frame.choices.pick(len(left)))


def _spent() -> Fault:
    return Fault(f"a step takes more than {STEP_BUDGET:,} loop iterations")


def _picked(frame: Frame, count: int) -> int:
    """The branch that `either` takes."""
    if frame.choices is None:
        return 0
    at = frame.choices.pick(count)
    frame.choices.chosen.append(Chosen("", at + 1, None))
    return at


def _chosen(frame: Frame, what: tuple[str, Type], able: list[Value]) -> Value:
    """The element that `choose` takes."""
    if frame.choices is None:
        return able[0]
    taken = able[frame.choices.pick(len(able))]
    if len(able) > 1:
        frame.choices.chosen.append(Chosen(what[0], taken, what[1]))
    return taken


def _guarded(
    frame: Frame,
    known: tuple[ir.If | ir.While, tuple[tuple[str, Type], ...]],
    outcome: bool,
    terms: tuple[Callable[[], Value], ...],
    bound: tuple[tuple[str, Value], ...],
) -> bool:
    """The outcome of a condition, which is recorded."""
    assert frame.guards is not None
    statement, shown = known
    values = []
    for (text, type_), term in zip(shown, terms, strict=True):
        try:
            values.append((text, term(), type_))
        except Fault:
            continue
    frame.guards.append(Guard(statement, bool(outcome), tuple(values), len(frame.emitted), bound))
    return outcome


def telling_parts(condition: ir.Expr) -> list[tuple[str, ir.Expr]]:
    """The maximal parts without connectives or bound variables: what a reader wants the values of."""
    from thence.dsl.write.show import show_expression

    found: dict[str, ir.Expr] = {}

    def visit(part: ir.Expr, bound: frozenset[str]) -> None:
        match part:
            case ir.Not(operand=operand):
                visit(operand, bound)
            case ir.Connective(left=left, right=right) | ir.Comparison(left=left, right=right):
                visit(left, bound)
                visit(right, bound)
            case ir.Member(item=item, collection=collection):
                visit(item, bound)
                visit(collection, bound)
            case ir.IsEmpty(target=target) | ir.IsNone(target=target):
                visit(target, bound)
            case ir.Quantified(variables=variables, body=body):
                for variable in variables:
                    if variable.domain is not None:
                        visit(variable.domain, bound)
                    bound |= {variable.name}
                visit(body, bound)
            case ir.Lookup(target=target) | ir.FieldOf(target=target) if _mentions(part, bound):
                visit(target, bound)
            case ir.Literal_() | ir.Zero():
                pass
            case _ if not _mentions(part, bound):
                found.setdefault(show_expression(part), part)
            case _:
                pass

    visit(condition, frozenset())
    return list(found.items())


def _mentions(part: ir.Expr, bound: frozenset[str]) -> bool:
    match part:
        case ir.Local(name=name):
            return name in bound
        case ir.FieldOf(target=target) | ir.Attribute(target=target) | ir.Query(target=target):
            return _mentions(target, bound)
        case ir.Lookup(target=target, key=key) | ir.ElementAt(target=target, index=key):
            return _mentions(target, bound) or _mentions(key, bound)
        case ir.Arithmetic(left=left, right=right):
            return _mentions(left, bound) or _mentions(right, bound)
        case ir.StateOf(process=owner):
            return owner is not None and _mentions(owner, bound)
        case ir.InFlight(ahead=other):
            return other is not None and _mentions(other, bound)
        case ir.Placed(queue=queue, ahead=other):
            return _mentions(queue, bound) or (other is not None and _mentions(other, bound))
        case ir.SelfProcess() | ir.Literal_() | ir.Zero() | ir.Acted():
            return False
        case ir.Some(item=item):
            return _mentions(item, bound)
        case ir.Apply(arguments=arguments):
            return any(_mentions(argument, bound) for argument in arguments)
        case _:
            return bool(bound)


def _change(method: str, type_: Type, arguments: list[str]) -> Callable[[str], str]:
    """The text of the value after the mutation, from that of the value before it."""
    given = ", ".join(arguments)
    match method, type_:
        case "push", Collection("queue"):
            return lambda before: f"(*{before}, {given})"
        case "add", Collection("sliding array"):
            return lambda before: f"({before}[0], (*{before}[1], {given}))"
        case "remove", Collection("sliding array"):
            return lambda before: f"({before}[0] + 1, rest({before}[1], 'remove from an empty sliding array'))"
        case "remove", Map():
            return lambda before: f"with_entry({before}, {given}, ABSENT)"
        case "clear", Collection("sliding array"):
            return lambda before: f"(next_index({before}), ())"
        case "clear", Collection("sliding map"):
            return lambda before: f"({before}[0], ())"
        case "clear", _:
            return lambda _: zero_text(type_)
        case _:
            function = _FUNCTIONS[method, type_.kind]  # type: ignore[union-attr]
            return lambda before: f"{function}({', '.join([before, *arguments])})"


_FUNCTIONS: Final = {
    ("pop", "queue"): "without_head", ("remove", "queue"): "without_first", ("add", "set"): "added",
    ("remove", "set"): "all_but", ("add", "sliding map"): "with_index", ("remove", "sliding map"): "without_item",
}  # fmt: skip
