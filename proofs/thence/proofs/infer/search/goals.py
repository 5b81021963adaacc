"""What is to be proved of a machine's states, and a machine that states only that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from thence.dsl import ir
from thence.dsl.ir import machine_builtins
from thence.proofs.infer.finite.steps import Precondition
from thence.proofs.infer.search.strengthening import Goal
from thence.proofs.logic.formula import forall, holds, implies, local, operands
from thence.proofs.machine.obligations import state_properties
from thence.proofs.machine.transitions import actions, deliver_action


def goals_of(machine: ir.Machine) -> tuple[str, ...]:
    """The statements about states that are to be proved: those that the file does not expect to fail."""
    expected = {name: each.verdict for each in machine.expects for name in each.names}
    stated = (
        *(invariant.name for invariant in machine.invariants),
        *(formula.name for formula in state_properties(machine)),
        *(name for name in machine.prove if name == "at_most_once"),
    )
    return tuple(name for name in stated if expected.get(name, "proved") == "proved")


def hidden(machine: ir.Machine, names: Iterable[str]) -> ir.Machine:
    """The machine without some of its invariants, or without all where `all` is named."""
    gone = set(names)
    kept = tuple(each for each in machine.invariants if each.name not in gone and "all" not in gone)
    left = {each.name for each in machine.invariants} - {each.name for each in kept}
    return replace(machine, invariants=kept, prove=tuple(name for name in machine.prove if name not in left))


def about_states(machine: ir.Machine) -> ir.Machine:
    """The machine with what is to be proved of its states, and no other statement."""
    goals = goals_of(machine)
    return replace(
        machine,
        expects=(),
        stable=(),
        reachable=(),
        eventually=(),
        prove=tuple(name for name in machine.prove if name in goals),
        invariants=tuple(each for each in machine.invariants if each.name in goals),
    )


def stated_goals(machine: ir.Machine) -> list[Goal]:
    """What is to be proved of its states, in one order: invariants, properties, what deliveries require."""
    goals: list[Goal] = [each.body for each in (*machine.invariants, *state_properties(machine))]
    if "at_most_once" in machine.prove:
        goals.append(Precondition("deliver", machine_builtins.at_most_once(*deliver_action(machine).parameters).body))
    return goals


def closed(machine: ir.Machine, goal: Goal) -> ir.Expr:
    """The goal as a closed formula about states."""
    if not isinstance(goal, Precondition):
        return goal
    action = next(action for action in actions(machine) if action.name == goal.transition)
    return forall(action.parameters, implies(action.guard, goal.formula))


def may_deliver_unsent(machine: ir.Machine) -> bool:
    """Whether the guard of `deliver` does not say that the message was sent."""
    deliver = next((action for action in actions(machine) if action.name == "deliver"), None)
    if machine.delivery == "off" or deliver is None:
        return False
    sent = holds("sent", local(deliver.parameters[0]))
    return all(sent not in operands(guard.body, "and") for guard in deliver.guards)
