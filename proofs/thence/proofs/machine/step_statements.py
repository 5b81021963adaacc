"""Statements about steps of a machine: `stable`, `without starvation`, `without deadlock`, as obligations and goals.

NOTE(starvation): a message m waits for transition T in a state where m was sent and every guard of T that T itself
makes false (`not network_sent(m)`) is true of m. The other guards give the things that m waits for. A guard
`forall x. P(m, x)` gives the set of all x for which P(m, x) is false; guards over variables of the same types give one
set together. Any other guard gives itself. Without starvation: no step after which m still waits adds to these sets, or
makes a true guard false. So m waits only for things that it waited for from the beginning, and they only become fewer.

NOTE(deadlock): a state is quiescent if no transition but `causal_send` is enabled with an effect. Without deadlock: in
a reachable quiescent state every message that was sent has been delivered at its destinations. The proof uses least
elements: only finitely many messages were sent, so in any strict order some messages with a property come first. A
machine that never rests has no deadlock, so a quiescent state with a delivery must also be reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
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
)
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.obligations import Conjunct, known_facts, signature_of
from thence.proofs.machine.reachability import Change
from thence.proofs.machine.transitions import Action, actions, after

# --- stable ------------------------------------------------------------------------------------


def _apart(variables: Sequence[ir.Variable], body: ir.Expr) -> tuple[tuple[ir.Variable, ...], ir.Expr]:
    """The variables under names that no file can have, so that they are not those of a transition's parameters."""
    named = tuple(ir.Variable(f"{variable.name}'", variable.type) for variable in variables)
    values: dict[str, ir.Expr] = {old.name: local(new) for old, new in zip(variables, named, strict=True)}
    return named, substitute(body, values)


def stable_obligations(machine: ir.Machine, stable: ir.Stable, known: Iterable[Conjunct]) -> tuple[Obligation, ...]:
    """Every transition keeps the formula true where it is true."""
    signature, facts, name = signature_of(machine), known_facts(machine, known), stable.formula.name
    parameters, body = _apart(stable.parameters, stable.formula.body)
    return tuple(
        Obligation(
            f"{action.name} keeps {name} true",
            signature,
            (*facts, *action.guards, ir.NamedFormula(name, body)),
            ir.NamedFormula(name, after(body, action)),
            (*action.parameters, *parameters),
        )
        for action in actions(machine)
    )


def loss(stable: ir.Stable) -> Change:
    """A step that makes a stable formula false."""
    parameters, body = _apart(stable.parameters, stable.formula.body)
    return Change(parameters, body, negation(body))


# --- starvation --------------------------------------------------------------------------------


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


def own_guards(action: Action) -> tuple[ir.Expr, ...]:
    """The guards of a transition, split into the smallest conjuncts."""
    return tuple(part for guard in action.guards for part in _split(guard.body))


