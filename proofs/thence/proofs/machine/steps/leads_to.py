"""Statements `eventually NAME: P leads to Q by: ...` of machines, as obligations.

NOTE(leads-to): a statement has parameters, and steps in an order. Step k is a transition with arguments, for each value
of its variables of which `left` is true; these are the tuples that are left of step k. The statement is pending where P
is true and Q is not. Seven kinds of obligations, for all reachable states, which the proved invariants describe:

1. A step of the machine from a pending state leads to one where P or Q is true.
2. Where such a step leads to a pending state and adds a tuple to what is left of step k, it takes one from what is left
   of a step before k.
3. When step k happens to a tuple that is left, then Q is true, or the tuple is left no more, or a tuple of an earlier
   step is.
4. Any other step of the machine keeps step k enabled for a tuple that is left, unless the same is true.
5. In a pending state some step is enabled for a tuple that is left of it.
6. Messages that are left of a step have been sent.
7. Where an argument of step k may change: a step of the machine keeps it for a tuple that is left, unless the same is
   true. So what stays enabled is one and the same instance of the transition.

Then every run that is weakly fair to these transitions keeps the statement (docs/explanation/liveness.md has the
proof). 5 may use that what is left is finite, so that if anything is, then something is that comes first in a strict
order; that an order is strict is an obligation, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT
from thence.proofs.logic.formula import (
    conj,
    disj,
    equal,
    exists,
    forall,
    holds,
    implies,
    local,
    negation,
    substitute,
    symbols_of,
)
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.obligations import Conjunct, known_facts, signature_of
from thence.proofs.machine.steps.statements import quiescent
from thence.proofs.machine.transitions import Action, actions, after, symbols

_PARTIAL = ("before", "delivered_before")
"""Orders that are parts of others."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step with its number, its transition, and what is left of it; names are apart from those of transitions."""

    number: int
    action: Action
    variables: tuple[ir.Variable, ...]
    arguments: tuple[ir.Expr, ...]
    left: ir.Expr

    @property
    def words(self) -> str:
        """Its number and its transition."""
        return f"step {self.number} ({self.action.name})"

    @property
    def enabled(self) -> ir.Expr:
        """The guard of the transition, for these arguments."""
        pairs = zip(self.action.parameters, self.arguments, strict=True)
        return substitute(self.action.guard, {parameter.name: argument for parameter, argument in pairs})

    @property
    def happens(self) -> ir.Expr:
        """The transition's parameters are these arguments."""
        pairs = zip(self.action.parameters, self.arguments, strict=True)
        return conj(equal(local(parameter), argument) for parameter, argument in pairs)


@dataclass(frozen=True, slots=True)
class Pursuit:
    """A statement with its names apart from those of transitions: see NOTE(leads-to)."""

    name: str
    parameters: tuple[ir.Variable, ...]
    given: ir.Expr
    goal: ir.Expr
    steps: tuple[Step, ...]

    @property
    def pending(self) -> ir.Expr:
        return conj((self.given, negation(self.goal)))


@dataclass(frozen=True, slots=True)
class First:
    """That something comes first, of the values of one variable for which a step is left.

    `order`: a relation between such values, or a function from them into numbers.
    """

    step: Step
    variable: ir.Variable
    order: ir.Symbol

    @property
    def by_number(self) -> bool:
        """The order is that of the numbers which a function gives, and so is strict."""
        return self.order.result == NAT

    def comes_before(self, one: ir.Variable, other: ir.Variable) -> ir.Expr:
        name = self.order.name
        if self.by_number:
            numbers = (ir.Apply(NAT, name, (local(each),)) for each in (one, other))
            return ir.Comparison(BOOL, "<", *numbers)
        return holds(name, local(one), local(other))


def pursuit(machine: ir.Machine, statement: ir.LeadsTo) -> Pursuit:
    """The statement with fresh names.

    They end with two primes: a bound name that `after` keeps apart from a transition's parameters has one.
    """
    known = {action.name: action for action in actions(machine)}
    parameters = tuple(map(_apart, statement.parameters))
    outer: dict[str, ir.Expr] = {
        old.name: local(new) for old, new in zip(statement.parameters, parameters, strict=True)
    }
    steps: list[Step] = []
    for number, step in enumerate(statement.steps, 1):
        variables = tuple(map(_apart, step.variables))
        values = {**outer, **{old.name: local(new) for old, new in zip(step.variables, variables, strict=True)}}
        arguments = tuple(substitute(argument, values) for argument in step.arguments)
        steps.append(Step(number, known[step.transition], variables, arguments, substitute(step.left, values)))
    given, goal = substitute(statement.given, outer), substitute(statement.goal, outer)
    return Pursuit(statement.name, parameters, given, goal, tuple(steps))


def _apart(variable: ir.Variable) -> ir.Variable:
    return ir.Variable(f"{variable.name}''", variable.type)


# --- obligations -------------------------------------------------------------------------------


