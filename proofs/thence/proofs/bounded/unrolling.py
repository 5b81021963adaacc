"""The first k steps of a machine as one obligation over any number of processes and messages.

Every symbol that a transition updates has a copy for each state after the first; which transition a step is, and of
what, are constants. If the obligation is valid, no run makes the statement false after exactly k steps. Nothing is
bounded but k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from thence.dsl import ir
from thence.dsl.ir.types import BOOL
from thence.proofs.logic.formula import (
    conditional,
    conj,
    disj,
    equal,
    forall,
    free_locals,
    fresh_name,
    local,
    negation,
    substitute,
    with_applications,
)
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.machine.obligations import signature_of
from thence.proofs.machine.transitions import Action, actions, after, initially, symbols
from thence.spec.words import counted


@dataclass(frozen=True, slots=True)
class Unrolling:
    """`depth` steps of the machine from an initial state."""

    machine: ir.Machine
    depth: int

    def obligation(self, statement: ir.NamedFormula) -> Obligation:
        """The statement is true after the steps; with free names: of the message delivered by the last step, if any."""
        signature = signature_of(self.machine)
        copies = tuple(symbol for number in range(1, self.depth + 1) for symbol in self._copies(number))
        chosen = tuple(self._selector(action, number) for number in range(self.depth) for action in self._actions)
        hypotheses = [*self.machine.axioms]
        for number in range(self.depth):
            hypotheses += self._step(number)
        constants = tuple(
            parameter
            for number in range(self.depth)
            for action in self._actions
            for parameter in self._given(action, number)
        )
        return Obligation(
            f"{statement.name} after {counted(self.depth, 'step')}",
            Signature(signature.sorts, signature.ordered, (*signature.symbols, *copies, *chosen)),
            tuple(hypotheses),
            self._goal(statement),
            constants,
        )

    @property
    def _actions(self) -> tuple[Action, ...]:
        return actions(self.machine)

    @property
    def _changing(self) -> frozenset[str]:
        return frozenset[str]().union(*(action.changed for action in self._actions))

    def _copies(self, number: int) -> tuple[ir.Symbol, ...]:
        return tuple(
            replace(symbol, name=_copy(symbol.name, number))
            for symbol in symbols(self.machine)
            if symbol.name in self._changing
        )

    def _selector(self, action: Action, number: int) -> ir.Symbol:
        return ir.Symbol(f"step {number + 1} is {action.name}", (), BOOL)

    def _given(self, action: Action, number: int) -> tuple[ir.Variable, ...]:
        """The parameters of the action, as constants of the step."""
        return tuple(
            ir.Variable(f"{parameter.name} of {action.name} in step {number + 1}", parameter.type)
            for parameter in action.parameters
        )

    def _at(self, expr: ir.Expr, number: int) -> ir.Expr:
        """The formula about the state after `number` steps."""
        if number == 0:
            return initially(expr, self.machine)
        changing = self._changing

        def copied(application: ir.Apply) -> ir.Expr:
            if application.symbol not in changing:
                return application
            return replace(application, symbol=_copy(application.symbol, number))

        return with_applications(expr, copied)

    def _named(self, expr: ir.Expr, action: Action, number: int) -> ir.Expr:
        """The formula with the parameters of the action as constants of the step."""
        given = zip(action.parameters, self._given(action, number), strict=True)
        return substitute(expr, {parameter.name: local(constant) for parameter, constant in given})

    def _step(self, number: int) -> list[ir.NamedFormula]:
        """One transition happens: its guard is true, and its updates give the state after from the state before."""
        chosen = {action.name: ir.Apply(BOOL, self._selector(action, number).name, ()) for action in self._actions}
        everything = list(chosen.values())
        facts = [ir.NamedFormula(f"step {number + 1}", disj(everything))]
        for position, one in enumerate(everything):
            facts += [
                ir.NamedFormula(f"step {number + 1} is one", negation(conj((one, other))))
                for other in everything[position + 1 :]
            ]
        for action in self._actions:
            guard = self._at(self._named(action.guard, action, number), number)
            facts.append(ir.NamedFormula(f"guard of step {number + 1}", disj((negation(chosen[action.name]), guard))))
        for symbol in symbols(self.machine):
            if symbol.name in self._changing:
                facts.append(self._defined(symbol, number, chosen))
        return facts

    def _defined(self, symbol: ir.Symbol, number: int, chosen: dict[str, ir.Apply]) -> ir.NamedFormula:
        """The copy of a symbol after the step, by the weakest precondition of each transition."""
        taken = {parameter.name for action in self._actions for parameter in action.parameters}
        variables = tuple(
            ir.Variable(fresh_name(f"at{position}", taken), parameter.type)
            for position, parameter in enumerate(symbol.parameters)
        )
        application = ir.Apply(symbol.result, symbol.name, tuple(local(variable) for variable in variables))
        value: ir.Expr = self._at(application, number)
        for action in self._actions:
            if symbol.name in action.changed:
                made = self._at(self._named(after(application, action), action, number), number)
                value = conditional(chosen[action.name], made, value)
        copied = self._at(application, number + 1)
        return ir.NamedFormula(f"{symbol.name} after step {number + 1}", forall(variables, equal(copied, value)))

    def _goal(self, statement: ir.NamedFormula) -> ir.NamedFormula:
        if not free_locals(statement.body):
            return ir.NamedFormula(statement.name, self._at(statement.body, self.depth))
        assert self.depth > 0, "before the first step nothing is delivered"
        last = self.depth - 1
        deliver = next(action for action in self._actions if action.name == "deliver")
        happens = ir.Apply(BOOL, self._selector(deliver, last).name, ())
        said = self._at(self._named(statement.body, deliver, last), last)
        return ir.NamedFormula(statement.name, disj((negation(happens), said)))


def _copy(name: str, number: int) -> str:
    return f"{name} after {number}"


def unrolled(machine: ir.Machine, statement: ir.NamedFormula, depth: int) -> tuple[Obligation, ...]:
    """One obligation for each number of steps up to `depth`."""
    first = 1 if free_locals(statement.body) else 0
    return tuple(Unrolling(machine, number).obligation(statement) for number in range(first, depth + 1))
