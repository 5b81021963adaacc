"""`count x. P(x)` for solvers: a function of the free names of P, with facts that are true of all finite sets.

NOTE(counting): the universe is finite, of any size: any number of processes and messages. (A run sends finitely many
messages, so a count of sent messages is the same whatever else the universe has.) Each count becomes a function
symbol, one for all counts of the same predicate, and an obligation gets these facts, each true in every finite
structure in which the symbol is the count:

    zero        c(y) = 0 iff no x has P(x, y)
    same        if P(x, y) iff Q(x, y) for all x, then c(y) = d(y)
    but one     if P(x, y) iff Q(x, y) for all x other than k, then c(y) + [Q(k, y)] = d(y) + [P(k, y)]
    at most     if P(x, y) implies Q(x, y) for all x, then c(y) <= d(y)
    one         c(y) <= 1 iff any two x, x' that have P(x, y) and P(x', y) are the same; for a count with free names
                that a formula compares with 1, which is then proved as its universal twin is

for counts c of P and d of Q over the same kind of elements and with the same kinds of free names, and for each k
of that kind that a transition acts upon: its arguments, and functions of them such as the sender of a message. These
facts determine the effect of adding or removing one element. They say little about any other change, so the solver
proves little about it. All of them are true, so nothing false can be proved.
In finite structures, where countermodels are looked for, counts are exact (`ground`, `structure`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Type
from thence.dsl.write.show import show_expression
from thence.proofs.logic.formula import (
    children,
    conj,
    disj,
    equal,
    forall,
    free_locals,
    implies,
    local,
    map_children,
    negation,
    refuse_domains,
    substitute,
)
from thence.proofs.logic.obligation import Obligation

_ONE, _NONE = ir.Literal_(NAT, 1), ir.Literal_(NAT, 0)


@dataclass(frozen=True, slots=True)
class Count:
    """A predicate that is counted: `body` over the variables `counted` and `free`, in canonical names."""

    counted: tuple[ir.Variable, ...]
    free: tuple[ir.Variable, ...]
    body: ir.Expr


def has_counts(expr: ir.Expr) -> bool:
    """Whether anything is counted in the formula."""
    return next(_counts(expr), None) is not None


def without_counts(obligation: Obligation, counts: Callable[[ir.Expr], bool] = has_counts) -> Obligation:
    """The obligation with functions for its counts, and the facts about them as hypotheses; see NOTE(counting).

    If the result is valid, the obligation is true in every finite structure. `counts`: as `has_counts`, which may have
    been found before.
    """
    return with_symbols(obligation, counts)[0]


def with_symbols(
    obligation: Obligation, counts: Callable[[ir.Expr], bool] = has_counts
) -> tuple[Obligation, Mapping[Count, ir.Symbol]]:
    """The obligation without its counts, and the function that stands for each count."""
    formulas = (*obligation.hypotheses, obligation.goal)
    counting = [counts(formula.body) for formula in formulas]
    if not any(counting):
        return obligation, {}
    symbols: dict[Count, ir.Symbol] = {}
    known = {constant.name for constant in obligation.constants}
    changed = [
        replace(formula, body=_replaced(formula.body, known, symbols)) if counted else formula
        for formula, counted in zip(formulas, counting, strict=True)
    ]
    compared = (_compared_with_one(formula.body) for formula, counted in zip(changed, counting, strict=True) if counted)
    few = frozenset[str]().union(*compared)
    facts = (*_facts(symbols, obligation), *_facts_about_one(symbols, few))
    signature = replace(obligation.signature, symbols=(*obligation.signature.symbols, *symbols.values()))
    *hypotheses, goal = changed
    return replace(obligation, signature=signature, hypotheses=(*hypotheses, *facts), goal=goal), symbols


def _counts(expr: ir.Expr) -> Iterator[ir.Quantified]:
    if isinstance(expr, ir.Quantified) and expr.kind == "count":
        yield expr
    for part in children(expr):
        yield from _counts(part)


def _replaced(expr: ir.Expr, known: Collection[str], symbols: dict[Count, ir.Symbol]) -> ir.Expr:
    """The formula with applications in the place of its counts, innermost first; new predicates enter `symbols`.

    `known` are the constants of the obligation, which a predicate may name where no quantifier binds that name.
    """
    inside = set(known)
    if isinstance(expr, ir.Quantified):
        inside -= {bound.name for bound in expr.variables}
    changed = map_children(expr, lambda part: _replaced(part, inside, symbols))
    if not isinstance(changed, ir.Quantified) or changed.kind != "count":
        return changed
    refuse_domains(changed)
    count, arguments = _canonical(changed, known)
    if count not in symbols:
        symbols[count] = ir.Symbol(f"count {len(symbols) + 1}", count.free, NAT)
    return ir.Apply(NAT, symbols[count].name, arguments)


def _canonical(expr: ir.Quantified, known: Collection[str]) -> tuple[Count, tuple[ir.Expr, ...]]:
    """The predicate in canonical names, and the names that are free in the count, in the order of the predicate's."""
    own = {bound.name for bound in expr.variables} | set(known)
    outside = [(name, type_) for name, type_ in free_locals(expr.body).items() if name not in own]
    free = tuple(ir.Variable(f"y'{number}", type_) for number, (_, type_) in enumerate(outside))
    counted = tuple(ir.Variable(f"x'{number}", bound.type) for number, bound in enumerate(expr.variables))
    values: dict[str, ir.Expr] = {name: local(new) for (name, _), new in zip(outside, free, strict=True)}
    values |= {bound.name: local(new) for bound, new in zip(expr.variables, counted, strict=True)}
    body = _with_canonical_binders(substitute(expr.body, values), 0)
    return Count(counted, free, body), tuple(ir.Local(type_, name) for name, type_ in outside)


