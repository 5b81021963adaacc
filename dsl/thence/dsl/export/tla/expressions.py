"""Expressions of the typed IR in TLA+. The module `Thence` says how values are represented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from thence.dsl import ir
from thence.dsl.export.tla.names import Names, field_name
from thence.dsl.ir.types import MESSAGE, NAT, PROCESS, Bool, Collection, Map, Nat, Type, has_zero


class Unsupported(Exception):
    """Something that the export cannot say in TLA+. The message says what."""


@dataclass(frozen=True, slots=True)
class Field:
    """A step into a place: the field of a record."""

    name: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A step into a place: the value of a map at a key; `zero` is None where a missing key is a fault."""

    key: str
    zero: str | None


@dataclass(frozen=True, slots=True)
class Element:
    """A step into a place: an element of a queue by position, or of a sliding array by index."""

    at: str
    window: bool


Access: TypeAlias = Field | Entry | Element


@dataclass(frozen=True, slots=True)
class Place:
    """A state variable, and the way into it; the indices on the way are names or constants."""

    variable: str
    path: tuple[Access, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """The meaning of names at the place of an expression.

    Attributes:
        names: hands out names for bound variables.
        state: the text of the acting process's state, a record.
        process: the text of the acting process.
        locals: parameters, lets and bound variables.
        refs: names that stand for places.
        states: the text of the function from processes to their states, for `X@p`.
        symbols: the variables that hold a machine's relations and functions.
        sorts: the text of the set over which a variable of a sort ranges.
    """

    names: Names
    state: str = ""
    process: str = "self"
    locals: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, Place] = field(default_factory=dict)
    states: str = "local"
    symbols: Mapping[str, str] = field(default_factory=dict)
    sorts: Mapping[str, str] = field(default_factory=lambda: {"process": "Process"})

    def binding(self, name: str, text: str) -> Scope:
        """With one more local."""
        return replace(self, locals={**self.locals, name: text})


def applied(function: str, arguments: Sequence[str]) -> str:
    """A function at its arguments; without any it is a plain value."""
    return f"{function}[{', '.join(arguments)}]" if arguments else function


def zero(type_: Type) -> str:
    """The zero of a type that has one."""
    match type_:
        case Nat():
            return "0"
        case Bool():
            return "FALSE"
        case Map():
            return "EmptyMap"
        case Collection("option" | "queue"):
            return "<<>>"
        case Collection("set"):
            return "{}"
        case Collection("sliding array"):
            return "Window(0)"
        case Collection("sliding map"):
            return "KeyWindow(0)"
        case _:
            raise AssertionError(type_)


def ascending(text: str, item: Type) -> str:
    """The sequence of the elements of a set in ascending order."""
    if item in (NAT, PROCESS):
        return f"Ascending({text})"
    if item == MESSAGE:
        return f"AscendingMessages({text})"
    raise Unsupported(f"a loop in ascending order over a set of {item}: only over nats, processes and messages")


def element_set(text: str, type_: Type) -> str:
    """The set of the elements of a collection, or of a map's keys."""
    match type_:
        case Map():
            return f"DOMAIN {text}"
        case Collection("set"):
            return text
        case Collection("queue" | "option"):
            return f"Range({text})"
        case Collection("sliding array"):
            return f"Range({text}.items)"
        case Collection("sliding map"):
            return f"Range(ItemsOf({text}))"
        case _:
            raise AssertionError(type_)


def element_sequence(text: str, type_: Type) -> str:
    """The elements of a collection, or a map's keys, in the order in which a loop takes them."""
    match type_:
        case Map(key=key):
            return ascending(f"DOMAIN {text}", key)
        case Collection("set", item):
            return ascending(text, item)
        case Collection("queue" | "option"):
            return text
        case Collection("sliding array"):
            return f"{text}.items"
        case Collection("sliding map"):
            return f"ItemsOf({text})"
        case _:
            raise AssertionError(type_)


def read(place: Place, state: str) -> str:
    """The value at a place."""
    text = f"{state}.{field_name(place.variable)}"
    for access in place.path:
        text = _accessed(text, access)
    return text


def _accessed(text: str, access: Access) -> str:
    match access:
        case Field(name):
            return f"{text}.{field_name(name)}"
        case Entry(key, None):
            return f"GetOrFault({text}, {key})"
        case Entry(key, nothing):
            return f"Get({text}, {key}, {nothing})"
        case Element(at, window=True):
            return f"At({text}, {at})"
        case Element(at):
            return f"Item({text}, {at})"
        case _:
            assert_never(access)


