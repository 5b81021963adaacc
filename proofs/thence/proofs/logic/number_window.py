"""Numbers in finite structures: a window of known numbers, and the instances that decide a quantifier over all numbers.

NOTE(numbers): a relation or function over numbers has a table for the numbers below `universe["nat"]`; at every
number beyond, it has the zero of its type (element 0 of a sort). That is a structure over all natural numbers, with
finitely much in it, and a quantifier over numbers is decided exactly by finitely many instances: beyond the highest
number known, numbers differ only by their distances to each other and to it, and a formula sees distances only up
to what it adds. With r quantifiers over numbers nested and additions up to D, distances beyond (D + 1) 2^r look
alike (an Ehrenfeucht-Fraisse game on the order of the natural numbers), so one number that far out stands for all.
"""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.ir.types import NAT
from thence.proofs.logic.formula import Unsupported, children

WINDOW = 4
"""Size of the window of finite structures for machines that have relations or functions over numbers."""

NUMBERS_BELOW = 16
"""Bound on the numbers of a search over finite structures, such as for a run: it is then finite for a solver, and much
faster. Where formulas quantify over numbers, without such symbols, those below it are all that are known."""


def speaks_of_all_numbers(expr: ir.Expr) -> bool:
    """Whether the formula quantifies over numbers."""
    own = isinstance(expr, ir.Quantified) and any(bound.type == NAT for bound in expr.variables)
    return own or any(speaks_of_all_numbers(part) for part in children(expr))


def instances_of_numbers(expr: ir.Quantified, highest: int) -> range:
    """The numbers that stand for all, where no number known is above `highest`. See NOTE(numbers).

    Raises: Unsupported where two bound numbers are added: their sum is no distance to anything known; and where
        something is counted, which is not known to be small.
    """
    added = _added(expr, highest)
    return range(highest + added + (added + 1) * 2 ** _depth(expr) + 2)


def _depth(expr: ir.Expr) -> int:
    own = sum(bound.type == NAT for bound in expr.variables) if isinstance(expr, ir.Quantified) else 0
    return own + max((_depth(part) for part in children(expr)), default=0)


def _added(expr: ir.Expr, highest: int) -> int:
    """A bound on the amount that the formula adds to a number: its literals, and the terms of its sums."""
    if isinstance(expr, ir.Literal_):
        return int(expr.value)
    if isinstance(expr, ir.Quantified) and expr.kind == "count":
        raise Unsupported("`count` together with a quantifier over all numbers")
    inner = sum(_added(part, highest) for part in children(expr))
    if isinstance(expr, ir.Arithmetic):
        if _has_number(expr.left) and _has_number(expr.right):
            raise Unsupported("two numbers that are quantified over are added: no finite structure decides that")
        return inner + 2 * highest
    return inner


def _has_number(expr: ir.Expr) -> bool:
    """Whether a number that is not known, or may not be, stands in the term outside of applications."""
    if isinstance(expr, ir.Apply):
        return False
    return isinstance(expr, ir.Local) or any(_has_number(part) for part in children(expr))
