"""The types of bound variables, from their use.

A name without a written type gets a cell. The formula is walked; wherever two values must have the same type,
their cells are joined. Nothing is reported here: errors are found by the check that follows, with the types found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

from thence.dsl.check.terms.actions import types_of_action
from thence.dsl.check.terms.environment import Locals, Vocabulary
from thence.dsl.check.terms.in_flight import types_of_packet
from thence.dsl.check.terms.queries import ATTRIBUTES, element_type, index_types, queries
from thence.dsl.check.terms.types import resolve_type
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Record, Type
from thence.dsl.text import syntax
from thence.dsl.text.reporter import Reporter


class Cell:
    """A type to be found out. Cells that must have the same type point to one another."""

    __slots__ = ("known", "same")

    def __init__(self) -> None:
        self.known: Type | None = None
        self.same: Cell | None = None

    def root(self) -> Cell:
        cell = self
        while cell.same is not None:
            cell = cell.same
        return cell


Guess: TypeAlias = Type | Cell | None


def _settle(guess: Guess) -> Guess:
    """The type that is known by now, else the cell that stands for it."""
    if isinstance(guess, Cell):
        root = guess.root()
        return root if root.known is None else root.known
    return guess


def _join(left: Guess, right: Guess) -> None:
    """Both have the same type. A contradiction is left to the check that follows."""
    left, right = _settle(left), _settle(right)
    match left, right:
        case Cell(), Cell():
            if left is not right:
                left.same = right
        case Cell(), None:
            pass
        case Cell(), _:
            assert not isinstance(right, Cell) and right is not None
            left.known = right
        case None, Cell():
            pass
        case _, Cell():
            assert not isinstance(left, Cell)
            right.known = left
        case _:
            pass


def infer_types(
    names: Sequence[str],
    formulas: Sequence[syntax.Expr],
    vocabulary: Vocabulary,
    outer: Locals,
    beside: Sequence[syntax.Binder] = (),
) -> dict[str, Type | None]:
    """The type of each name, from its use in the formulas; None where that does not tell.

    `beside`: the variables of the same list whose types are written.
    """
    cells = {name: Cell() for name in names}
    guesses: dict[str, Guess] = {name: local.type for name, local in outer.items()}
    guesses.update(cells)
    walk = _Walk(vocabulary)
    guesses = walk.bind(beside, guesses)
    for _ in range(2):  # what is learnt at the end of a formula may help at its beginning
        for formula in formulas:
            walk.visit(formula, guesses)
    return {name: cell.root().known for name, cell in cells.items()}


class _Walk:
    """One walk over formulas, with the names of their declaration."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.silent = Reporter("")
        self.cells: dict[int, Cell] = {}

    def visit(self, expr: syntax.Expr, names: Mapping[str, Guess]) -> Guess:
        match expr:
            case syntax.Number():
                return NAT
            case syntax.Truth():
                return BOOL
            case syntax.Nothing() | syntax.Empty():
                return None
            case syntax.Variable(name=name):
                if name in names:
                    return _settle(names[name])
                return PROCESS if name == "self" else self.vocabulary.state.get(name)
            case syntax.FieldAccess(target=target, name=label):
                return self.field(self.visit(target, names), label.text)
            case syntax.IndexAccess(target=target, key=key):
                return self.index(self.visit(target, names), self.visit(key, names))
            case syntax.Apply(function=function, arguments=arguments, process=process):
                if process is not None:
                    _join(self.visit(process, names), PROCESS)
                return self.apply(function.text, [self.visit(argument, names) for argument in arguments])
            case syntax.Construct(record=record, fields=fields):
                type_ = self.vocabulary.types.get(record.text)
                for field in fields:
                    value = self.visit(field.value, names)
                    _join(value, type_.field(field.name.text) if isinstance(type_, Record) else None)
                return type_
            case syntax.SetDisplay(items=items):
                first, *others = [self.visit(item, names) for item in items]
                for other in others:
                    _join(first, other)
                first = _settle(first)
                return None if first is None or isinstance(first, Cell) else Collection("set", first)
            case syntax.Not(operand=operand):
                self.visit(operand, names)
                return BOOL
            case syntax.Binary():
                return self.binary(expr, names)
            case syntax.IsTest(target=target):
                self.visit(target, names)
                return BOOL
            case syntax.Conditional(condition=condition, then=then, otherwise=otherwise):
                self.visit(condition, names)
                yes, no = self.visit(then, names), self.visit(otherwise, names)
                _join(yes, no)
                return _settle(yes) if yes is not None else _settle(no)
            case syntax.Quantified(kind=kind, binders=binders, body=body):
                self.visit(body, self.bind(binders, names))
                return NAT if kind in ("count", "sum") else BOOL
            case syntax.At(variable=variable, process=process):
                _join(self.visit(process, names), PROCESS)
                return self.vocabulary.state.get(variable.text)
            case _:
                assert_never(expr)

    def bind(self, binders: Sequence[syntax.Binder], names: Mapping[str, Guess]) -> dict[str, Guess]:
        inner = dict(names)
        for binder in binders:
            guess: Guess = None
            if binder.packet is not None:
                inner |= dict(types_of_packet(binder, self.vocabulary))
                continue
            if binder.action is not None:
                inner |= dict(types_of_action(binder.action, self.vocabulary))
                continue
            if binder.type is not None:
                guess = resolve_type(binder.type, self.vocabulary.types, self.silent)
            elif isinstance(binder.domain, syntax.Variable) and binder.domain.name in self.vocabulary.types:
                guess = self.vocabulary.types[binder.domain.name]
            elif binder.domain is not None:
                domain = self.visit(binder.domain, inner)
                guess = None if domain is None or isinstance(domain, Cell) else element_type(domain)
            else:
                guess = self.cells.setdefault(id(binder), Cell())
            inner[binder.name.text] = guess
        return inner

    def field(self, target: Guess, label: str) -> Guess:
        target = _settle(target)
        if isinstance(target, Cell):
            owners = [record for record in self.vocabulary.records.values() if record.field(label) is not None]
            if label in ATTRIBUTES:
                _join(target, MESSAGE)
                return ATTRIBUTES[label]
            if len(owners) != 1:
                return None
            _join(target, owners[0])
            return owners[0].field(label)
        return None if target is None else queries(target).get(label)

    def index(self, target: Guess, key: Guess) -> Guess:
        if target is None or isinstance(target, Cell):
            return None
        types = index_types(target, numbered=self.vocabulary.numbered)
        if types is None:
            return None
        _join(key, types[0])
        return types[1]

    def apply(self, function: str, arguments: list[Guess]) -> Guess:
        symbol = self.vocabulary.symbols.get(function)
        if symbol is not None:
            for argument, parameter in zip(arguments, symbol.parameters, strict=False):
                _join(argument, parameter.type)
            return symbol.result
        defined = self.vocabulary.definition(function, of_process=False)
        if defined is not None:
            for argument, parameter in zip(arguments, defined.parameters, strict=False):
                _join(argument, parameter.type)
            return defined.body.type
        if function in ("max", "min"):
            for argument in arguments:
                _join(argument, NAT)
            return NAT
        if function == "some" and len(arguments) == 1:
            item = _settle(arguments[0])
            return None if item is None or isinstance(item, Cell) else Collection("option", item)
        return PROCESS if function in ("src", "dst") else None

    def binary(self, expr: syntax.Binary, names: Mapping[str, Guess]) -> Guess:
        left, right = self.visit(expr.left, names), self.visit(expr.right, names)
        match expr.operator:
            case "and" | "or" | "implies" | "iff" | "leads to":
                return BOOL
            case "=" | "!=" | "<" | "<=" | ">" | ">=":
                _join(left, right)
                return BOOL
            case "in" | "not in":
                right = _settle(right)
                if right is not None and not isinstance(right, Cell):
                    _join(left, element_type(right))
                return BOOL
            case "+" | "-" | "*":
                _join(left, NAT)
                _join(right, NAT)
                return NAT
            case _:
                assert_never(expr.operator)
