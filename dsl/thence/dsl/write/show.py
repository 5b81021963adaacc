"""Expressions of the typed IR as text, for traces, guards and obligations."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import zip_longest
from typing import Any, assert_never

from thence.dsl import ir
from thence.dsl.ir.remembered import remembered
from thence.dsl.ir.types import PROCESS, Bool, Collection, Nat, Record, Type
from thence.dsl.text.syntax import NOWHERE
from thence.dsl.write.packet_names import with_packet_names
from thence.dsl.write.told import are_told, is_open

_LOOSE, _IFF, _IMPLIES, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _TIGHT = range(10)
_CONNECTIVE = {"iff": _IFF, "implies": _IMPLIES, "or": _OR, "and": _AND}


@remembered
def show_expression(expression: ir.Expr, taken: frozenset[str] = frozenset()) -> str:
    """The expression in the syntax of the language.

    Args:
        taken: names that mean something where it is to stand, so that no packet's field gets one of them: of an
            invariant of a link, `names_of_link`.
    """
    return _show(with_packet_names(expression, taken), _LOOSE)


def show_as_written(expression: ir.Expr) -> str:
    """The expression with its sides in the order of the text: `a >= b`, which is `b <= a` elsewhere."""
    return show_expression(_turned(expression))


def _turned(part: Any) -> Any:
    match part:
        case tuple():
            return tuple(map(_turned, part))
        case ir.Expression():
            part = replace(part, **{each.name: _turned(getattr(part, each.name)) for each in fields(part)})
    match part:
        case ir.Comparison(operator="<" | "<=" as operator, left=left, right=right) if _stands_before(right, left):
            turned: Any = operator.replace("<", ">")
            return replace(part, operator=turned, left=right, right=left)
        case _:
            return part


def _stands_before(one: ir.Expr, other: ir.Expr) -> bool:
    places = [(each.span.line, each.span.column) for each in (one, other)]
    return one.span != NOWHERE and other.span != NOWHERE and places[0] < places[1]


def _show(expression: ir.Expr, context: int) -> str:
    text, precedence = _parts(expression)
    return f"({text})" if precedence < context else text


def _list(expressions: tuple[ir.Expr, ...]) -> str:
    return ", ".join(_show(part, _LOOSE) for part in expressions)


def _binders(variables: tuple[ir.Bound, ...], body: ir.Expr) -> str:
    """The variables of a quantifier, with types where their use does not tell them all.

    A written type is that of the names before it, too, so that one type that is written needs the others.
    """
    typed = not are_told(variables, body)
    texts = []
    for variable, following in zip_longest(variables, variables[1:]):
        last = following is None or not is_open(following) or following.type != variable.type
        if variable.domain is not None and not isinstance(variable.domain, ir.Acted):
            texts.append(f"{variable.name} in {_show(variable.domain, _TIGHT)}")
        elif typed and is_open(variable) and last:
            texts.append(f"{variable.name}: {variable.type}")
        else:
            texts.append(variable.name)
    return ", ".join(texts)


def _zero(type_: Type) -> str:
    match type_:
        case Nat():
            return "0"
        case Bool():
            return "false"
        case Collection("option"):
            return "none"
        case _:
            return "empty"


def _parts(expression: ir.Expr) -> tuple[str, int]:
    match expression:
        case ir.Literal_(value=bool() as truth):
            return ("true" if truth else "false"), _TIGHT
        case ir.Literal_(type=type_, value=number):
            return (f"p{number}" if type_ == PROCESS else str(number)), _TIGHT
        case ir.Zero(type=type_):
            return _zero(type_), _TIGHT
        case ir.Local(name=name):
            return name, _TIGHT
        case ir.SelfProcess():
            return "self", _TIGHT
        case ir.StateOf(name=name, process=None):
            return name, _TIGHT
        case ir.StateOf(name=name, process=process):
            assert process is not None
            owner = _show(process, _LOOSE)
            simple = isinstance(process, ir.Local | ir.NamedConstant | ir.Literal_)
            return f"{name}@{owner if simple else f'({owner})'}", _TIGHT
        case ir.FieldOf(target=target, name=name) | ir.Attribute(target=target, name=name):
            return f"{_show(target, _TIGHT)}.{name}", _TIGHT
        case ir.Query(target=target, name=name):
            return f"{_show(target, _TIGHT)}.{name}", _TIGHT
        case ir.Lookup(target=target, key=key) | ir.ElementAt(target=target, index=key):
            return f"{_show(target, _TIGHT)}[{_show(key, _LOOSE)}]", _TIGHT
        case ir.Construct(type=type_, values=values):
            assert isinstance(type_, Record)
            parts = zip(type_.fields, values, strict=True)
            inside = ", ".join(f"{label}: {_show(part, _LOOSE)}" for (label, _), part in parts)
            return f"{type_}({inside})", _TIGHT
        case ir.SetOf(items=items):
            return "{" + _list(items) + "}", _TIGHT
        case ir.Some(item=item):
            return f"some({_show(item, _LOOSE)})", _TIGHT
        case ir.NamedConstant(symbol=name):
            return name, _TIGHT
        case ir.Apply(symbol=symbol, arguments=arguments):
            return f"{symbol}({_list(arguments)})", _TIGHT
        case ir.Not(operand=ir.Comparison(operator="=", left=left, right=right)):
            return f"{_show(left, _SUM)} != {_show(right, _SUM)}", _COMPARE
        case ir.Not(operand=ir.Member(item=item, collection=collection)):
            return f"{_show(item, _SUM)} not in {_show(collection, _SUM)}", _COMPARE
        case ir.Not(operand=ir.IsEmpty(target=target)):
            return f"{_show(target, _SUM)} is not empty", _COMPARE
        case ir.Not(operand=ir.IsNone(target=target)):
            return f"{_show(target, _SUM)} is not none", _COMPARE
        case ir.Not(operand=operand):
            return f"not {_show(operand, _NOT)}", _NOT
        case ir.Connective(operator=operator, left=left, right=right):
            level = _CONNECTIVE[operator]
            tight_left, tight_right = (1, 0) if operator == "implies" else (0, 1)
            return f"{_show(left, level + tight_left)} {operator} {_show(right, level + tight_right)}", level
        case ir.Comparison(operator=operator, left=left, right=right):
            return f"{_show(left, _SUM)} {operator} {_show(right, _SUM)}", _COMPARE
        case ir.Member(item=item, collection=collection):
            return f"{_show(item, _SUM)} in {_show(collection, _SUM)}", _COMPARE
        case ir.Arithmetic(operator=("max" | "min") as operator, left=left, right=right):
            return f"{operator}({_list((left, right))})", _TIGHT
        case ir.Arithmetic(operator="*", left=left, right=right):
            return f"{_show(left, _PRODUCT)} * {_show(right, _TIGHT)}", _PRODUCT
        case ir.Arithmetic(operator=operator, left=left, right=right):
            return f"{_show(left, _SUM)} {operator} {_show(right, _PRODUCT)}", _SUM
        case ir.IsEmpty(target=target):
            return f"{_show(target, _SUM)} is empty", _COMPARE
        case ir.IsNone(target=target):
            return f"{_show(target, _SUM)} is none", _COMPARE
        case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"if {_show(condition, _LOOSE)} then {_show(then, _LOOSE)} else {_show(otherwise, _LOOSE)}", _LOOSE
        case ir.InFlight(kind=kind, ahead=other):
            return f"{kind} in flight{'' if other is None else ' ahead'}", _TIGHT
        case ir.Placed(queue=queue, ahead=other):
            return f"{_show(queue, _TIGHT)}{'' if other is None else ' ahead'}", _TIGHT
        case ir.Acted(verb=verb, kind=kind):
            return verb if kind is None else f"{verb} {kind}", _TIGHT
        case ir.Quantified(kind="forall", variables=(ir.Bound(name=action, domain=ir.Acted()),), body=body):
            return f"when {action}: {_show(body, _LOOSE)}", _LOOSE
        case ir.Quantified(kind=kind, variables=variables, body=body):
            return f"{kind} {_binders(variables, body)}. {_show(body, _LOOSE)}", _LOOSE
        case _:
            assert_never(expression)