def leads_to_obligations(machine: ir.Machine, claim: Pursuit, known: Iterable[Conjunct]) -> tuple[Obligation, ...]:
    """Obligations 1 to 4, 6 and 7, of NOTE(leads-to)."""
    signature, facts = signature_of(machine), known_facts(machine, known)
    pending = ir.NamedFormula("pending", claim.pending)
    found: list[Obligation] = []

    def add(name: str, hypotheses: Iterable[ir.NamedFormula], goal: ir.Expr, free: Sequence[ir.Variable]) -> None:
        constants = (*claim.parameters, *free)
        found.append(Obligation(name, signature, (*facts, *hypotheses), ir.NamedFormula("goal", goal), constants))

    for action in actions(machine):
        still = after(disj((claim.given, claim.goal)), action)
        name = f"{action.name} leaves {claim.name} pending or true"
        add(name, (*action.guards, pending), still, action.parameters)
        not_yet = ir.NamedFormula("still not true", after(negation(claim.goal), action))
        for step in claim.steps:
            free = (*action.parameters, *step.variables)
            hypotheses = (*action.guards, pending, not_yet)
            done = ir.NamedFormula("not left", negation(step.left))
            goal = disj((after(negation(step.left), action), takes_something(claim.steps[: step.number - 1], action)))
            add(f"{action.name} adds nothing to {step.words}", (*hypotheses, done), goal, free)
            left = ir.NamedFormula("left", step.left)
            less = disj((after(negation(step.left), action), takes_something(claim.steps[: step.number - 1], action)))
            enabled = ir.NamedFormula("enabled", step.enabled)
            other: tuple[ir.NamedFormula, ...] = ()
            if action.name == step.action.name:
                taken = ir.NamedFormula("the step itself", step.happens)
                add(f"{action.name} is done as {step.words}", (*hypotheses, left, taken), less, free)
                other = (ir.NamedFormula("not the step itself", negation(step.happens)),)
            kept = disj((after(step.enabled, action), less))
            name = f"{action.name} keeps {step.words} enabled"
            add(name, (*hypotheses, left, enabled, *other), kept, free)
            moving = [each for each in step.arguments if symbols_of(each) & action.changed]
            if moving:
                fixed = conj(equal(after(each, action), each) for each in moving)
                add(
                    f"{action.name} keeps the arguments of {step.words}", (*hypotheses, left), disj((fixed, less)), free
                )
    if machine.delivery != "off":
        for step in claim.steps:
            messages = [variable for variable in step.variables if variable.type == MESSAGE]
            if messages:
                sent = conj(holds("sent", local(message)) for message in messages)
                left = ir.NamedFormula("left", step.left)
                add(f"{step.words} is left for messages that were sent", (pending, left), sent, step.variables)
    return tuple(found)


def takes_something(steps: Iterable[Step], action: Action) -> ir.Expr:
    """The transition takes something from what is left of one of these steps."""
    return disj(exists(each.variables, conj((each.left, after(negation(each.left), action)))) for each in steps)


def progress(machine: ir.Machine, claim: Pursuit, first: Sequence[First], known: Iterable[Conjunct]) -> Obligation:
    """Obligation 5 of NOTE(leads-to): some step is enabled for something that is left of it."""
    hypotheses = (
        *known_facts(machine, known),
        ir.NamedFormula("pending", claim.pending),
        *(ir.NamedFormula(words(each), _comes_first(each)) for each in first),
    )
    enabled = disj(exists(step.variables, conj((step.left, step.enabled))) for step in claim.steps)
    goal = ir.NamedFormula("a step is enabled", enabled)
    name = f"a step is enabled while {claim.name} is pending"
    return Obligation(name, signature_of(machine), hypotheses, goal, claim.parameters)


def words(first: First) -> str:
    """What comes first, in words."""
    variable, how = first.variable.name.rstrip("'"), "by" if first.by_number else "in"
    return f"a first {variable} of step {first.step.number} {how} {first.order.name}"


def _comes_first(first: First) -> ir.Expr:
    """If the step is left for something, then for something before which, in the order, it is left for nothing."""
    step, variable = first.step, first.variable
    others = tuple(each for each in step.variables if each != variable)
    earlier = ir.Variable(f"{variable.name}'", variable.type)
    left = exists(others, step.left)
    none_before = forall(
        (earlier,),
        implies(first.comes_before(earlier, variable), negation(substitute(left, {variable.name: local(earlier)}))),
    )
    return implies(exists((variable,), left), exists((variable,), conj((left, none_before))))


def possible_orders(machine: ir.Machine, claim: Pursuit) -> Iterator[First]:
    """For each variable of a step, the relations that may order its values, and the functions that number them."""
    for step in claim.steps:
        for variable in step.variables:
            for symbol in symbols(machine):
                types = [parameter.type for parameter in symbol.parameters]
                related = symbol.result == BOOL and types == [variable.type, variable.type]
                if symbol.name not in _PARTIAL and (related or (symbol.result == NAT and types == [variable.type])):
                    yield First(step, variable, symbol)


def strict_order(machine: ir.Machine, first: First, known: Iterable[Conjunct]) -> tuple[Obligation, Obligation]:
    """The order is irreflexive and transitive in every reachable state."""
    a, b, c = (ir.Variable(name, first.variable.type) for name in "abc")
    signature, facts, order = signature_of(machine), known_facts(machine, known), first.order.name
    related = first.comes_before
    never = forall((a,), negation(related(a, a)))
    on = forall((a, b, c), implies(conj((related(a, b), related(b, c))), related(a, c)))
    return (
        Obligation(f"{order} is irreflexive", signature, facts, ir.NamedFormula("irreflexive", never)),
        Obligation(f"{order} is transitive", signature, facts, ir.NamedFormula("transitive", on)),
    )


# --- runs --------------------------------------------------------------------------------------


def never_pending(statement: ir.LeadsTo) -> ir.NamedFormula:
    """Nowhere is P true and Q not: a statement of which this is true says nothing."""
    return ir.NamedFormula(statement.name, forall(statement.parameters, negation(_pending(statement))))


def not_pending_at_rest(machine: ir.Machine, statement: ir.LeadsTo) -> ir.NamedFormula:
    """Where nothing but sends can happen, the statement is not pending. A run to another state refutes it.

    Such a run may end there, and is fair to every transition but `causal_send`.
    """
    body = implies(quiescent(machine), negation(_pending(statement)))
    return ir.NamedFormula(statement.name, forall(statement.parameters, body))


def _pending(statement: ir.LeadsTo) -> ir.Expr:
    return conj((statement.given, negation(statement.goal)))
