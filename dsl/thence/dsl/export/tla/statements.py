"""Handlers and procedures in TLA+: each becomes an operator from a state to the state after it.

A state is the record of a process's variables, with `out`, the emissions of the step so far. Every change
names the next state in a LET; the statements after an `if` or a loop are a LET operator that takes the state, so that
an early `return` just does not apply it.

TLC evaluates a LET, and an argument, where it is used. Where nothing uses it, a fault in it would be missed; so each
that may have no value is evaluated by `HasValue` before what follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.export.tla.expressions import (
    Element,
    Entry,
    Field,
    Place,
    Scope,
    Unsupported,
    ascending,
    element_sequence,
    entry_zero,
    read,
    tla,
    written,
    zero,
)
from thence.dsl.export.tla.names import field_name
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import Collection, Map, Type

Then: TypeAlias = Callable[[str], list[str]]
"""The lines that follow, from the text of the state."""


def done(state: str) -> list[str]:
    """Nothing follows: the state is the result."""
    return [state]


@dataclass(frozen=True, slots=True)
class Operators:
    """Writes the bodies of one protocol. `procedures` gives the operator of each procedure; `outbox` is the field of a
    process's state that holds what its step emits."""

    procedures: dict[str, str]
    packets: dict[str, ir.PacketKind]
    outbox: str

    def body(self, statements: tuple[ir.Stmt, ...], scope: Scope) -> list[str]:
        """The lines of the expression that gives the state after the statements."""
        return self._block(statements, scope, done)

    def _block(self, statements: tuple[ir.Stmt, ...], scope: Scope, then: Then) -> list[str]:
        if not statements:
            return then(scope.state)
        first, rest = statements[0], statements[1:]

        def onward(inner: Scope) -> Then:
            return lambda state: self._block(rest, replace(inner, state=state), then)

        match first:
            case ir.Let(name=name, value=value):
                return self._let(name, value, scope, lambda inner: self._block(rest, inner, then))
            case ir.Var(name=name):
                raise Unsupported(f"the local variable `{name}` (`var`)")
            case ir.Ref(name=name, place=place):
                lines, bound = self._place(place, scope)
                inner = replace(scope, refs={**scope.refs, name: bound})
                return [*lines, *self._block(rest, inner, then)]
            case ir.Assign(place=place, value=value):
                lines, bound = self._place(place, scope)
                return [
                    *lines,
                    *self._next(written(bound, scope.state, tla(value, scope)), scope, first.label, onward(scope)),
                ]
            case ir.Mutate(place=place):
                lines, bound = self._place(place, scope)
                arguments = [tla(argument, scope) for argument in first.arguments]
                after = written(
                    bound, scope.state, changed(first.method, place.type, read(bound, scope.state), arguments)
                )
                return [*lines, *self._next(after, scope, first.label, onward(scope))]
            case ir.Call(procedure=procedure, arguments=values):
                opened, given = self._given(values, scope)
                called = f"{self.procedures[procedure]}({', '.join([scope.process, scope.state, *given])})"
                return [*opened, *self._next(called, scope, first.label, onward(scope))]
            case ir.If():
                return self._if(first, scope, onward(scope), bool(rest) or then is not done)
            case ir.While():
                return self._while(first, scope, onward(scope))
            case ir.For():
                return self._for(first, scope, onward(scope))
            case ir.Choose() | ir.Either():
                raise Unsupported("a choice (`choose`, `either`)")
            case ir.Return():
                return [scope.state]
            case ir.Send():
                return self._next(self._emitted(self._sent(first, scope), scope), scope, first.label, onward(scope))
            case ir.Deliver(message=message):
                event = f'[event |-> "deliver", message |-> {tla(message, scope)}]'
                return self._next(self._emitted(event, scope), scope, first.label, onward(scope))
            case _:
                assert_never(first)

    def _let(self, wish: str, value: ir.Expr, scope: Scope, then: Callable[[Scope], list[str]]) -> list[str]:
        opened, name = self._named(wish, value, scope)
        refs = {known: place for known, place in scope.refs.items() if known != wish}
        return [*opened, *then(replace(scope.binding(wish, name), refs=refs))]

    def _named(self, wish: str, value: ir.Expr, scope: Scope) -> tuple[list[str], str]:
        """The lines that give the value a name, and evaluate it if it may have none; and the name."""
        name, text = scope.names.fresh(wish), tla(value, scope)
        checked = [f"IF ~HasValue({name}) THEN {scope.state} ELSE"] if may_have_no_value(value, scope) else []
        return [f"LET {name} == {text} IN", *checked], name

    def _given(self, values: tuple[ir.Expr, ...], scope: Scope) -> tuple[list[str], list[str]]:
        """The arguments of a call, and the lines before it that name those that may have no value."""
        opened: list[str] = []
        given = []
        for value in values:
            if may_have_no_value(value, scope):
                lines, text = self._named("given", value, scope)
                opened += lines
            else:
                text = tla(value, scope)
            given.append(text)
        return opened, given

    def _next(self, value: str, scope: Scope, label: str | None, then: Then) -> list[str]:
        """The next state under a name of its own, and what follows from it."""
        following = scope.names.fresh("s")
        rest = then(following)
        if rest == [following]:
            return [value]
        return [f"LET {following} == {value} IN{f'  (* {label} *)' if label else ''}", *rest]

    def _emitted(self, event: str, scope: Scope) -> str:
        return f"[{scope.state} EXCEPT !.{self.outbox} = Append(@, {event})]"

    def _sent(self, statement: ir.Send, scope: Scope) -> str:
        kind = self.packets[statement.kind]
        fields = [f'kind |-> "{kind.name}"', f"src |-> {scope.process}", f"dst |-> {tla(statement.to, scope)}"]
        for parameter, argument in zip(kind.parameters, statement.arguments, strict=True):
            fields.append(f"{packet_field(kind, parameter)} |-> {tla(argument, scope)}")
        return f'[event |-> "send", packet |-> [{", ".join(fields)}]]'

    def _joined(self, then: Then, needed: bool, scope: Scope) -> tuple[list[str], Then]:
        """The statements that follow, written once as an operator, and the call of that operator."""
        if not needed:
            return [], then
        name, state = scope.names.fresh("after"), scope.names.fresh("s")
        rest = then(state)
        if len(rest) == 1:
            return [], then
        return [f"LET {name}({state}) ==", *_indented(rest), "IN"], lambda text: [f"{name}({text})"]

    def _if(self, statement: ir.If, scope: Scope, then: Then, needed: bool) -> list[str]:
        lines, onward = self._joined(then, needed, scope)
        yes = self._block(statement.then, scope, onward)
        no = self._block(statement.otherwise, scope, onward)
        test = tla(statement.condition, scope)
        if len(yes) == 1 and len(no) == 1:
            return [*lines, f"IF {test} THEN {yes[0]}", f"ELSE {no[0]}"]
        return [*lines, f"IF {test}", "THEN", *_indented(yes), "ELSE", *_indented(no)]

    def _while(self, statement: ir.While, scope: Scope, then: Then) -> list[str]:
        lines, onward = self._joined(then, True, scope)
        loop, state = scope.names.fresh("loop"), scope.names.fresh("s")
        inner = replace(scope, state=state)
        body = self._block(statement.body, inner, lambda text: [f"{loop}({text})"])
        return [
            *lines,
            f"LET RECURSIVE {loop}(_)",
            f"    {loop}({state}) ==",
            f"      IF {tla(statement.condition, inner)}",
            "      THEN",
            *_indented(body, 8),
            f"      ELSE {' '.join(onward(state))}",
            f"IN  {loop}({scope.state})",
        ]

    def _for(self, statement: ir.For, scope: Scope, then: Then) -> list[str]:
        lines, onward = self._joined(then, True, scope)
        opened, items, parent = self._elements(statement, scope)
        each, at, state = scope.names.fresh("each"), scope.names.fresh("i"), scope.names.fresh("s")
        item, sequence = scope.names.fresh(statement.name), scope.names.fresh("items")
        refs = {name: place for name, place in scope.refs.items() if name != statement.name}
        inner = replace(scope, state=state, refs=refs).binding(statement.name, item)
        if parent is not None:
            assert statement.domain is not None
            place = replace(parent, path=(*parent.path, _element_access(statement.domain.type, item)))
            inner = replace(inner, refs={**refs, statement.name: place})
        body = self._block(statement.body, inner, lambda text: [f"{each}({at} + 1, {text})"])
        return [
            *lines,
            *opened,
            f"LET {sequence} == {items}",
            f"    RECURSIVE {each}(_, _)",
            f"    {each}({at}, {state}) ==",
            f"      IF {at} > Len({sequence})",
            f"      THEN {' '.join(onward(state))}",
            f"      ELSE LET {item} == {sequence}[{at}] IN",
            *_indented(body, 8),
            f"IN  {each}(1, {scope.state})",
        ]

    def _elements(self, statement: ir.For, scope: Scope) -> tuple[list[str], str, Place | None]:
        """The elements of a loop, as a sequence; with `ref` the positions in a place, which is given too."""
        domain = statement.domain
        if domain is None:
            return [], "Ascending(Process)", None
        if not statement.ref:
            return [], element_sequence(tla(domain, scope), domain.type), None
        lines, place = self._place(domain, scope)
        text, at = read(place, scope.state), scope.names.fresh("k")
        match domain.type:
            case Map(key=key):
                return lines, ascending(f"DOMAIN {text}", key), place
            case Collection("queue"):
                return lines, f"[{at} \\in 1..Len({text}) |-> {at}]", place
            case _:
                return lines, f"[{at} \\in 1..Len({text}.items) |-> {text}.first + {at} - 1]", place

    def _place(self, expression: ir.Expr, scope: Scope) -> tuple[list[str], Place]:
        """The place that an expression denotes, with names for the indices on the way, and the LETs that give them."""
        match expression:
            case ir.StateOf(name=name, process=None):
                return [], Place(name)
            case ir.Local(name=name):
                return [], scope.refs[name]
            case ir.FieldOf(target=target, name=name):
                lines, place = self._place(target, scope)
                return lines, replace(place, path=(*place.path, Field(name)))
            case ir.Lookup(target=target, key=key):
                lines, place = self._place(target, scope)
                opened, at = self._index(key, scope)
                return [*lines, *opened], replace(place, path=(*place.path, Entry(at, entry_zero(target.type))))
            case ir.ElementAt(target=target, index=index):
                lines, place = self._place(target, scope)
                opened, at = self._index(index, scope)
                return [*lines, *opened], replace(place, path=(*place.path, Element(at, window=True)))
            case _:
                raise Unsupported(f"a place of another kind: {type(expression).__name__}")

    def _index(self, index: ir.Expr, scope: Scope) -> tuple[list[str], str]:
        text = tla(index, scope)
        if text.isidentifier() or text.isdigit():
            return [], text
        return self._named("k", index, scope)


