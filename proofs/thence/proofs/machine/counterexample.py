"""Counterexamples of a machine, in the file's own names: a run that violates, or a step that breaks an invariant.

A run starts in an initial state, so it refutes. A counterexample to induction starts in a state that satisfies all
conjuncts but may not be reachable; it points to a missing invariant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from thence.dsl import ir
from thence.dsl.ir import machine_builtins
from thence.dsl.ir.types import BOOL, NAT, PROCESS
from thence.proofs.logic.countermodel import (
    Counterexample,
    Names,
    changes,
    execution_json,
    fact,
    fact_lines,
    false_instance,
    instance_text,
    names_of,
)
from thence.proofs.logic.structure import CrossCheckError, Structure, evaluate
from thence.proofs.machine.goals import TransitionRun
from thence.proofs.machine.history import Happening, TooManyOrders, destinations, happenings
from thence.proofs.machine.obligations import Conjunct
from thence.proofs.machine.transitions import (
    Action,
    enabled,
    environment_of,
    first_values,
    free_at_first,
    step,
    symbols,
)
from thence.proofs.solving.finite_models import Model
from thence.spec.events import Deliver, Event, Execution, Send


def induction_counterexample(
    machine: ir.Machine, known: Iterable[Conjunct], goal: Conjunct, action: Action, model: Model
) -> Counterexample:
    """A before/after diff of one step that keeps to all guards and loses the goal, re-evaluated.

    Raises: CrossCheckError where computing the step does not confirm the substitution.
    """
    before, arguments = model.structure, _arguments(action, model)
    after = step(action, arguments, before)
    if not _possible(known, action, arguments, before) or evaluate(goal.formula.body, after, {}):
        raise CrossCheckError(f"computing `{action.name}` does not confirm that it loses `{goal.name}`")
    title = f"`{goal.name}` is not inductive: {action.name} does not keep it"
    shown = _Shown(goal.name, title, f"{goal.name} is now false", partial(false_instance, goal.formula, after))
    return _step_shown(machine, action, arguments, before, shown)


def repeated_delivery(machine: ir.Machine, known: Iterable[Conjunct], deliver: Action, model: Model) -> Counterexample:
    """A step `deliver` that keeps to all guards and delivers a message for the second time, re-evaluated.

    Raises: CrossCheckError where the state does not confirm that the message is delivered already.
    """
    before, arguments = model.structure, _arguments(deliver, model)
    goal = machine_builtins.at_most_once(*deliver.parameters)
    environment = environment_of(deliver, arguments)
    if not _possible(known, deliver, arguments, before) or evaluate(goal.body, before, environment):
        raise CrossCheckError("the state does not confirm that `deliver` happens to what is delivered already")
    title = "`at_most_once` does not follow: the guard of deliver allows a second delivery"
    instance = partial(Names.arguments, variables=deliver.parameters, values=environment)
    shown = _Shown(goal.name, title, "delivered is already true before the step", instance)
    return _step_shown(machine, deliver, arguments, before, shown)


def _arguments(action: Action, model: Model) -> tuple[int, ...]:
    return tuple(int(model.environment[parameter.name]) for parameter in action.parameters)


def _possible(known: Iterable[Conjunct], action: Action, arguments: tuple[int, ...], state: Structure) -> bool:
    """Whether the state satisfies all conjuncts, and the action is enabled in it."""
    holds = (bool(evaluate(conjunct.formula.body, state, {})) for conjunct in known)
    return enabled(action, arguments, state) and all(holds)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a step shows: the statement that it loses, sentences about it, and the instance by the names."""

    statement: str
    title: str
    last: str
    instance: Callable[[Names], Mapping[str, str] | None]


def _step_shown(
    machine: ir.Machine, action: Action, arguments: tuple[int, ...], before: Structure, shown: _Shown
) -> Counterexample:
    """The state before the step, the step, and what it changes; with the history as an execution, if it is one."""
    past, said = _history(machine, before)
    names = names_of(before, [message for message, process in past or () if process is None])
    state = [*_orders(machine, before, names), *fact_lines(symbols(machine), before, names)]
    changed = changes(symbols(machine), before, step(action, arguments, before), names)
    instance = shown.instance(names) or {}
    call = _call(action, arguments, names)
    lines = [
        shown.title,
        "  before: " + (", ".join(state) or "nothing has happened"),
        f"  step:   {call}",
        "  after:  " + (", ".join(changed) or "nothing changes"),
        f"  {shown.last}{instance_text(instance)}",
        *([f"  {said}"] if said else []),
    ]
    facts: dict[str, Any] = {
        "kind": "induction",
        "conjunct": shown.statement,
        "transition": call,
        "before": state,
        "changes": changed,
        "instance": instance,
    }
    if past is None:
        return Counterexample("\n".join(lines), facts)
    then = _happening(machine, action, arguments, before)
    execution = _drawn((*past, *then), before, names)
    return Counterexample("\n".join(lines), {**facts, "execution": execution_json(execution)}, execution)