def _split(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    if isinstance(expr, ir.Connective) and expr.operator == "and":
        return (*_split(expr.left), *_split(expr.right))
    if isinstance(expr, ir.Quantified) and expr.kind == "forall":
        inner = _split(expr.body)
        return tuple(ir.Quantified(BOOL, "forall", expr.variables, part) for part in inner)
    return (expr,)


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


def waiting(action: Action, ends: Sequence[bool]) -> Waiting:
    """The condition of waiting for the transition; `ends`: for each own guard whether the transition makes it false."""
    guards = own_guards(action)
    not_yet = [guard for guard, ended in zip(guards, ends, strict=True) if ended]
    sent = [holds("sent", local(parameter)) for parameter in action.parameters if parameter.type == MESSAGE]
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
    parameters, waits = _apart(action.parameters, conj((*sent, *not_yet)))
    apart = (
        Part(_apart(part.variables, FALSE)[0], _apart((*action.parameters, *part.variables), part.done)[1])
        for part in parts
    )
    return Waiting(action, parameters, waits, tuple(apart))


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


# --- deadlock ----------------------------------------------------------------------------------


def quiescent(machine: ir.Machine) -> ir.Expr:
    """No transition but `causal_send` is enabled with an effect."""
    busy = (action for action in actions(machine) if action.name != "causal_send")
    return conj(forall(action.parameters, negation(conj((action.guard, _effect(action))))) for action in busy)


def _effect(action: Action) -> ir.Expr:
    changed = (
        exists(
            update.binders,
            negation(equal(update.value, ir.Apply(update.value.type, update.symbol, update.arguments))),
        )
        for update in action.updates
    )
    return disj(changed)


def undelivered(machine: ir.Machine, message: ir.Expr) -> ir.Expr:
    """The message was sent and has not been delivered everywhere."""
    sent = holds("sent", message)
    if machine.delivery == "unicast":
        return conj((sent, negation(holds("delivered", message))))
    place = ir.Variable("p'", PROCESS)
    missing = conj((holds("to", message, local(place)), negation(holds("delivered", message, local(place)))))
    return conj((sent, exists((place,), missing)))


def at_rest(machine: ir.Machine) -> ir.Expr:
    """A quiescent state in which something has been delivered: without one, `without deadlock` says nothing."""
    m, p = ir.Variable("m", MESSAGE), ir.Variable("p'", PROCESS)
    places = (p,) if machine.delivery != "unicast" else ()
    delivered = holds("delivered", local(m), *(local(place) for place in places))
    return conj((quiescent(machine), exists((m, *places), delivered)))


def no_deadlock(machine: ir.Machine) -> ir.NamedFormula:
    """The statement as a formula that is true in every reachable state."""
    m = ir.Variable("m", MESSAGE)
    body = implies(quiescent(machine), negation(undelivered(machine, local(m))))
    return ir.NamedFormula(WITHOUT_DEADLOCK, forall((m,), body))


@dataclass(frozen=True, slots=True)
class DeadlockStage:
    """A stage of the proof: in a quiescent state, `left` is true of no message that was sent.

    Attributes:
        words: `left` in words.
        order: a relation that orders messages strictly.
    """

    words: str
    left: ir.Expr
    order: str


LEFT = ir.Variable("m", MESSAGE)
"""The free name of a stage's `left`."""


def orders(machine: ir.Machine) -> tuple[str, ...]:
    """Relations that may order messages: happens-before, and those that the machine declares between messages."""
    declared = (
        symbol.name
        for symbol in machine.symbols
        if symbol.result == BOOL and [parameter.type for parameter in symbol.parameters] == [MESSAGE, MESSAGE]
    )
    return ("hb", *declared)


def strictly_orders(machine: ir.Machine, relation: str, known: Iterable[Conjunct]) -> tuple[Obligation, Obligation]:
    """A relation is irreflexive and transitive in every reachable state."""
    a, b, c = (ir.Variable(name, MESSAGE) for name in "abc")
    signature, facts = signature_of(machine), known_facts(machine, known)

    def related(first: ir.Variable, second: ir.Variable) -> ir.Expr:
        return holds(relation, local(first), local(second))

    never = forall((a,), negation(related(a, a)))
    on = forall((a, b, c), implies(conj((related(a, b), related(b, c))), related(a, c)))
    return (
        Obligation(f"{relation} is irreflexive", signature, facts, ir.NamedFormula("irreflexive", never)),
        Obligation(f"{relation} is transitive", signature, facts, ir.NamedFormula("transitive", on)),
    )


def goal_stages(machine: ir.Machine, ordering: Sequence[str]) -> tuple[DeadlockStage, ...]:
    """The stages that end the proof: in a quiescent state, nothing is undelivered."""
    return tuple(DeadlockStage("undelivered", undelivered(machine, local(LEFT)), order) for order in ordering)


def helpful_stages(
    machine: ir.Machine, ordering: Sequence[str]
) -> tuple[tuple[DeadlockStage, ...], tuple[DeadlockStage, ...]]:
    """Stages on the way: messages that a transition acts upon; then messages in a relation, or not in it."""
    acted_upon: dict[str, ir.Expr] = {}
    for action in actions(machine):
        acted_upon |= dict(_acted_upon(machine, action))
    related: dict[str, ir.Expr] = {}
    for name in _unary(machine):
        relation = holds(name, local(LEFT))
        related |= {f"not {name}": negation(relation), name: relation}
    return _stages(acted_upon, ordering), _stages(related, ordering)


def _stages(kinds: Mapping[str, ir.Expr], ordering: Sequence[str]) -> tuple[DeadlockStage, ...]:
    sets = {words: conj((holds("sent", local(LEFT)), left)) for words, left in kinds.items()}
    return tuple(DeadlockStage(words, left, order) for words, left in sets.items() for order in ordering)


def _unary(machine: ir.Machine) -> list[str]:
    """The machine's own relations of messages."""
    return [
        symbol.name
        for symbol in machine.symbols
        if symbol.result == BOOL and [parameter.type for parameter in symbol.parameters] == [MESSAGE]
    ]


def _acted_upon(machine: ir.Machine, action: Action) -> Iterator[tuple[str, ir.Expr]]:
    """The messages that a transition may act upon, by the literals of its guards: `network_sent and not delivered`."""
    relations = {*_unary(machine), *(["delivered"] if machine.delivery == "unicast" else [])}
    literals: dict[str, dict[str, bool]] = {}
    for guard in own_guards(action):
        body = guard
        while isinstance(body, ir.Quantified) and body.kind == "exists":
            body = body.body
        for part in _split(body):
            atom, positive = (part.operand, False) if isinstance(part, ir.Not) else (part, True)
            if isinstance(atom, ir.Apply) and atom.symbol in relations and isinstance(atom.arguments[0], ir.Local):
                literals.setdefault(atom.arguments[0].name, {})[atom.symbol] = positive
    for update in action.updates:
        of = update.arguments[0] if update.symbol in relations else None
        if isinstance(of, ir.Local) and of.name in literals and update.value == TRUE:
            literals[of.name].setdefault(update.symbol, False)
    for said in literals.values():
        if len(said) > 1:
            words = " and ".join(name if positive else f"not {name}" for name, positive in said.items())
            atoms = ((holds(name, local(LEFT)), positive) for name, positive in said.items())
            yield words, conj(atom if positive else negation(atom) for atom, positive in atoms)


def stage_obligation(
    machine: ir.Machine, stage: DeadlockStage, over: Sequence[DeadlockStage], known: Iterable[Conjunct]
) -> Obligation:
    """A message that is left, and first among those in the order, contradicts quiescence. `over`: the stages before."""
    earlier = ir.Variable("x", MESSAGE)
    at_earlier = substitute(stage.left, {LEFT.name: local(earlier)})
    first = forall((earlier,), implies(holds(stage.order, local(earlier), local(LEFT)), negation(at_earlier)))
    hypotheses = (
        *known_facts(machine, known),
        ir.NamedFormula("quiescent", quiescent(machine)),
        *(ir.NamedFormula(f"nothing is {each.words}", forall((LEFT,), negation(each.left))) for each in over),
        ir.NamedFormula(f"left: {stage.words}", stage.left),
        ir.NamedFormula(f"first in {stage.order}", first),
    )
    goal = ir.NamedFormula("false", FALSE)
    name = f"nothing is {stage.words}, by the first in {stage.order}"
    return Obligation(name, signature_of(machine), hypotheses, goal, (LEFT,))
