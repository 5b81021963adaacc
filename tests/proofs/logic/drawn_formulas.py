"""Formulas over processes, messages and an ordered sort, with numbers and counts; structures to evaluate them.

Drawn by a seed, a few levels deep: strategies that shrink draw mostly atoms, in which few faults show.
"""

from __future__ import annotations

from random import Random
from typing import Literal

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Sort
from thence.proofs.logic.formula import holds
from thence.proofs.logic.structure import Structure, Value, tuples

TIME = Sort("time")
SYMBOLS = (
    ir.Symbol("sent", (ir.Variable("m", MESSAGE),), BOOL),
    ir.Symbol("past", (ir.Variable("p", PROCESS), ir.Variable("m", MESSAGE)), BOOL),
    ir.Symbol("src", (ir.Variable("m", MESSAGE),), PROCESS),
    ir.Symbol("next", (ir.Variable("m", MESSAGE),), MESSAGE),
    ir.Symbol("c", (ir.Variable("m", MESSAGE),), TIME),
    ir.Symbol("late", (ir.Variable("t", TIME),), BOOL),
    ir.Symbol("count_of", (ir.Variable("p", PROCESS),), NAT),
)
UNIVERSE = {"process": 2, "message": 2, "time": 3}
NAMES = {"m": 2, "x": 2, "p": 2}
"""The free names, and how many elements each may be."""

_OPERATORS: tuple[Literal["and", "or", "implies", "iff"], ...] = ("and", "or", "implies", "iff")
_ORDERS: tuple[Literal["=", "<", "<="], ...] = ("=", "<", "<=")
_ARITHMETIC: tuple[Literal["+", "-", "min", "max"], ...] = ("+", "-", "min", "max")
_BOUNDS = (ir.Bound(MESSAGE, "m"), ir.Bound(MESSAGE, "x"), ir.Bound(PROCESS, "p"))


def drawn_structure(chance: Random) -> Structure:
    tables: dict[str, dict[tuple[int, ...], Value]] = {}
    for symbol in SYMBOLS:
        values: list[Value] = [False, True] if symbol.result == BOOL else list(range(4))
        if isinstance(symbol.result, Sort):
            values = list(range(UNIVERSE[symbol.result.name]))
        keys = tuples([parameter.type for parameter in symbol.parameters], UNIVERSE)
        tables[symbol.name] = {key: chance.choice(values) for key in keys}
    return Structure(UNIVERSE, tables)


def drawn_environment(chance: Random) -> dict[str, int]:
    return {name: chance.randrange(size) for name, size in NAMES.items()}


def drawn_formula(chance: Random, depth: int) -> ir.Expr:
    """A formula of at most this depth over its atoms."""
    if depth == 0:
        return _atom(chance)
    match chance.randrange(8):
        case 0:
            return ir.Not(BOOL, drawn_formula(chance, depth - 1))
        case 1 | 2:
            left, right = drawn_formula(chance, depth - 1), drawn_formula(chance, depth - 1)
            return ir.Connective(BOOL, chance.choice(_OPERATORS), left, right)
        case 3 | 4:
            kind: Literal["forall", "exists"] = "forall" if chance.random() < 0.5 else "exists"
            return ir.Quantified(BOOL, kind, _bounds(chance), drawn_formula(chance, depth - 1))
        case 5:
            parts = (drawn_formula(chance, depth - 1) for _ in range(3))
            return ir.Conditional(BOOL, *parts)
        case 6:
            return _about_numbers(chance)
        case _:
            return _comparison(chance, depth - 1)


def _about_numbers(chance: Random) -> ir.Expr:
    """Something about all numbers, or some."""
    n = ir.Local(NAT, "n")
    sides = (n, _number(chance, 0)) if chance.random() < 0.5 else (_number(chance, 0), n)
    compared = ir.Comparison(BOOL, chance.choice(_ORDERS), *sides)
    body = ir.Connective(BOOL, chance.choice(_OPERATORS), compared, _atom(chance))
    return ir.Quantified(BOOL, "forall" if chance.random() < 0.5 else "exists", (ir.Bound(NAT, "n"),), body)


def _bounds(chance: Random) -> tuple[ir.Bound, ...]:
    return tuple(chance.sample(_BOUNDS, chance.choice((1, 1, 2))))


def _atom(chance: Random) -> ir.Expr:
    match chance.randrange(7):
        case 0:
            return holds("sent", drawn_message(chance))
        case 1:
            return holds("past", drawn_process(chance), drawn_message(chance))
        case 2:
            return holds("late", _time(chance))
        case 3:
            return ir.Comparison(BOOL, "=", drawn_process(chance), drawn_process(chance))
        case 4:
            return ir.Comparison(BOOL, "=", drawn_message(chance), drawn_message(chance))
        case 5:
            return ir.Comparison(BOOL, chance.choice(_ORDERS), _time(chance), _time(chance))
        case _:
            return _comparison(chance, 0)


def drawn_message(chance: Random) -> ir.Expr:
    name = ir.Local(MESSAGE, chance.choice("mx"))
    return ir.Apply(MESSAGE, "next", (name,)) if chance.random() < 0.3 else name


def drawn_process(chance: Random) -> ir.Expr:
    return ir.Local(PROCESS, "p") if chance.random() < 0.5 else ir.Apply(PROCESS, "src", (drawn_message(chance),))


def _time(chance: Random) -> ir.Expr:
    return ir.Apply(TIME, "c", (drawn_message(chance),))


def _comparison(chance: Random, depth: int) -> ir.Expr:
    return ir.Comparison(BOOL, chance.choice(_ORDERS), _number(chance, depth), _number(chance, depth))


def _number(chance: Random, depth: int) -> ir.Expr:
    match chance.randrange(6):
        case 0 | 1:
            return ir.Apply(NAT, "count_of", (drawn_process(chance),))
        case 2:
            return ir.Literal_(NAT, chance.randrange(4))
        case 3 if depth:
            return ir.Quantified(NAT, "count", _bounds(chance), drawn_formula(chance, depth - 1))
        case 4 if depth:
            condition = drawn_formula(chance, depth - 1)
            return ir.Conditional(NAT, condition, _number(chance, depth - 1), _number(chance, depth - 1))
        case _:
            value = ir.Apply(NAT, "count_of", (drawn_process(chance),))
            return ir.Arithmetic(NAT, chance.choice(_ARITHMETIC), value, _number(chance, max(0, depth - 1)))