def may_have_no_value(expression: ir.Expr, scope: Scope) -> bool:
    """Whether some part of it can be without a value, which is a fault."""
    return any(_is_partial(node, scope) for node in nodes(expression))


def _is_partial(node: object, scope: Scope) -> bool:
    match node:
        case ir.Arithmetic(operator="-") | ir.ElementAt() | ir.Query(name="value" | "peek"):
            return True
        case ir.Query(target=target, name="first"):
            return isinstance(target.type, Collection) and target.type.kind == "queue"
        case ir.Lookup(target=target):
            return entry_zero(target.type) is None
        case ir.Local(name=name):
            return name in scope.refs
        case _:
            return False


def _element_access(type_: Type, item: str) -> Entry | Element:
    if isinstance(type_, Map):
        return Entry(item, entry_zero(type_))
    assert isinstance(type_, Collection)
    return Element(item, window=type_.kind == "sliding array")


def packet_field(kind: ir.PacketKind, parameter: ir.Variable) -> str:
    """The field of a packet record. The kind is in the name: packets of different kinds must be comparable."""
    return field_name(f"{kind.name}_{parameter.name}")


def changed(method: str, type_: Type, value: str, arguments: list[str]) -> str:
    """The value after a mutation."""
    given = ", ".join([value, *arguments])
    match method, type_:
        case "push", _:
            return f"Append({given})"
        case "pop", _:
            return f"Rest({given})"
        case "remove", Collection("queue"):
            return f"RemoveFirst({given})"
        case "add", Collection("set"):
            return f"({value} \\cup {{{arguments[0]}}})"
        case "remove", Collection("set"):
            return f"({value} \\ {{{arguments[0]}}})"
        case "remove", Map():
            return f"Without({given})"
        case "add", Collection("sliding array"):
            return f"AddItem({given})"
        case "remove", Collection("sliding array"):
            return f"DropFirst({given})"
        case "add", Collection("sliding map"):
            return f"AddKey({given})"
        case "remove", Collection("sliding map"):
            return f"RemoveKey({given})"
        case "clear", Collection("sliding array"):
            return f"ClearArray({given})"
        case "clear", Collection("sliding map"):
            return f"ClearKeys({given})"
        case "clear", _:
            return zero(type_)
        case _:
            raise AssertionError((method, type_))


def _indented(lines: list[str], by: int = 2) -> list[str]:
    return [" " * by + line for line in lines]