def _with_canonical_binders(expr: ir.Expr, depth: int) -> ir.Expr:
    """The formula with its bound variables named by their depth, so that equal formulas look equal."""
    if isinstance(expr, ir.Quantified):
        fresh = tuple(ir.Variable(f"z'{depth + n}", bound.type) for n, bound in enumerate(expr.variables))
        values: dict[str, ir.Expr] = {old.name: local(new) for old, new in zip(expr.variables, fresh, strict=True)}
        body = substitute(expr.body, values)
        bounds = tuple(replace(bound, name=new.name) for bound, new in zip(expr.variables, fresh, strict=True))
        return replace(expr, variables=bounds, body=_with_canonical_binders(body, depth + len(bounds)))
    return map_children(expr, lambda part: _with_canonical_binders(part, depth))


# --- the facts ---------------------------------------------------------------------------------


def _facts(symbols: Mapping[Count, ir.Symbol], obligation: Obligation) -> Iterator[ir.NamedFormula]:
    for count, symbol in symbols.items():
        yield _fact(f"{symbol.name} is zero", count, _zero(count, _value(symbol)))
    for (one, c), (other, d) in combinations(symbols.items(), 2):
        if one.counted != other.counted:
            continue
        for matched, value in _matched(one, other, d):
            words = f"{c.name} and {d.name}"
            alike = forall(one.counted, _iff(one.body, matched))
            yield _fact(f"{words}: same", one, implies(alike, equal(_value(c), value)))
            yield _fact(f"{words}: at most", one, _at_most(one, (one.body, _value(c)), (matched, value)))
            yield _fact(f"{words}: at least", one, _at_most(one, (matched, value), (one.body, _value(c))))
            for at in _places(one.counted, obligation):
                named = ", ".join(show_expression(place) for place in at)
                yield _fact(f"{words}: but {named}", one, _but_one(one, matched, _value(c), value, at))


def _compared_with_one(expr: ir.Expr) -> frozenset[str]:
    """The symbols of which the formula says `f(...) <= 1`, `f(...) < 2` or `f(...) = 1`."""
    inner = frozenset[str]().union(*(_compared_with_one(part) for part in children(expr)))
    match expr:
        case ir.Comparison(operator="<=" | "=", left=ir.Apply(symbol=symbol), right=ir.Literal_(value=1)):
            return inner | {symbol}
        case ir.Comparison(operator="<", left=ir.Apply(symbol=symbol), right=ir.Literal_(value=2)):
            return inner | {symbol}
        case _:
            return inner


