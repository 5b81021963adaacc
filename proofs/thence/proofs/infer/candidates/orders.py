"""Ordered sorts and numbers in inference: which atoms compare, how they are written, whose elements are not alike.

The elements of an ordered sort stand in the order of their numbers, so renaming them changes what a state says. All
other elements of a sort are alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Sort, Type


def is_ordered(type_: Type, ordered: Collection[str]) -> bool:
    """Whether it is one of the ordered sorts, which are given by their names, or the numbers."""
    return type_ == NAT or (isinstance(type_, Sort) and type_.name in ordered)


def order_atoms(values: Sequence[ir.Expr], ordered: Collection[str]) -> Iterator[ir.Expr]:
    """The comparisons of terms of one order. Variables are different, so one comparison of two is enough."""
    for at, one in enumerate(values):
        for other in values[:at]:
            if one.type == other.type and is_ordered(one.type, ordered):
                yield ir.Comparison(BOOL, "<", other, one)
                if not _are_variables(one, other):
                    yield ir.Comparison(BOOL, "<", one, other)


def as_premise(atom: ir.Expr, affirmed: bool) -> tuple[ir.Expr, bool]:
    """The literal of a clause; of different variables, `a < b` as the denial of `b < a`."""
    if affirmed and compares_variables(atom):
        assert isinstance(atom, ir.Comparison)
        return ir.Comparison(BOOL, "<", atom.right, atom.left), False
    return atom, affirmed


def compares_variables(atom: ir.Expr) -> bool:
    """Whether it is `a < b` of two variables."""
    return isinstance(atom, ir.Comparison) and atom.operator == "<" and _are_variables(atom.left, atom.right)


def _are_variables(one: ir.Expr, other: ir.Expr) -> bool:
    return isinstance(one, ir.Local) and isinstance(other, ir.Local)
