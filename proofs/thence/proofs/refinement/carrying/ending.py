"""Loops that come to their end in every state, by their text alone."""

from __future__ import annotations

from typing import TypeAlias

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes

_Change: TypeAlias = ir.Mutate | ir.Assign | ir.Call | ir.Ref | ir.For


def ends(loop: ir.While) -> bool:
    """Whether each round takes an element out of the queue whose emptiness ends the loop, and adds none.

    The queue is a variable of the process. A body with a call, or with `ref`, is not looked into.
    """
    match loop.condition:
        case ir.Not(operand=ir.IsEmpty(target=ir.StateOf(name=name))):
            taken = any(_takes_out(statement, name) for statement in loop.body)
            return taken and all(_adds_nothing(node, name) for node in nodes(loop.body) if isinstance(node, _Change))
        case _:
            return False


def _takes_out(statement: ir.Stmt, name: str) -> bool:
    return isinstance(statement, ir.Mutate) and statement.method == "pop" and _is(statement.place, name)


def _adds_nothing(change: _Change, name: str) -> bool:
    match change:
        case ir.Mutate(place=place, method=method):
            return not _is_inside(place, name) or (_is(place, name) and method in ("pop", "clear"))
        case ir.Assign(place=place):
            return not _is_inside(place, name)
        case ir.For(ref=ref):
            return not ref
        case _:
            return False


def _is(place: ir.Expr, name: str) -> bool:
    return isinstance(place, ir.StateOf) and place.name == name


def _is_inside(place: ir.Expr, name: str) -> bool:
    return any(isinstance(node, ir.StateOf) and node.name == name for node in nodes(place))
