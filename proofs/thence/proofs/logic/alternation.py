"""What a formula does to the terms that a solver instantiates it with: from which sort to which it makes new ones.

The formula is read as it is after negation has been pushed in and existential variables have become Skolem functions.
A variable that is universal then is *outer*; two things make new elements of it:

    alternation   an existential variable below it: `forall m. exists p. ...` makes a process of each message
    growth        a term that contains it: `src(m)` makes a process of each message

An existential variable depends on the universal ones that its quantified formula has free, through other existential
variables too. Both sides of `iff`, and formulas that stand for a value (the condition of an `if`), are read in both
polarities. Truth values are finitely many, so nothing grows by them; nor by variables that nothing speaks of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, NAT, Type
from thence.dsl.text.syntax import Span
from thence.dsl.write.show import show_expression
from thence.proofs.logic.formula import Unsupported, free_locals, refuse_domains

Kind: TypeAlias = Literal["forall", "exists", "count", "sum"]

Why: TypeAlias = Literal["ranges over all numbers", "is known to solvers by some facts only", "is a product"]


@dataclass(frozen=True, slots=True)
class Place:
    """A formula of an obligation by its name, and the line in it; 0 where it has none, because it is built in."""

    formula: str
    is_goal: bool
    line: int

    def __str__(self) -> str:
        name = f"the goal {self.formula}" if self.is_goal else self.formula
        return f"{name} (line {self.line})" if self.line else name


@dataclass(frozen=True, slots=True)
class Quantifier:
    """A variable as the text quantifies it, which a negation may turn round."""

    kind: Kind
    name: str
    type: Type

    def __str__(self) -> str:
        name = self.name.lstrip("#").partition("#")[0].rstrip("'")  # without what keeps names apart
        return f"{self.kind} {name or self.name}: {self.type}"


@dataclass(frozen=True, slots=True)
class Alternation:
    """For each value of `outer` there is one of `inner`."""

    outer: Quantifier
    inner: Quantifier
    place: Place

    @property
    def ends(self) -> tuple[str, str]:
        """The sorts of the edge."""
        return str(self.outer.type), str(self.inner.type)

    def __str__(self) -> str:
        as_written = self.outer.kind != "exists" and self.inner.kind == "exists"
        return f"`{self.outer}. {self.inner}`{'' if as_written else ' under negation'} in {self.place}"


@dataclass(frozen=True, slots=True)
class Growth:
    """For each value of `outer` there is one of the term."""

    outer: Quantifier
    term: ir.Expr
    place: Place

    @property
    def ends(self) -> tuple[str, str]:
        """The sorts of the edge."""
        return str(self.outer.type), str(self.term.type)

    @property
    def function(self) -> str:
        """The name of the function if the term is one of variables; else empty."""
        if isinstance(self.term, ir.Apply) and all(isinstance(part, ir.Local) for part in self.term.arguments):
            own = [part for part in self.term.arguments if part.type == self.outer.type]
            return self.term.symbol if own else ""
        return ""

    def __str__(self) -> str:
        source, target = self.ends
        if self.function:
            return f"function `{self.function}` ({source} -> {target})"
        return f"`{show_expression(self.term)}` ({source} -> {target}) in {self.place}"


Edge: TypeAlias = Alternation | Growth


@dataclass(frozen=True, slots=True)
class Departure:
    """A variable or term that instances by finitely many terms do not decide, and the reason."""

    what: str
    why: Why
    place: Place

    def __str__(self) -> str:
        return f"`{self.what}` in {self.place} {self.why}"


@dataclass(slots=True)
class Reading:
    """Edges and departures of a formula, in the order of its text. `has_numbers`: it speaks of numbers."""

    edges: dict[Edge, None] = field(default_factory=dict)
    departures: dict[Departure, None] = field(default_factory=dict)
    has_numbers: bool = False


def read(formula: ir.NamedFormula, *, is_goal: bool = False) -> Reading:
    """Reads a hypothesis, or the goal, which is negated. Raises: Unsupported outside theories and machines."""
    found = Reading()
    _Walk(found, formula, is_goal).formula(formula.body, {}, not is_goal)
    return found


_Environment: TypeAlias = Mapping[str, tuple[Quantifier, ...]]
"""For each bound name the universal variables that its value depends on; of a universal one itself."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """The way through one formula."""

    found: Reading
    stated: ir.NamedFormula
    is_goal: bool

    def formula(self, expr: ir.Expr, env: _Environment, positive: bool) -> None:
        match expr:
            case ir.Literal_() | ir.Zero() | ir.Local():
                pass
            case ir.Not():
                self.formula(expr.operand, env, not positive)
            case ir.Connective(operator="iff"):
                self.both(expr.left, env)
                self.both(expr.right, env)
            case ir.Connective():
                self.formula(expr.left, env, positive is not (expr.operator == "implies"))
                self.formula(expr.right, env, positive)
            case ir.Comparison():
                self.term(expr.left, env)
                self.term(expr.right, env)
            case ir.Apply():
                for argument in expr.arguments:
                    self.term(argument, env)
            case ir.Conditional():
                self.both(expr.condition, env)
                self.formula(expr.then, env, positive)
                self.formula(expr.otherwise, env, positive)
            case ir.Quantified():
                self.quantified(expr, env, positive)
            case _:
                raise Unsupported(f"`{type(expr).__name__}` has no meaning in a theory or machine")

    def both(self, expr: ir.Expr, env: _Environment) -> None:
        """Reads a formula in both polarities."""
        self.formula(expr, env, True)
        self.formula(expr, env, False)

    def quantified(self, expr: ir.Quantified, env: _Environment, positive: bool) -> None:
        refuse_domains(expr)
        inner = dict(env)
        on = _together(env.get(name, ()) for name in free_locals(expr))
        used = free_locals(expr.body)
        for bound in expr.variables:
            own = Quantifier(expr.kind, bound.name, bound.type)
            if bound.type == BOOL or bound.name not in used:
                inner[bound.name] = ()
            elif (expr.kind == "forall") is positive:
                inner[bound.name] = (own,)
                if bound.type == NAT:
                    self.depart(str(own), "ranges over all numbers", expr.span)
            else:
                inner[bound.name] = on
                self.count_numbers(bound.type)
                for outer in on:
                    self.found.edges[Alternation(outer, own, self.place(expr.span))] = None
        self.formula(expr.body, inner, positive)

    def term(self, expr: ir.Expr, env: _Environment) -> tuple[Quantifier, ...]:
        """Reads a term, or a truth value; the universal variables that it depends on."""
        if expr.type == BOOL:
            self.both(expr, env)
            return ()
        self.count_numbers(expr.type)
        match expr:
            case ir.Literal_() | ir.Zero():
                return ()
            case ir.Local():
                return env.get(expr.name, ())
            case ir.Apply():
                return self.grown(expr, _together(self.term(argument, env) for argument in expr.arguments))
            case ir.Arithmetic():
                if expr.operator == "*" and not any(isinstance(e, ir.Literal_) for e in (expr.left, expr.right)):
                    self.depart(show_expression(expr), "is a product", expr.span)
                return _together((self.term(expr.left, env), self.term(expr.right, env)))
            case ir.Conditional():
                self.both(expr.condition, env)
                return _together((self.term(expr.then, env), self.term(expr.otherwise, env)))
            case ir.Quantified():
                refuse_domains(expr)
                self.depart(show_expression(expr), "is known to solvers by some facts only", expr.span)
                counted = {each.name: (Quantifier(expr.kind, each.name, each.type),) for each in expr.variables}
                self.both(expr.body, {**env, **counted})
                return self.grown(expr, _together(env.get(name, ()) for name in free_locals(expr)))
            case _:
                raise Unsupported(f"`{type(expr).__name__}` has no meaning in a theory or machine")

    def grown(self, term: ir.Expr, on: tuple[Quantifier, ...]) -> tuple[Quantifier, ...]:
        for outer in on:
            self.found.edges[Growth(outer, term, self.place(term.span))] = None
        return on

    def depart(self, what: str, why: Why, span: Span) -> None:
        self.found.has_numbers = True
        self.found.departures[Departure(what, why, self.place(span))] = None

    def count_numbers(self, type_: Type) -> None:
        self.found.has_numbers |= type_ == NAT

    def place(self, span: Span) -> Place:
        return Place(self.stated.name, self.is_goal, span.line or self.stated.span.line)


def _together(parts: Iterable[tuple[Quantifier, ...]]) -> tuple[Quantifier, ...]:
    """The variables of all parts, each once, in order."""
    return tuple(dict.fromkeys(variable for part in parts for variable in part))
