"""Statements about steps of a machine: `stable` and `without deadlock`, as obligations and goals.

NOTE(deadlock): a state is quiescent if no transition but `causal_send` is enabled with an effect. Without deadlock: in
a reachable quiescent state every message that was sent has been delivered at its destinations. The proof uses least
elements: only finitely many messages were sent, so in any strict order some messages with a property come first. A
machine that never rests has no deadlock, so a quiescent state with a delivery must also be reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.ir.step_claims import WITHOUT_DEADLOCK
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS
from thence.proofs.logic.formula import (
    FALSE,
    TRUE,
    conj,
    disj,
    equal,
    exists,
    forall,
    free_locals,
    holds,
    implies,
    local,
    negation,
    substitute,
)
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.goals import Change
from thence.proofs.machine.obligations import Conjunct, known_facts, signature_of
from thence.proofs.machine.transitions import Action, actions, after

# --- stable ------------------------------------------------------------------------------------


def apart(variables: Sequence[ir.Variable], body: ir.Expr) -> tuple[tuple[ir.Variable, ...], ir.Expr]:
    """The variables under names that no file can have, so that they are not those of a transition's parameters."""
    named = tuple(ir.Variable(f"{variable.name}'", variable.type) for variable in variables)
    values: dict[str, ir.Expr] = {old.name: local(new) for old, new in zip(variables, named, strict=True)}
    return named, substitute(body, values)


def stable_obligations(machine: ir.Machine, stable: ir.Stable, known: Iterable[Conjunct]) -> tuple[Obligation, ...]:
    """Every transition keeps the formula true where it is true."""
    signature, facts, name = signature_of(machine), known_facts(machine, known), stable.formula.name
    parameters, body = apart(stable.parameters, stable.formula.body)
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
    parameters, body = apart(stable.parameters, stable.formula.body)
    return Change(parameters, body, negation(body))


# --- guards ---


def own_guards(action: Action) -> tuple[ir.Expr, ...]:
    """The guards of a transition, split into the smallest conjuncts."""
    return tuple(part for guard in action.guards for part in split(guard.body))


def split(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    if isinstance(expr, ir.Connective) and expr.operator == "and":
        return (*split(expr.left), *split(expr.right))
    if isinstance(expr, ir.Quantified) and expr.kind == "forall":
        inner = split(expr.body)
        return tuple(ir.Quantified(BOOL, "forall", expr.variables, part) for part in inner)
    return (expr,)


# --- deadlock ----------------------------------------------------------------------------------


def quiescent(machine: ir.Machine) -> ir.Expr:
    """No transition but `causal_send` is enabled with an effect."""
    busy = (action for action in actions(machine) if action.name != "causal_send")
    return conj(forall(action.parameters, negation(conj((action.guard, effect(action))))) for action in busy)


def effect(action: Action) -> ir.Expr:
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


def goal_stages(words: str, left: ir.Expr, ordering: Sequence[str]) -> tuple[DeadlockStage, ...]:
    """The stages that end the proof: in a quiescent state, `left` is true of no message."""
    return tuple(DeadlockStage(words, left, order) for order in ordering)


def helpful_stages(machine: ir.Machine, ordering: Sequence[str]) -> tuple[tuple[DeadlockStage, ...], ...]:
    """Stages on the way: messages that a transition acts upon; then messages in a relation, or not in it; then those
    whose turn with a transition comes later, by number."""
    acted_upon: dict[str, ir.Expr] = {}
    in_turn: dict[str, ir.Expr] = {}
    for action in actions(machine):
        acted_upon |= dict(_acted_upon(machine, action))
        in_turn |= dict(_in_turn(action))
    related: dict[str, ir.Expr] = {}
    for name in _unary(machine):
        relation = holds(name, local(LEFT))
        related |= {f"not {name}": negation(relation), name: relation}
    return _stages(acted_upon, ordering), _stages(related, ordering), _stages(in_turn, ordering)


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
        for part in split(body):
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


def _in_turn(action: Action) -> Iterator[tuple[str, ir.Expr]]:
    """The messages that a transition may act upon as soon as a number has come as far: `acked(m)` and `removed(src(m))
    < mid(m)`, where it needs `mid(m) = removed(src(m)) + 1`."""
    messages = [each for each in action.parameters if each.type == MESSAGE]
    guards = own_guards(action)
    if len(messages) != 1 or any(free_locals(each).keys() - {messages[0].name} for each in guards):
        return
    later = [_before_its_turn(each) for each in guards]
    if any(each is not None for each in later):
        parts = [each if other is None else other for each, other in zip(guards, later, strict=True)]
        left = substitute(conj(parts), {messages[0].name: local(LEFT)})
        yield f"waiting for its turn with {action.name}", left


def _before_its_turn(guard: ir.Expr) -> ir.Expr | None:
    """That one number is below the other, where the guard is that it is one less; else None."""
    if not isinstance(guard, ir.Comparison) or guard.operator != "=" or guard.left.type != NAT:
        return None
    for one, other in ((guard.left, guard.right), (guard.right, guard.left)):
        if isinstance(other, ir.Arithmetic) and other.operator == "+" and other.right == ir.Literal_(NAT, 1):
            return replace(guard, operator="<", left=other.left, right=one)
    return None


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
