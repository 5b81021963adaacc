"""The obligations of a machine, one for every transition and conjunct.

The conjuncts are the built-in facts about the history (`ghost_*`), the declared invariants, and the properties to be
proved that do not follow from these. All of them together must be inductive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from thence.dsl import ir
from thence.dsl.check import built_in
from thence.dsl.ir import machine_builtins
from thence.dsl.ir.step_claims import is_about_steps
from thence.dsl.ir.types import MESSAGE, PROCESS
from thence.proofs.logic.formula import FALSE
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.machine.transitions import Action, actions, after, deliver_action, initially, symbols

Origin: TypeAlias = Literal["history", "invariant", "property"]


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One member of the set that must be inductive."""

    formula: ir.NamedFormula
    origin: Origin

    @property
    def name(self) -> str:
        return self.formula.name


@dataclass(frozen=True, slots=True)
class Preservation:
    """The obligation that an action keeps a conjunct; `action` is None for the initial states."""

    conjunct: Conjunct
    action: Action | None
    obligation: Obligation


def signature_of(machine: ir.Machine) -> Signature:
    return Signature((PROCESS, MESSAGE, *machine.sorts), machine.ordered, symbols(machine))


def conjuncts(machine: ir.Machine) -> tuple[Conjunct, ...]:
    """The facts about the history, the invariants, and the built-in properties of states under `prove`."""
    history = (Conjunct(fact, "history") for fact in built_in.history_facts(machine.delivery))
    invariants = (Conjunct(invariant, "invariant") for invariant in machine.invariants)
    properties = (Conjunct(formula, "property") for formula in state_properties(machine))
    return (*history, *invariants, *properties)


def state_properties(machine: ir.Machine) -> tuple[ir.NamedFormula, ...]:
    """The built-in properties of states that the machine's `prove` names, in its order."""
    declared = {invariant.name for invariant in machine.invariants}
    names = (name for name in machine.prove if name not in declared and name != "at_most_once")
    of_states = (name for name in names if not is_about_steps(name))
    return tuple(built_in.property_formula(name, machine.delivery) for name in of_states)


def known_facts(machine: ir.Machine, known: Iterable[Conjunct]) -> tuple[ir.NamedFormula, ...]:
    """The axioms and the known conjuncts: the hypotheses of every obligation."""
    return (*machine.axioms, *(conjunct.formula for conjunct in known))


def preservations(
    machine: ir.Machine, goals: Iterable[Conjunct], known: Collection[Conjunct]
) -> tuple[Preservation, ...]:
    """Every goal in the initial states, and kept by every transition from a state in which all of `known` are true."""
    signature = signature_of(machine)
    facts = known_facts(machine, known)
    found: list[Preservation] = []
    for goal in goals:
        span = goal.formula.span
        start = ir.NamedFormula(goal.name, initially(goal.formula.body, machine), span=span)
        first = Obligation(f"initially {goal.name}", signature, machine.axioms, start)
        found.append(Preservation(goal, None, first))
        for action in actions(machine):
            then = ir.NamedFormula(goal.name, after(goal.formula.body, action), span=span)
            kept = Obligation(
                f"{action.name} keeps {goal.name}", signature, (*facts, *action.guards), then, action.parameters
            )
            found.append(Preservation(goal, action, kept))
    return tuple(found)


def consequence(machine: ir.Machine, goal: Conjunct, known: Iterable[Conjunct]) -> Obligation:
    """The goal follows from the known conjuncts, in any state."""
    facts = known_facts(machine, known)
    return Obligation(f"{goal.name} follows", signature_of(machine), facts, goal.formula)


def delivered_once(machine: ir.Machine, known: Iterable[Conjunct]) -> Obligation:
    """`deliver` happens only to messages that are not delivered yet."""
    action = deliver_action(machine)
    facts = (*known_facts(machine, known), *action.guards)
    goal = machine_builtins.at_most_once(*action.parameters)
    return Obligation("deliver only what is not delivered", signature_of(machine), facts, goal, action.parameters)


def impossible(machine: ir.Machine, action: Action, known: Iterable[Conjunct]) -> Obligation:
    """The guard of the action can never hold where the known conjuncts are true."""
    facts = (*known_facts(machine, known), *action.guards)
    return Obligation(
        f"{action.name} cannot happen",
        signature_of(machine),
        facts,
        ir.NamedFormula("false", FALSE),
        action.parameters,
    )


def inconsistent(machine: ir.Machine) -> Obligation:
    """The axioms contradict each other."""
    return Obligation(
        "the axioms contradict each other", signature_of(machine), machine.axioms, ir.NamedFormula("false", FALSE)
    )
