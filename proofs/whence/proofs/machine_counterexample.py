"""Counterexamples of a machine, in the file's own names: a run that violates, or a step that breaks an invariant.

A run starts in an initial state: it refutes. A counterexample to induction starts in a state that satisfies all
conjuncts but may not be reachable: it says which fact is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from whence.dsl import ir
from whence.dsl.types import MESSAGE
from whence.proofs.countermodel import (
    Counterexample,
    Names,
    changes,
    execution_json,
    fact_lines,
    false_instance,
    instance_text,
    names_of,
)
from whence.proofs.finite_models import Model
from whence.proofs.machine_obligations import Conjunct
from whence.proofs.reachability import Run
from whence.proofs.structure import CrossCheckError, Structure, evaluate
from whence.proofs.transitions import Action, enabled, environment_of, step, symbols
from whence.spec.events import Deliver, Event, Execution, Send


def induction_counterexample(
    machine: ir.Machine, known: Iterable[Conjunct], goal: Conjunct, action: Action, model: Model
) -> Counterexample:
    """A before/after diff of one step that keeps to all guards and loses the goal, re-evaluated.

    Raises: CrossCheckError where computing the step does not confirm what substitution said.
    """
    before = model.structure
    arguments = tuple(int(model.environment[parameter.name]) for parameter in action.parameters)
    after = step(action, arguments, before)
    confirmed = (
        enabled(action, arguments, before)
        and all(bool(evaluate(conjunct.formula.body, before, {})) for conjunct in known)
        and not evaluate(goal.formula.body, after, {})
    )
    if not confirmed:
        raise CrossCheckError(f"computing `{action.name}` does not confirm that it loses `{goal.name}`")
    names = names_of(before)
    state = fact_lines(symbols(machine), before, names)
    changed = changes(symbols(machine), before, after, names)
    instance = false_instance(goal.formula, after, names) or {}
    call = _call(action, arguments, names)
    lines = [
        f"`{goal.name}` is not inductive: {action.name} does not keep it",
        "  before: " + (", ".join(state) or "nothing has happened"),
        f"  step:   {call}",
        "  after:  " + (", ".join(changed) or "nothing changes"),
        f"  {goal.name} is now false{instance_text(instance)}",
    ]
    facts = {
        "kind": "induction",
        "conjunct": goal.name,
        "transition": call,
        "before": state,
        "changes": changed,
        "instance": instance,
    }
    return Counterexample("\n".join(lines), facts)


def run_counterexample(machine: ir.Machine, run: Run, violated: ir.NamedFormula) -> Counterexample:
    """The run step by step, only what changes, and the instance that is false at its end."""
    states = run.states()
    names = _names_by_send_order(run)
    instance = false_instance(violated, states[-1], names)
    given = _given(machine, run, names)
    lines = ["  " + given]
    steps = []
    for number, (action, arguments) in enumerate(run.steps, 1):
        changed = changes(symbols(machine), states[number - 1], states[number], names)
        call = _call(action, arguments, names)
        steps.append({"step": call, "changes": changed})
        lines.append(f"  {number}. {call}: {', '.join(changed) or 'nothing changes'}")
    if instance is None:
        lines.append(f"  {violated.name} is false of the last step")
    else:
        lines.append(f"  {violated.name} is now false{instance_text(instance)}")
    execution = _execution(run, names)
    facts = {
        "kind": "run",
        "given": given,
        "steps": steps,
        "violated": {violated.name: instance or {}},
        "execution": execution_json(execution),
    }
    return Counterexample("\n".join(lines), facts, execution)


def witness_text(run: Run) -> str:
    """The transitions of a run in one line."""
    names = _names_by_send_order(run)
    return ", ".join(_call(action, arguments, names) for action, arguments in run.steps)


def _call(action: Action, arguments: tuple[int, ...], names: Names) -> str:
    named = names.arguments(action.parameters, environment_of(action, arguments))
    return f"{action.name}({', '.join(named.values())})"


def _given(machine: ir.Machine, run: Run, names: Names) -> str:
    """The values that the run starts from, where they are not false or 0, of the messages that take part."""
    idle = set(names.messages) - {value for action, arguments in run.steps for value in _messages(action, arguments)}
    tables = {
        symbol.name: {
            key: value
            for key, value in run.start.tables[symbol.name].items()
            if not any(p.type == MESSAGE and item in idle for item, p in zip(key, symbol.parameters, strict=True))
        }
        for symbol in symbols(machine)
    }
    start = Structure(run.start.universe, tables)
    return "given: " + ", ".join(fact_lines(symbols(machine), start, names))


def _messages(action: Action, arguments: tuple[int, ...]) -> list[int]:
    """The messages among the arguments."""
    return [value for value, p in zip(arguments, action.parameters, strict=True) if p.type == MESSAGE]


def _names_by_send_order(run: Run) -> Names:
    order = [arguments[0] for action, arguments in run.steps if action.name == "causal_send"]
    return names_of(run.start, order)


def _execution(run: Run, names: Names) -> Execution:
    """The application's view of a run."""
    events: list[Event] = []
    for action, arguments in run.steps:
        if action.name == "causal_send":
            source = int(run.start.tables["src"][arguments[:1]])
            events.append(Send(source, names.messages[arguments[0]], _destinations(run.start, arguments[0])))
        elif action.name == "deliver":
            receiver = arguments[1] if len(arguments) > 1 else _destinations(run.start, arguments[0])[0]
            events.append(Deliver(receiver, names.messages[arguments[0]]))
    return Execution(run.start.universe["process"], tuple(events))


def _destinations(structure: Structure, message: int) -> tuple[int, ...]:
    """To whom a message goes: one process, or where the machine is multicast those that it is `to`."""
    tables = structure.tables
    if "to" not in tables or "dst" in tables:
        return (int(tables["dst"][(message,)]),)
    return tuple(process for process in range(structure.universe["process"]) if tables["to"][(message, process)])
