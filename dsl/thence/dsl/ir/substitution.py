"""Expressions of the IR with names and processes replaced, without capture."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from typing import Any

from thence.dsl.ir.terms import Bound, Expr, Expression, Local, Quantified, SelfProcess, StateOf
from thence.dsl.ir.traversal import nodes


def instantiated(body: Expr, values: Mapping[str, Expr], process: Expr | None, taken: Collection[str]) -> Expr:
    """The expression with its free names replaced by the values.

    With a process, the expression is about that process: `self` is the process, and a state variable is its.
    Bound variables are renamed where the place of use knows the name (`taken`), or where a value mentions it: no
    name of the result hides another one.
    """
    mentioned = {name for value in (*values.values(), process) for name in _names(value)}
    avoided = {*taken, *mentioned}
    own = _names(body)

    def fresh(name: str) -> str:
        if name not in avoided:
            return name
        number = 2
        while f"{name}_{number}" in avoided or f"{name}_{number}" in own:
            number += 1
        return f"{name}_{number}"

    def walk(expr: Expr, known: Mapping[str, Expr]) -> Expr:
        match expr:
            case Local(name=name):
                return known.get(name, expr)
            case SelfProcess() if process is not None:
                return process
            case StateOf(process=None) if process is not None:
                return replace(expr, process=process)
            case Quantified(variables=variables):
                inner = dict(known)
                bounds: list[Bound] = []
                for bound in variables:
                    domain = None if bound.domain is None else walk(bound.domain, known)
                    name = fresh(bound.name)
                    inner[bound.name] = Local(bound.type, name)
                    bounds.append(replace(bound, name=name, domain=domain))
                return replace(expr, variables=tuple(bounds), body=walk(expr.body, inner))
            case _:
                return mapped(expr, lambda part: walk(part, known))

    return walk(body, values)


def mapped(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with each direct part changed; the domains of bound variables are parts, too."""
    changed = {field.name: _mapped(getattr(expr, field.name), change) for field in fields(expr) if field.name != "type"}
    return replace(expr, **changed)


def _mapped(part: Any, change: Callable[[Expr], Expr]) -> Any:
    if isinstance(part, Bound):
        return part if part.domain is None else replace(part, domain=change(part.domain))
    if isinstance(part, Expression):
        return change(part)  # type: ignore[arg-type]
    if isinstance(part, tuple):
        return tuple([_mapped(each, change) for each in part])
    return part


def _names(tree: object) -> set[str]:
    """The local names in an expression, free or bound."""
    return {node.name for node in nodes(tree) if isinstance(node, Local | Bound)}