def written(place: Place, state: str, value: str) -> str:
    """The state with another value at a place."""

    def rebuilt(text: str, path: tuple[Access, ...]) -> str:
        if not path:
            return value
        first, rest = path[0], path[1:]
        inside = rebuilt(_accessed(text, first), rest)
        match first:
            case Field(name):
                return f"[{text} EXCEPT !.{field_name(name)} = {inside}]"
            case Entry(key, None):
                return f"With({text}, {key}, {inside})"
            case Entry(key, nothing):
                return f"Put({text}, {key}, {inside}, {nothing})"
            case Element(at, window=True):
                return f"SetAt({text}, {at}, {inside})"
            case Element(at):
                return f"SetItem({text}, {at}, {inside})"
            case _:
                assert_never(first)

    variable = field_name(place.variable)
    return f"[{state} EXCEPT !.{variable} = {rebuilt(f'{state}.{variable}', place.path)}]"


def tla(expression: ir.Expr, scope: Scope) -> str:
    """The expression in TLA+; whatever is not a name, a number or an application stands in parentheses."""

    def sub(part: ir.Expr) -> str:
        return tla(part, scope)

    def side(part: ir.Expr) -> str:
        """A side of `=` or `\\in`, which bind more than `~`."""
        text = tla(part, scope)
        return f"({text})" if text.startswith("~") else text

    match expression:
        case ir.Literal_(value=bool() as truth):
            return "TRUE" if truth else "FALSE"
        case ir.Literal_(value=number):
            return str(number)
        case ir.Zero(type=type_):
            return zero(type_)
        case ir.Local(name=name):
            return read(scope.refs[name], scope.state) if name in scope.refs else scope.locals[name]
        case ir.SelfProcess():
            return scope.process
        case ir.StateOf(name=name, process=None):
            return f"{scope.state}.{field_name(name)}"
        case ir.StateOf(name=name, process=owner):
            assert owner is not None
            return f"{scope.states}[{sub(owner)}].{field_name(name)}"
        case ir.FieldOf(target=target, name=name):
            return f"{sub(target)}.{field_name(name)}"
        case ir.Attribute(target=target, name="dst"):
            return f"TheOnly({sub(target)}.dsts)"
        case ir.Attribute(target=target, name=name):
            return f"{sub(target)}.{name}"
        case ir.Lookup(target=target, key=key):
            return _accessed(sub(target), Entry(sub(key), entry_zero(target.type)))
        case ir.ElementAt(target=target, index=index):
            return f"At({sub(target)}, {sub(index)})"
        case ir.Query(target=target, name=name):
            return _query(sub(target), target.type, name)
        case ir.Construct(type=type_, values=values):
            labels = [field_name(label) for label, _ in type_.fields]  # type: ignore[union-attr]
            inside = ", ".join(f"{label} |-> {sub(value)}" for label, value in zip(labels, values, strict=True))
            return f"[{inside}]"
        case ir.SetOf(items=items):
            return "{" + ", ".join(sub(item) for item in items) + "}"
        case ir.Some(item=item):
            return f"<<{sub(item)}>>"
        case ir.Apply(type=Collection("sliding map"), symbol="window", arguments=(start,)):
            return f"KeyWindow({sub(start)})"
        case ir.Apply(symbol="window", arguments=(start,)):
            return f"Window({sub(start)})"
        case ir.Apply(symbol=symbol, arguments=arguments):
            return applied(scope.symbols[symbol], [sub(argument) for argument in arguments])
        case ir.Not(operand=ir.Comparison("=", left=left, right=right)):
            return f"({side(left)} /= {side(right)})"
        case ir.Not(operand=ir.Member(item=item, collection=collection)):
            return f"({side(item)} \\notin {element_set(sub(collection), collection.type)})"
        case ir.Not(operand=operand):
            return f"~{sub(operand)}"
        case ir.Connective(operator=operator, left=left, right=right):
            sign = {"and": "/\\", "or": "\\/", "implies": "=>", "iff": "<=>"}[operator]
            return f"({sub(left)} {sign} {sub(right)})"
        case ir.Comparison(operator=operator, left=left, right=right):
            return f"({side(left)} {operator} {side(right)})"
        case ir.Member(item=item, collection=collection):
            return f"({side(item)} \\in {element_set(sub(collection), collection.type)})"
        case ir.Arithmetic(operator="+" | "*" as operator, left=left, right=right):
            return f"({sub(left)} {operator} {sub(right)})"
        case ir.Arithmetic(operator=operator, left=left, right=right):
            name = {"-": "Minus", "max": "Max", "min": "Min"}[operator]
            return f"{name}({sub(left)}, {sub(right)})"
        case ir.IsEmpty(target=target):
            return _is_empty(sub(target), target.type)
        case ir.IsNone(target=target):
            return f"({sub(target)} = <<>>)"
        case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"(IF {sub(condition)} THEN {sub(then)} ELSE {sub(otherwise)})"
        case ir.Quantified():
            return _quantified(expression, scope)
        case ir.InFlight():
            raise AssertionError("formulas about packets in flight are not exported")
        case ir.Placed():
            raise AssertionError("formulas about the order of a queue are not exported")
        case ir.Acted():
            raise AssertionError("formulas about actions are not exported")
        case _:
            assert_never(expression)


