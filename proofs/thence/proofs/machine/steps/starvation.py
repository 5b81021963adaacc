"""Statements about waiting: `without starvation T`, as obligations and goals.

NOTE(starvation): a message m waits for transition T in a state where m was sent, every guard of T that T itself makes
false (`not network_sent(m)`) is true of m, and so is every guard about parameters of the system alone. For `deliver`,
m waits at each of its destinations until it is delivered there. The other guards give the things that m waits for. A
guard `forall x. P(m, x)` gives the set of all x for which P(m, x) is false; guards over variables of the same types
give one set together. Any other guard gives itself.

Without starvation says three things. First, no step after which m still waits adds to these sets, or makes a true
guard false: m waits only for things that it waited for from the beginning. Second, in a reachable quiescent state
(see NOTE(deadlock)) nothing waits for T: m does not wait for what need not come, such as a later message. Third, runs
come to rest: every transition but `causal_send` uses something up, a tuple of a relation that such transitions only
ever add to, or only ever take from, or a part of a number that they only ever raise, up to a limit that stands; a
transition that does so happens finitely often, and is left out when the others are looked at. The tuples are of
processes and of messages that were sent, since there may be infinitely many of numbers or of unsent messages.

Together: once nothing more is sent, T happens in every fair run to every message that waits for it. Where the
application never stops sending, what m waits for does not grow; that each of these things comes is not claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT
from thence.proofs.logic.formula import (
    FALSE,
    conj,
    disj,
    equal,
    exists,
    forall,
    fresh_name,
    holds,
    implies,
    local,
    negation,
    substitute,
    symbols_of,
)
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.goals import Change
from thence.proofs.machine.obligations import Conjunct, known_facts, signature_of
from thence.proofs.machine.steps.statements import LEFT, apart, effect, own_guards, quiescent
from thence.proofs.machine.transitions import Action, actions, after, symbols


@dataclass(frozen=True, slots=True)
class Part:
    """Things that a message waits for: the instances of `variables` for which `done` is false; without any, a guard."""

    variables: tuple[ir.Variable, ...]
    done: ir.Expr


@dataclass(frozen=True, slots=True)
class Waiting:
    """Waiting for a transition: see NOTE(starvation). `parameters` are those of the transition, named apart."""

    action: Action
    parameters: tuple[ir.Variable, ...]
    waits: ir.Expr
    parts: tuple[Part, ...]


def falsified(machine: ir.Machine, action: Action) -> tuple[Obligation, ...]:
    """The transition makes its guard false: one obligation for each of `own_guards`, in order. Uses no invariant."""
    return tuple(
        Obligation(
            f"{action.name} ends guard {number}",
            signature_of(machine),
            (*machine.axioms, *action.guards),
            ir.NamedFormula(f"guard {number} is false", negation(after(guard, action))),
            action.parameters,
        )
        for number, guard in enumerate(own_guards(action), 1)
    )


def waiting(action: Action, ends: Sequence[bool], fixed: frozenset[str] = frozenset()) -> Waiting:
    """The condition of waiting for the transition.

    Args:
        ends: for each own guard whether the transition makes it false.
        fixed: the parameters of the system.
    """
    guards = own_guards(action)
    not_yet = [guard for guard, ended in zip(guards, ends, strict=True) if ended]
    sent = [holds("sent", local(parameter)) for parameter in action.parameters if parameter.type == MESSAGE]
    not_yet += [guard for guard in guards if fixed.issuperset(symbols_of(guard)) and action.name != "deliver"]
    if action.name == "deliver":
        not_yet += _not_delivered(action)
    groups: dict[tuple[str, ...], list[tuple[tuple[ir.Variable, ...], ir.Expr]]] = {}
    for guard in guards:
        variables, body = _instances(guard)
        groups.setdefault(tuple(str(variable.type) for variable in variables), []).append((variables, body))
    parts: list[Part] = []
    for types, members in groups.items():
        if not types:
            parts.extend(Part((), body) for _, body in members)
            continue
        taken = {parameter.name for parameter in action.parameters}
        first, _ = members[0]
        common = tuple(
            ir.Variable(fresh_name(variable.name, taken) if variable.name in taken else variable.name, variable.type)
            for variable in first
        )
        parts.append(Part(common, conj(_renamed(body, variables, common) for variables, body in members)))
    parameters, waits = apart(action.parameters, conj((*sent, *not_yet)))
    named = (
        Part(apart(part.variables, FALSE)[0], apart((*action.parameters, *part.variables), part.done)[1])
        for part in parts
    )
    return Waiting(action, parameters, waits, tuple(named))


def _not_delivered(action: Action) -> list[ir.Expr]:
    """The message goes to the place where it is delivered, and is not delivered there."""
    arguments = tuple(local(parameter) for parameter in action.parameters)
    missing = negation(holds("delivered", *arguments))
    return [missing] if len(arguments) == 1 else [holds("to", *arguments), missing]


def _instances(guard: ir.Expr) -> tuple[tuple[ir.Variable, ...], ir.Expr]:
    if isinstance(guard, ir.Quantified) and guard.kind == "forall":
        outer = tuple(ir.Variable(bound.name, bound.type) for bound in guard.variables)
        inner, body = _instances(guard.body)
        return (*outer, *inner), body
    return (), guard


def _renamed(body: ir.Expr, old: Sequence[ir.Variable], new: Sequence[ir.Variable]) -> ir.Expr:
    return substitute(body, {was.name: local(now) for was, now in zip(old, new, strict=True)})


def starvation_obligations(machine: ir.Machine, state: Waiting, known: Iterable[Conjunct]) -> tuple[Obligation, ...]:
    """No step after which a message still waits, except the awaited one, adds to the things that it waits for."""
    signature, facts = signature_of(machine), known_facts(machine, known)
    found: list[Obligation] = []
    for number, part in enumerate(state.parts, 1):
        for action in actions(machine):
            other = []
            if action.name == state.action.name:
                pairs = zip(action.parameters, state.parameters, strict=True)
                different = disj(negation(equal(local(own), local(waits))) for own, waits in pairs)
                other.append(ir.NamedFormula("not the step that is waited for", different))
            hypotheses = (
                *facts,
                *action.guards,
                *other,
                ir.NamedFormula("waiting", state.waits),
                ir.NamedFormula("still waiting", after(state.waits, action)),
                ir.NamedFormula("not waited for", part.done),
            )
            goal = ir.NamedFormula("still not waited for", after(part.done, action))
            constants = (*action.parameters, *state.parameters, *part.variables)
            name = f"{action.name} adds nothing to part {number}"
            found.append(Obligation(name, signature, hypotheses, goal, constants))
    return tuple(found)


def additions(state: Waiting) -> tuple[Change, ...]:
    """The steps that add to the things that a message waits for, part by part."""
    return tuple(
        Change(
            (*state.parameters, *part.variables),
            conj((state.waits, part.done)),
            conj((state.waits, negation(part.done))),
            (state.action.name, len(state.parameters)),
        )
        for part in state.parts
    )


def waits_at_rest(machine: ir.Machine, state: Waiting) -> ir.NamedFormula:
    """In a quiescent state nothing waits for the transition."""
    body = implies(quiescent(machine), negation(state.waits))
    return ir.NamedFormula(f"nothing waits for {state.action.name} at rest", forall(state.parameters, body))


def waiting_message(state: Waiting) -> ir.Expr | None:
    """`LEFT` waits for the transition, with some values of its other parameters; None if it acts upon no message."""
    first = next((parameter for parameter in state.parameters if parameter.type == MESSAGE), None)
    if first is None:
        return None
    others = tuple(parameter for parameter in state.parameters if parameter != first)
    return exists(others, substitute(state.waits, {first.name: local(LEFT)}))


def nothing_waits(machine: ir.Machine, state: Waiting, known: Iterable[Conjunct]) -> Obligation:
    """In a quiescent state nothing waits for the transition, by the invariants alone."""
    rest = ir.NamedFormula("quiescent", quiescent(machine))
    hypotheses = (*known_facts(machine, known), rest, ir.NamedFormula("waiting", state.waits))
    name = f"nothing waits for {state.action.name} at rest"
    return Obligation(name, signature_of(machine), hypotheses, ir.NamedFormula("false", FALSE), state.parameters)


def one_way(
    machine: ir.Machine, among: Iterable[Action], relation: str, way: bool, known: Iterable[Conjunct]
) -> tuple[Obligation, ...]:
    """These transitions only ever add to the relation (`way`: true), or only ever take from it."""
    signature, facts = signature_of(machine), known_facts(machine, known)
    found: list[Obligation] = []
    for action in among:
        for update in action.updates:
            if update.symbol == relation:
                was = ir.Apply(BOOL, relation, update.arguments)
                before, then = (was, update.value) if way else (negation(was), negation(update.value))
                hypotheses = (*facts, *action.guards, ir.NamedFormula("before", before))
                verb = "takes nothing from" if way else "adds nothing to"
                goal = ir.NamedFormula("after", then)
                constants = (*action.parameters, *update.binders)
                found.append(Obligation(f"{action.name} {verb} {relation}", signature, hypotheses, goal, constants))
    return tuple(found)


def bounded_rise(
    machine: ir.Machine, among: Iterable[Action], function: str, bound: str, known: Iterable[Conjunct]
) -> tuple[Obligation, ...]:
    """These transitions never lessen a number, and raise it at most to the value of another function there."""
    signature, facts = signature_of(machine), known_facts(machine, known)
    found: list[Obligation] = []
    for action in among:
        for update in action.updates:
            if update.symbol == function:
                was = ir.Apply(NAT, function, update.arguments)
                limit = ir.Apply(NAT, bound, update.arguments)
                inside = disj((equal(update.value, was), ir.Comparison(BOOL, "<=", update.value, limit)))
                goal = ir.NamedFormula("after", conj((ir.Comparison(BOOL, "<=", was, update.value), inside)))
                constants = (*action.parameters, *update.binders)
                name = f"{action.name} raises {function} at most to {bound}"
                found.append(Obligation(name, signature, (*facts, *action.guards), goal, constants))
    return tuple(found)


def rises(machine: ir.Machine, among: Iterable[Action]) -> tuple[tuple[str, str], ...]:
    """The functions into nat that some of these transitions change, each with the functions that may bound it.

    A bound has the same parameters, and none of these transitions changes it.
    """
    changed = {update.symbol for action in among for update in action.updates}
    numbers = [symbol for symbol in symbols(machine) if symbol.result == NAT]
    return tuple(
        (one.name, other.name)
        for one in numbers
        for other in numbers
        if one.name in changed
        and other.name not in changed
        and [each.type for each in one.parameters] == [each.type for each in other.parameters]
    )


def uses_up(machine: ir.Machine, action: Action, ways: Mapping[str, bool], known: Iterable[Conjunct]) -> Obligation:
    """A step of the transition that has an effect changes one of the relations in their only way.

    It does so at arguments of which there are finitely many: messages are sent ones, and none is a number.
    """
    changes: list[ir.Expr] = []
    for update in action.updates:
        if update.symbol in ways and all(argument.type != NAT for argument in update.arguments):
            was = ir.Apply(update.value.type, update.symbol, update.arguments)
            sent = [holds("sent", argument) for argument in update.arguments if argument.type == MESSAGE]
            if update.value.type == NAT:
                raised = ir.Comparison(BOOL, "<", was, update.value)
                changes.append(exists(update.binders, conj((*sent, raised))))
                continue
            gained = (negation(was), update.value) if ways[update.symbol] else (was, negation(update.value))
            changes.append(exists(update.binders, conj((*sent, *gained))))
    hypotheses = (*known_facts(machine, known), *action.guards, ir.NamedFormula("effect", effect(action)))
    goal = ir.NamedFormula("uses something up", disj(changes))
    return Obligation(f"{action.name} uses something up", signature_of(machine), hypotheses, goal, action.parameters)


def changed_relations(machine: ir.Machine, among: Iterable[Action]) -> tuple[str, ...]:
    """The relations that some of these transitions change."""
    relations = {symbol.name for symbol in symbols(machine) if symbol.result == BOOL}
    changed = (update.symbol for action in among for update in action.updates)
    return tuple(dict.fromkeys(name for name in changed if name in relations))