def _facts_about_one(symbols: Mapping[Count, ir.Symbol], few: Collection[str]) -> Iterator[ir.NamedFormula]:
    for count, symbol in symbols.items():
        if symbol.name in few and count.free:
            at_most = ir.Comparison(BOOL, "<=", _value(symbol), _ONE)
            unique = none_but_one(count.counted, count.body)
            yield _fact(f"{symbol.name} is at most one", count, _iff(at_most, unique))


def none_but_one(counted: Sequence[ir.Variable], body: ir.Expr) -> ir.Expr:
    """Any two for which the body is true are the same."""
    others = tuple(replace(variable, name=f"{variable.name}'") for variable in counted)
    values: dict[str, ir.Expr] = {x.name: local(y) for x, y in zip(counted, others, strict=True)}
    alike = conj(equal(local(x), local(y)) for x, y in zip(counted, others, strict=True))
    return forall((*counted, *others), implies(conj((body, substitute(body, values))), alike))


def _matched(one: Count, other: Count, symbol: ir.Symbol) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """The body and the count of `other` at the free names of `one`, in every way that fits their types."""
    for chosen in permutations(one.free, len(other.free)):
        if len(one.free) == len(other.free) and all(a.type == b.type for a, b in zip(chosen, other.free, strict=True)):
            values: dict[str, ir.Expr] = {old.name: local(new) for old, new in zip(other.free, chosen, strict=True)}
            arguments = tuple(local(variable) for variable in chosen)
            yield substitute(other.body, values), ir.Apply(NAT, symbol.name, arguments)


def _fact(name: str, count: Count, body: ir.Expr) -> ir.NamedFormula:
    return ir.NamedFormula(name, forall(count.free, body))


def _value(symbol: ir.Symbol) -> ir.Expr:
    return ir.Apply(NAT, symbol.name, tuple(local(parameter) for parameter in symbol.parameters))


def _zero(count: Count, value: ir.Expr) -> ir.Expr:
    return _iff(equal(value, _NONE), forall(count.counted, negation(count.body)))


def _at_most(one: Count, less: tuple[ir.Expr, ir.Expr], more: tuple[ir.Expr, ir.Expr]) -> ir.Expr:
    within = forall(one.counted, implies(less[0], more[0]))
    return implies(within, ir.Comparison(BOOL, "<=", less[1], more[1]))


def _but_one(one: Count, other: ir.Expr, c: ir.Expr, d: ir.Expr, at: tuple[ir.Expr, ...]) -> ir.Expr:
    elsewhere = disj(negation(equal(local(x), k)) for x, k in zip(one.counted, at, strict=True))
    alike = forall(one.counted, implies(elsewhere, _iff(one.body, other)))
    values: dict[str, ir.Expr] = {x.name: k for x, k in zip(one.counted, at, strict=True)}
    here, there = substitute(one.body, values), substitute(other, values)
    return implies(alike, equal(_plus(c, there), _plus(d, here)))


def _plus(value: ir.Expr, condition: ir.Expr) -> ir.Expr:
    return ir.Arithmetic(NAT, "+", value, ir.Conditional(NAT, condition, _ONE, _NONE))


def _iff(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Connective(BOOL, "iff", left, right)


def _places(counted: tuple[ir.Variable, ...], obligation: Obligation) -> Iterator[tuple[ir.Expr, ...]]:
    """The elements that a transition may act upon: constants, and functions of one of them."""
    constants = [local(constant) for constant in obligation.constants]

    def of(type_: Type) -> list[ir.Expr]:
        reached = [
            ir.Apply(symbol.result, symbol.name, (constant,))
            for symbol in obligation.signature.symbols
            for constant in constants
            if symbol.result == type_ and [parameter.type for parameter in symbol.parameters] == [constant.type]
        ]
        return [*(constant for constant in constants if constant.type == type_), *reached]

    return product(*(of(variable.type) for variable in counted))
