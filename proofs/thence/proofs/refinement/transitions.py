"""The machine's transitions, taken in a state that is given as formulas: once, or once for each of many values.

NOTE(together): a loop that sends to many takes one transition for each. They are taken together, as one update for all
values, where that is the same as one after the other in any order: no update reads what the transition writes, and two
values that write at the same place write the same. Each is enabled after any others of them: after an arbitrary subset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.machine_builtins import history_transitions
from thence.proofs.logic.formula import Unsupported, conditional, conj, exists, free_locals, substitute, symbols_of
from thence.proofs.machine.transitions import Action, complete
from thence.proofs.refinement.shapes.flat import alike
from thence.proofs.refinement.shapes.kinds import Term
from thence.proofs.refinement.states import State, Symbols

Selected = Callable[[Mapping[str, Term]], Term]
"""Of values for the names of loop variables: whether the transition is taken for them."""


def action_of(machine: ir.Machine, name: str) -> Action:
    return next(complete(one, machine.delivery) for one in machine.transitions if one.name == name)


def enabled(state: State, action: Action, arguments: Sequence[Term]) -> Term:
    """Whether the transition is enabled in the state."""
    return state.about_machine(action.guard, _given(action, arguments))


def taken(state: State, action: Action, arguments: Sequence[Term]) -> Symbols:
    """The machine after the transition."""
    given = _given(action, arguments)
    after = dict(state.machine)
    for update in action.updates:
        after[update.symbol] = _updated(state, update, given)
    return after


def _given(action: Action, arguments: Sequence[Term]) -> dict[str, Term]:
    return {parameter.name: term for parameter, term in zip(action.parameters, arguments, strict=True)}


def _updated(state: State, update: ir.Update, given: Mapping[str, Term]) -> Callable[[tuple[Term, ...]], Term]:
    before = state.machine[update.symbol]

    def value(arguments: tuple[Term, ...]) -> Term:
        bound, matches = _matched(update, given, arguments)
        written = state.about_machine(update.value, {**given, **bound})
        return conditional(conj(matches), written, before(arguments))

    return value


def _matched(
    update: ir.Update, given: Mapping[str, Term], arguments: tuple[Term, ...]
) -> tuple[dict[str, Term], list[Term]]:
    """The values of the update's binders at these arguments, and when the update is about these arguments."""
    binders = {binder.name for binder in update.binders}
    bound: dict[str, Term] = {}
    matches: list[Term] = []
    for pattern, argument in zip(update.arguments, arguments, strict=True):
        assert isinstance(pattern, ir.Local)
        if pattern.name in binders and pattern.name not in bound:
            bound[pattern.name] = argument
        else:
            matches.append(alike(argument, bound[pattern.name] if pattern.name in binders else given[pattern.name]))
    return bound, matches


# --- many at once ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Many:
    """A transition for each value of loop variables; `arguments` mention them as free names. See NOTE(together)."""

    action: Action
    arguments: tuple[Term, ...]
    variables: tuple[ir.Variable, ...]


def taken_for(state: State, many: Many, selected: Selected, delivery: ir.MachineDelivery) -> Symbols:
    """The machine after the transitions for all selected values. Raises: Unsupported where NOTE(together) fails."""
    action = many.action
    if action.name in history_transitions(delivery):
        raise Unsupported(f"`{action.name}` in a loop over many")
    after = dict(state.machine)
    for update in action.updates:
        if symbols_of(update.value) & action.changed:
            raise Unsupported(f"`{action.name}` in a loop: `{update.symbol}` depends on what the transition changes")
        after[update.symbol] = _updated_for(state, update, many, selected)
        after[update.symbol](tuple(ir.Local(one.type, f"#{at}") for at, one in enumerate(update.arguments)))
    return after


def _updated_for(state: State, update: ir.Update, many: Many, selected: Selected) -> Callable[[tuple[Term, ...]], Term]:
    before = state.machine[update.symbol]
    given = _given(many.action, many.arguments)
    names = {variable.name for variable in many.variables}
    binders = {binder.name for binder in update.binders}

    def value(arguments: tuple[Term, ...]) -> Term:
        known: dict[str, Term] = {}
        for pattern, argument in zip(update.arguments, arguments, strict=True):
            assert isinstance(pattern, ir.Local)
            target = None if pattern.name in binders else given[pattern.name]
            if isinstance(target, ir.Local) and target.name in names:
                known.setdefault(target.name, argument)
        rest = [variable for variable in many.variables if variable.name not in known]
        renamed = {one.name: ir.Variable(f"{one.name}'", one.type) for one in rest}
        values = known | {name: ir.Local(one.type, one.name) for name, one in renamed.items()}
        here = {name: substitute(term, values) for name, term in given.items()}
        bound, matches = _matched(update, here, arguments)
        written = state.about_machine(update.value, {**here, **bound})
        if {one.name for one in renamed.values()} & set(free_locals(written)):
            raise Unsupported(f"`{many.action.name}` in a loop: `{update.symbol}` is written many times")
        chosen = exists(tuple(renamed.values()), conj((selected(values), *matches)))
        return conditional(chosen, written, before(arguments))

    return value
