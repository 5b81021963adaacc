"""Formulas of theories and machines: the fragment of the IR that has a meaning without a state or a step.

Constructors, free names, capture-avoiding substitution. Expressions outside the fragment (state variables, collections,
records) raise `Unsupported`. Elaboration keeps them out of theories and machines, except for `count`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import reduce

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, Type


class Unsupported(ValueError):
    """A formula that this back end cannot take; the message says which part and why."""


TRUE = ir.Literal_(BOOL, True)
FALSE = ir.Literal_(BOOL, False)


def conj(parts: Iterable[ir.Expr]) -> ir.Expr:
    """The conjunction, without `true` parts; of nothing, `true`."""
    return _join("and", parts, TRUE)


def disj(parts: Iterable[ir.Expr]) -> ir.Expr:
    """The disjunction, without `false` parts; of nothing, `false`."""
    return _join("or", parts, FALSE)


def operands(expr: ir.Expr, operator: str) -> tuple[ir.Expr, ...]:
    """What the connective joins, however it is nested."""
    if isinstance(expr, ir.Connective) and expr.operator == operator:
        return (*operands(expr.left, operator), *operands(expr.right, operator))
    return (expr,)


def implies(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return right if left == TRUE else ir.Connective(BOOL, "implies", left, right)


def negation(operand: ir.Expr) -> ir.Expr:
    return operand.operand if isinstance(operand, ir.Not) else ir.Not(BOOL, operand)


def equal(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return TRUE if left == right else ir.Comparison(BOOL, "=", left, right)


def holds(symbol: str, *arguments: ir.Expr) -> ir.Expr:
    """A relation applied to its arguments."""
    return ir.Apply(BOOL, symbol, tuple(arguments))


def forall(variables: Iterable[ir.Variable], body: ir.Expr) -> ir.Expr:
    """The universal closure over the variables; without variables, the body."""
    bounds = tuple(ir.Bound(variable.type, variable.name) for variable in variables)
    return ir.Quantified(BOOL, "forall", bounds, body) if bounds else body


def exists(variables: Iterable[ir.Variable], body: ir.Expr) -> ir.Expr:
    """The existential closure over the variables; without variables, the body."""
    bounds = tuple(ir.Bound(variable.type, variable.name) for variable in variables)
    return ir.Quantified(BOOL, "exists", bounds, body) if bounds else body


def local(variable: ir.Variable) -> ir.Local:
    return ir.Local(variable.type, variable.name)


def conditional(condition: ir.Expr, then: ir.Expr, otherwise: ir.Expr) -> ir.Expr:
    """`if condition then ... else ...`; between truth values as connectives, simplified."""
    if condition == TRUE or then == otherwise:
        return then
    if condition == FALSE:
        return otherwise
    if then.type != BOOL:
        return ir.Conditional(then.type, condition, then, otherwise)
    if then == TRUE:
        return disj((condition, otherwise))
    if then == FALSE:
        return conj((negation(condition), otherwise))
    return disj((conj((condition, then)), conj((negation(condition), otherwise))))


def _join(operator: str, parts: Iterable[ir.Expr], unit: ir.Expr) -> ir.Expr:
    absorbing = FALSE if unit == TRUE else TRUE
    kept = [part for part in parts if part != unit]
    if absorbing in kept:
        return absorbing
    if not kept:
        return unit
    return reduce(lambda left, right: ir.Connective(BOOL, "and" if operator == "and" else "or", left, right), kept)


def map_children(expr: ir.Expr, change: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """The expression with every direct part replaced; bound variables stay as they are.

    Raises: Unsupported outside the fragment.
    """
    match expr:
        case ir.Literal_() | ir.Zero() | ir.Local():
            return expr
        case ir.Apply():
            return replace(expr, arguments=tuple(change(argument) for argument in expr.arguments))
        case ir.Not():
            return replace(expr, operand=change(expr.operand))
        case ir.Connective() | ir.Comparison() | ir.Arithmetic():
            return replace(expr, left=change(expr.left), right=change(expr.right))
        case ir.Conditional():
            return replace(
                expr,
                condition=change(expr.condition),
                then=change(expr.then),
                otherwise=change(expr.otherwise),
            )
        case ir.Quantified():
            refuse_domains(expr)
            return replace(expr, body=change(expr.body))
        case _:
            raise Unsupported(f"`{type(expr).__name__}` has no meaning in a theory or machine")


def refuse_domains(expr: ir.Quantified) -> None:
    """Raises: Unsupported for `x in e`: theories and machines have no collections to range over."""
    for bound in expr.variables:
        if bound.domain is not None:
            raise Unsupported(f"`{bound.name}` ranges over a collection")


def children(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    """The direct parts, left to right. Raises: Unsupported outside the fragment."""
    match expr:
        case ir.Literal_() | ir.Zero() | ir.Local():
            return ()
        case ir.Apply():
            return expr.arguments
        case ir.Not():
            return (expr.operand,)
        case ir.Connective() | ir.Comparison() | ir.Arithmetic():
            return (expr.left, expr.right)
        case ir.Conditional():
            return (expr.condition, expr.then, expr.otherwise)
        case ir.Quantified():
            refuse_domains(expr)
            return (expr.body,)
        case _:
            raise Unsupported(f"`{type(expr).__name__}` has no meaning in a theory or machine")


def free_locals(expr: ir.Expr) -> dict[str, Type]:
    """The names that the formula does not bind, in order of first use, with their types."""
    found: dict[str, Type] = {}
    _collect_free(expr, frozenset(), found)
    return found


def _collect_free(expr: ir.Expr, bound: frozenset[str], found: dict[str, Type]) -> None:
    if isinstance(expr, ir.Local):
        if expr.name not in bound:
            found.setdefault(expr.name, expr.type)
        return
    inner = bound | {variable.name for variable in expr.variables} if isinstance(expr, ir.Quantified) else bound
    for part in children(expr):
        _collect_free(part, inner, found)


def symbols_of(expr: ir.Expr) -> frozenset[str]:
    """The relations and functions that the formula speaks about."""
    found, left = set[str](), [expr]
    while left:
        part = left.pop()
        if isinstance(part, ir.Apply):
            found.add(part.symbol)
        left += children(part)
    return frozenset(found)


def substitute(expr: ir.Expr, values: Mapping[str, ir.Expr]) -> ir.Expr:
    """The formula with free names replaced; bound variables are renamed where they would capture."""
    if not values:
        return expr
    if isinstance(expr, ir.Local):
        return values.get(expr.name, expr)
    if not isinstance(expr, ir.Quantified):
        return map_children(expr, lambda part: substitute(part, values))
    own = {variable.name for variable in expr.variables}
    inside = free_locals(expr.body)
    relevant = {name: value for name, value in values.items() if name not in own and name in inside}
    if not relevant:
        return expr
    taken = set(inside) | {name for value in relevant.values() for name in free_locals(value)} | own
    captured = {name for value in relevant.values() for name in free_locals(value)}
    variables: list[ir.Bound] = []
    for variable in expr.variables:
        if variable.name in captured:
            fresh = fresh_name(variable.name, taken)
            taken.add(fresh)
            relevant[variable.name] = ir.Local(variable.type, fresh)
            variables.append(replace(variable, name=fresh))
        else:
            variables.append(variable)
    return replace(expr, variables=tuple(variables), body=substitute(expr.body, relevant))


def names_apart(expr: ir.Expr, around: Collection[str] = ()) -> ir.Expr:
    """The formula with no bound variable under a name that means something around it, as the language wants it."""
    if not isinstance(expr, ir.Quantified):
        return map_children(expr, lambda part: names_apart(part, around))
    taken = {*around, *free_locals(expr.body)}
    renamed: dict[str, ir.Expr] = {}
    variables: list[ir.Bound] = []
    for variable in expr.variables:
        name = fresh_name(variable.name, taken) if variable.name in around else variable.name
        taken.add(name)
        renamed[variable.name] = ir.Local(variable.type, name)
        variables.append(replace(variable, name=name))
    body = names_apart(substitute(expr.body, renamed), {*around, *(variable.name for variable in variables)})
    return replace(expr, variables=tuple(variables), body=body)


def fresh_name(base: str, taken: Iterable[str]) -> str:
    """A name like `base` that is not taken."""
    used = set(taken)
    number = 1
    while f"{base}_{number}" in used:
        number += 1
    return f"{base}_{number}"


def with_applications(expr: ir.Expr, change: Callable[[ir.Apply], ir.Expr]) -> ir.Expr:
    """The formula with every application replaced, innermost first. `change` may bring in free names
    only from the arguments that it is given, or names that no quantifier of the formula binds."""
    changed = map_children(expr, lambda part: with_applications(part, change))
    return change(changed) if isinstance(changed, ir.Apply) else changed


def outer_foralls(expr: ir.Expr) -> tuple[tuple[ir.Variable, ...], ir.Expr]:
    """The leading universal variables, and the formula inside; an inner variable hides an outer one of its name."""
    variables: list[ir.Variable] = []
    body = expr
    while isinstance(body, ir.Quantified) and body.kind == "forall" and all(b.domain is None for b in body.variables):
        names = {bound.name for bound in body.variables}
        variables = [variable for variable in variables if variable.name not in names]
        variables.extend(ir.Variable(bound.name, bound.type) for bound in body.variables)
        body = body.body
    return tuple(variables), body
