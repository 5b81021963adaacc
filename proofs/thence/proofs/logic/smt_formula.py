"""Formulas as SMT-LIB2 text with places for the names of sorts, symbols and constants.

The same formula is part of many obligations, and in each its names have other numbers. It is written once, with a place
for each name, and filled in for each obligation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort, Type
from thence.proofs.logic.formula import Unsupported, refuse_domains
from thence.proofs.logic.structure import zero_of

_MARK = "\0"
"""Stands before and after a place; no name has it."""
_SORT, _LESS, _SYMBOL, _CONSTANT, _COUNT = "S<fk#"
"""With what a place begins: the name of a sort, its order, a symbol, a constant, a count that has no function yet."""


class Names(dict[str, str]):
    """What is filled in for each place. A place without a name raises Unsupported."""

    def sort(self, name: str, canonical: str) -> str:
        return self.setdefault(_SORT + name, canonical)

    def ordered(self, name: str) -> tuple[str, str]:
        """The sort's name, and that of its order."""
        sort = self[_SORT + name]
        return sort, self.setdefault(_LESS + name, f"lt_{sort}")

    def symbol(self, name: str, canonical: str) -> str:
        return self.setdefault(_SYMBOL + name, canonical)

    def constant(self, name: str, canonical: str) -> str:
        return self.setdefault(_CONSTANT + name, canonical)

    def filled(self, text: str) -> str:
        """A text with its places filled in."""
        return self.joined(text.split(_MARK))

    def joined(self, parts: Iterable[str]) -> str:
        """The parts of a text, of which every second one is a place."""
        filled = list(parts)
        filled[1::2] = [self[place] for place in filled[1::2]]
        return "".join(filled)

    def __missing__(self, place: str) -> str:
        match place[0]:
            case "S":
                raise Unsupported(f"no SMT sort for `{place[1:]}`")
            case "<":
                raise Unsupported(f"`{place[1:]}` has no order")
            case _:
                raise KeyError(place)


@dataclass(frozen=True, slots=True)
class SmtFormula:
    """The text of a formula in parts: every second one is a place."""

    parts: tuple[str, ...]
    of_sorts: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        needed = frozenset(place for place in self.parts[1::2] if place[0] in (_SORT, _LESS))
        object.__setattr__(self, "of_sorts", needed)

    def text(self, names: Names) -> str:
        """The text for an obligation with these names. Raises: Unsupported."""
        return names.joined(self.parts)

    def refuse(self, names: Names) -> None:
        """Raises: Unsupported where a sort has no name or no order."""
        for place in self.of_sorts:
            names[place]


def smt_formula(formula: ir.Expr) -> SmtFormula:
    """The formula with its places. Raises: Unsupported for what SMT-LIB2 with sorts and numbers cannot express."""
    return SmtFormula(tuple(_formula(formula, {}).split(_MARK)))


def sort_text(type_: Type) -> str:
    """The text of a type, with a place for the name of a sort."""
    if type_ == BOOL:
        return "Bool"
    if type_ == NAT:
        return "Int"
    if isinstance(type_, Sort):
        return _place(_SORT, type_.name)
    raise Unsupported(f"no SMT sort for `{type_}`")


def _place(kind: str, name: str) -> str:
    return f"{_MARK}{kind}{name}{_MARK}"


def _formula(expr: ir.Expr, bound: Mapping[str, str]) -> str:
    match expr:
        case ir.Literal_():
            return _literal(expr.value)
        case ir.Zero():
            return _literal(zero_of(expr.type))
        case ir.Local():
            return bound[expr.name] if expr.name in bound else _place(_CONSTANT, expr.name)
        case ir.Apply():
            symbol = _place(_SYMBOL, expr.symbol)
            arguments = " ".join([_formula(argument, bound) for argument in expr.arguments])
            return f"({symbol} {arguments})" if arguments else symbol
        case ir.Not():
            return f"(not {_formula(expr.operand, bound)})"
        case ir.Connective():
            operator = {"and": "and", "or": "or", "implies": "=>", "iff": "="}[expr.operator]
            return f"({operator} {_formula(expr.left, bound)} {_formula(expr.right, bound)})"
        case ir.Comparison():
            return _comparison(expr, bound)
        case ir.Arithmetic():
            return _arithmetic(expr, bound)
        case ir.Conditional():
            condition, then, otherwise = (_formula(part, bound) for part in (expr.condition, expr.then, expr.otherwise))
            return f"(ite {condition} {then} {otherwise})"
        case ir.Quantified():
            return _quantified(expr, bound)
        case _:
            raise Unsupported(f"`{type(expr).__name__}` has no meaning in a theory or machine")


def _comparison(expr: ir.Comparison, bound: Mapping[str, str]) -> str:
    left, right = _formula(expr.left, bound), _formula(expr.right, bound)
    if expr.operator == "=":
        return f"(= {left} {right})"
    if expr.left.type == NAT:
        return f"({expr.operator} {left} {right})"
    if not isinstance(expr.left.type, Sort):
        raise Unsupported(f"`{expr.left.type}` has no order")
    less = f"({_place(_LESS, expr.left.type.name)} {left} {right})"
    return less if expr.operator == "<" else f"(or {less} (= {left} {right}))"


def _arithmetic(expr: ir.Arithmetic, bound: Mapping[str, str]) -> str:
    left, right = _formula(expr.left, bound), _formula(expr.right, bound)
    match expr.operator:
        case "+" | "-":
            return f"({expr.operator} {left} {right})"
        case "max":
            return f"(ite (<= {left} {right}) {right} {left})"
        case "min":
            return f"(ite (<= {left} {right}) {left} {right})"
        case "*":
            raise Unsupported("a product")
        case _ as never:
            assert_never(never)


def _quantified(expr: ir.Quantified, bound: Mapping[str, str]) -> str:
    refuse_domains(expr)
    inner = dict(bound)
    binders: list[str] = []
    guards: list[str] = []
    for variable in expr.variables:
        name = f"x{len(inner)}"
        while name in inner.values():
            name += "_"
        inner[variable.name] = name
        binders.append(f"({name} {sort_text(variable.type)})")
        if variable.type == NAT:
            guards.append(f"(<= 0 {name})")
    body = _formula(expr.body, inner)
    if expr.kind == "count":
        return f"({_place(_COUNT, '')} ({' '.join(binders)}) {body})"
    if guards:
        guard = guards[0] if len(guards) == 1 else f"(and {' '.join(guards)})"
        body = f"(=> {guard} {body})" if expr.kind == "forall" else f"(and {guard} {body})"
    return f"({expr.kind} ({' '.join(binders)}) {body})"


def _literal(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