def _history(machine: ir.Machine, state: Structure) -> tuple[tuple[Happening, ...] | None, str]:
    """The sends and deliveries before the step, if there is such an execution, and a sentence about it."""
    if machine.delivery == "off":
        return None, ""
    try:
        found = happenings(state)
    except TooManyOrders:
        return None, "whether an execution has this history is not known"
    if found is None:
        return None, "no execution has this history, unless a message is delivered twice: an invariant may say so"
    return found, "the history, with the step, as an execution:" if found else "nothing is sent before the step"


def _happening(
    machine: ir.Machine, action: Action, arguments: tuple[int, ...], state: Structure
) -> tuple[Happening, ...]:
    """The send or delivery that the step is, if it is one."""
    if machine.delivery == "off":
        return ()
    match action.name:
        case "causal_send":
            return ((arguments[0], None),)
        case "deliver":
            at = arguments[1] if len(arguments) > 1 else destinations(state, arguments[0])[0]
            return ((arguments[0], at),)
        case _:
            return ()


def _drawn(happened: Iterable[Happening], state: Structure, names: Names) -> Execution:
    events: list[Event] = []
    for message, process in happened:
        if process is None:
            source = int(state.tables["src"][(message,)])
            events.append(Send(source, names.messages[message], destinations(state, message)))
        else:
            events.append(Deliver(process, names.messages[message]))
    return Execution(state.universe["process"], tuple(events))


def run_counterexample(machine: ir.Machine, run: TransitionRun, violated: ir.NamedFormula) -> Counterexample:
    """The run step by step with the changes of each step, and the instance that is false at its end."""
    states = run.states()
    names = names_by_send_order(run)
    instance = false_instance(violated, states[-1], names)
    given = _given(machine, run, names)
    lines = ["  " + given] if free_at_first(machine) or _orders(machine, run.start, names) else []
    first = _first(machine, run, names)
    lines += [f"  at first: {', '.join(first)}"] if first else []
    steps = []
    for number, (action, arguments) in enumerate(run.steps, 1):
        changed = changes(symbols(machine), states[number - 1], states[number], names)
        call = _call(action, arguments, names)
        steps.append({"step": call, "changes": changed})
        lines.append(f"  {number}. {call}: {', '.join(changed) or 'nothing changes'}")
    if instance is None:
        lines.append(f"  {violated.name} is false of the last step")
    else:
        now = "is now false" if run.steps else "is false at first"
        lines.append(f"  {violated.name} {now}{instance_text(instance)}")
    execution = _execution(machine, run, names)
    facts = {
        "kind": "run",
        "given": given,
        **({"first": first} if first else {}),
        "steps": steps,
        "violated": {violated.name: instance or {}},
        "execution": execution_json(execution),
    }
    return Counterexample("\n".join(lines), facts, execution)


def witness_text(run: TransitionRun) -> str:
    """The transitions of a run in one line."""
    names = names_by_send_order(run)
    return ", ".join(_call(action, arguments, names) for action, arguments in run.steps)


def _call(action: Action, arguments: tuple[int, ...], names: Names) -> str:
    named = names.arguments(action.parameters, environment_of(action, arguments))
    return f"{action.name}({', '.join(named.values())})"


def _given(machine: ir.Machine, run: TransitionRun, names: Names) -> str:
    """All values that the run starts from: the ends of every message, parameters, functions into a sort; zeros too.

    Of a relation the tuples are listed for which it is true; of an order its elements, one after the other.
    """
    free = free_at_first(machine)
    lines = _orders(machine, run.start, names)
    for symbol in symbols(machine):
        if symbol.name not in free:
            continue
        table = run.start.tables[symbol.name]
        told = [fact(symbol, key, value, names) for key, value in names.ordered(symbol, table) if value is not False]
        lines += told or [f"{symbol.name} is empty" if symbol.parameters else f"not {symbol.name}"]
    return "given: " + ", ".join(lines)


def _first(machine: ir.Machine, run: TransitionRun, names: Names) -> list[str]:
    """What `initial` says here: where its relations are true, and its functions not zero."""
    given = first_values(machine)
    return [
        fact(symbol, key, value, names)
        for symbol in symbols(machine)
        if symbol.name in given
        for key, value in names.ordered(symbol, run.start.tables[symbol.name])
        if value or symbol.result not in (BOOL, NAT)
    ]


def _orders(machine: ir.Machine, structure: Structure, names: Names) -> list[str]:
    """`round0 < round1 < round2`, for each ordered sort that has several elements."""
    sorts = [sort for sort in (PROCESS, *machine.sorts) if sort.name in machine.ordered]
    chains = ([names.of(element, sort) for element in range(structure.universe[sort.name])] for sort in sorts)
    return [" < ".join(chain) for chain in chains if len(chain) > 1]


def names_by_send_order(run: TransitionRun) -> Names:
    """The names of a run's elements: messages by the order of their causal sends."""
    order = [arguments[0] for action, arguments in run.steps if action.name == "causal_send"]
    return names_of(run.start, order)


def _execution(machine: ir.Machine, run: TransitionRun, names: Names) -> Execution:
    """The application's view of a run."""
    happened = (each for action, arguments in run.steps for each in _happening(machine, action, arguments, run.start))
    return _drawn(happened, run.start, names)
