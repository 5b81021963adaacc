"""What a transition has seen, and closes at the same moment: it stays as it was seen.

A node that reports its latest vote, `forall d, w. voted(n, d, w) implies d <= c`, takes part in no earlier ballot any
more, `forall d: left(n, d) := left(n, d) or d < b`. So it has no later vote before b, now or ever:
`reported(n, b, c, v) and voted(n, d, w) and d < b implies d <= c`. Such clauses are candidates, as others are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT
from thence.proofs.infer.clauses import Clause
from thence.proofs.infer.reasons import closed_to, denied, operands
from thence.proofs.logic.formula import FALSE, TRUE, free_locals, fresh_name, substitute
from thence.proofs.machine.steps.statements import split
from thence.proofs.machine.transitions import Action, actions

SEEN_OVER = 7
"""Limit on the variables of such a clause."""


def seen(machine: ir.Machine) -> Iterator[Clause]:
    """The clauses, for all values of their variables: of what a transition marks, and of what it saw and closed.

    Messages and numbers are not spoken of: samples have few of them.
    """
    found: dict[Clause, None] = {}
    for action in actions(machine):
        marks = [update for update in action.updates if update.value == TRUE and not update.binders]
        for bound, facts in _absent(action):
            for fact in facts:
                for values, closing in _closings(action, bound, fact, machine):
                    for mark in marks:
                        said = [substitute(each, values) for each in (*facts, *closing)]
                        found.update(dict.fromkeys(_clauses(ir.Apply(BOOL, mark.symbol, mark.arguments), said)))
    return iter(found)


def _clauses(mark: ir.Expr, said: Iterable[ir.Expr]) -> Iterator[Clause]:
    """That these facts are not all true of what is marked."""
    literals = [(mark, False)]
    for each in said:
        literals.append((each.operand, True) if isinstance(each, ir.Not) else (each, False))
    free = {name: type_ for literal, _ in literals for name, type_ in free_locals(literal).items()}
    if len(free) <= SEEN_OVER and not {MESSAGE, NAT} & set(free.values()):
        variables = tuple(ir.Variable(name, type_) for name, type_ in free.items())
        yield Clause(variables, tuple(dict.fromkeys(literals)), apart=False)


def _absent(action: Action) -> Iterator[tuple[tuple[str, ...], tuple[ir.Expr, ...]]]:
    """Facts that were not true together of any values of some names, as a guard says; under names of their own."""
    own = {parameter.name for parameter in action.parameters}
    for guard in action.guards:
        for part in split(guard.body):
            if isinstance(part, ir.Quantified) and part.kind == "forall":
                taken = {*own, *free_locals(part.body)}
                renamed: dict[str, ir.Expr] = {}
                for each in part.variables:
                    name = fresh_name(each.name, taken) if each.name in own else each.name
                    taken.add(name)
                    renamed[each.name] = ir.Local(each.type, name)
                body = substitute(part.body, renamed)
                yield tuple(free_locals(body).keys() - own), operands(denied(body), "and")


def _closings(
    action: Action, bound: Iterable[str], fact: ir.Expr, machine: ir.Machine
) -> Iterator[tuple[Mapping[str, ir.Expr], tuple[ir.Expr, ...]]]:
    """For what values of the names a transition makes sure that the fact becomes true no more, and where else."""
    if not isinstance(fact, ir.Apply) or fact.type != BOOL:
        return
    for lock in closed_to(fact, machine):
        assert isinstance(lock, ir.Apply)
        for update in action.updates:
            if update.symbol == lock.symbol:
                values = _matched(update, lock, set(bound))
                for also in operands(update.value, "or") if values is not None else ():
                    assert values is not None
                    itself = ir.Apply(BOOL, update.symbol, update.arguments)
                    if also not in (itself, FALSE):
                        where = () if also == TRUE else (substitute(also, values),)
                        yield {name: value for name, value in values.items() if name in bound}, where


def _matched(update: ir.Update, lock: ir.Apply, bound: set[str]) -> dict[str, ir.Expr] | None:
    """Values of the binders of the update, and of the bound names, for which it is about the lock."""
    binders = {binder.name for binder in update.binders}
    values: dict[str, ir.Expr] = {}
    for own, other in zip(update.arguments, lock.arguments, strict=True):
        if isinstance(own, ir.Local) and own.name in binders:
            if values.setdefault(own.name, other) != other:
                return None
        elif isinstance(other, ir.Local) and other.name in bound:
            if values.setdefault(other.name, own) != own:
                return None
        elif own != other:
            return None
    return values