def entry_zero(type_: Type) -> str | None:
    """The value of a map of this type at a missing key; None if that is a fault."""
    assert isinstance(type_, Map)
    return zero(type_.value) if has_zero(type_.value) else None


def _is_empty(text: str, type_: Type) -> str:
    match type_:
        case Collection("set"):
            return f"({text} = {{}})"
        case Map():
            return f"(DOMAIN {text} = {{}})"
        case Collection("sliding array"):
            return f"({text}.items = <<>>)"
        case Collection("sliding map"):
            return f"({text}.entries = <<>>)"
        case _:
            return f"({text} = <<>>)"


def _query(text: str, type_: Type, name: str) -> str:
    match name, type_:
        case "size", Map():
            return f"Cardinality(DOMAIN {text})"
        case "size", Collection("set"):
            return f"Cardinality({text})"
        case "size", Collection("sliding array"):
            return f"Len({text}.items)"
        case "size", Collection("sliding map"):
            return f"Len({text}.entries)"
        case "size", _:
            return f"Len({text})"
        case "first", Collection("queue"):
            return f"First({text})"
        case "first", Collection("sliding array"):
            return f"{text}.first"
        case "next", Collection("sliding array"):
            return f"NextIndex({text})"
        case "peek", _:
            return f"Peek({text})"
        case "first", Collection("sliding map"):
            return f"FirstKey({text})"
        case "next", _:
            return f"{text}.next"
        case "value", _:
            return f"ValueOf({text})"
        case _:
            raise AssertionError((name, type_))


def _quantified(expression: ir.Quantified, scope: Scope) -> str:
    inner, domains = scope, []
    for bound in expression.variables:
        if bound.domain is not None:
            domain = element_set(tla(bound.domain, inner), bound.domain.type)
        else:
            domain = sort_set(bound.type, scope)
        name = scope.names.fresh(bound.name)
        inner = inner.binding(bound.name, name)
        domains.append((name, domain))
    body = tla(expression.body, inner)
    if expression.kind in ("count", "sum") and any(
        bound.domain is not None and not _is_of_a_set(bound.domain.type) for bound in expression.variables
    ):
        raise Unsupported(f"a {expression.kind} over a sequence")  # where equal elements count each
    if expression.kind == "count":
        names = ", ".join(name for name, _ in domains)
        chosen = f"<<{names}>>" if len(domains) > 1 else names
        several = len(domains) > 1  # `\\X` binds more than `DOMAIN`
        product = " \\X ".join(f"({each})" if several and each.startswith("DOMAIN") else each for _, each in domains)
        return f"Cardinality({{{chosen} \\in {product} : {body}}})"
    if expression.kind == "sum":
        ranges = ", ".join(f"{name} \\in {domain}" for name, domain in domains)
        return f"SumOf([{ranges} |-> {body}])"
    sign = "\\A" if expression.kind == "forall" else "\\E"
    ranges = ", ".join(f"{name} \\in {domain}" for name, domain in domains)
    return f"({sign} {ranges} : {body})"


def _is_of_a_set(type_: Type) -> bool:
    return isinstance(type_, Map) or (isinstance(type_, Collection) and type_.kind in ("set", "option"))


def sort_set(type_: Type, scope: Scope) -> str:
    """The set over which a variable of a sort ranges."""
    text = scope.sorts.get(str(type_))
    if text is None:
        raise Unsupported(f"a quantifier over every {type_}")
    return text
