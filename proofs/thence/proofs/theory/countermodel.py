"""The model of a theory, shown as an execution: a line of events for every process, and the false formulas.

A theory is about executions if it has the functions `src`, `dst`, `c` (causal-send), `d` (delivery) and the
relations `sent`, `delivered` of messages; `s` and `network_sent` are shown where it has them. The model of any
other theory is shown as a list of facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE
from thence.proofs.logic.countermodel import (
    Counterexample,
    Names,
    execution_json,
    fact_lines,
    false_instance,
    instance_text,
    names_of,
)
from thence.proofs.logic.structure import Structure
from thence.proofs.solving.finite_models import Model, describe_size
from thence.proofs.theory.obligations import signature_of
from thence.spec.events import Deliver, Event, Execution, Send

_NEEDED = ("src", "dst", "c", "d", "sent", "delivered")
_CLOCKS = (("c", "sent", "src"), ("s", "network_sent", "src"), ("d", "delivered", "dst"))
"""Clock, relation of the messages that have the event, function to the process where it happens."""


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """One event: ordered by time, then causal-send, network-send, delivery."""

    time: int
    rank: int
    message: int
    process: int


def counterexample(
    theory: ir.Theory, violated: Sequence[ir.NamedFormula], model: Model, headline: str
) -> Counterexample:
    """The model, with an instance of every formula of `violated` that is false in it."""
    structure = model.structure
    if not _is_about_executions(theory):
        names = names_of(structure)
        lines = fact_lines(signature_of(theory).symbols, structure, names)
        failures, instances = _failures(violated, structure, names)
        text = "\n".join([headline, *(f"  {line}" for line in (*lines, *failures))])
        return Counterexample(text, {"kind": "model", "facts": lines, "violated": instances})
    occurrences = _occurrences(structure)
    names = names_of(structure, [event.message for event in occurrences if event.rank == 0])
    timelines = {
        label: [_event_text(event, structure, names) for event in occurrences if event.process == process]
        for process, label in names.processes.items()
    }
    execution = _execution(occurrences, structure, names)
    failures, instances = _failures(violated, structure, names)
    size = {sort: structure.universe[sort] for sort in ("process", "message")}
    lines = [f"{headline} ({describe_size(size)})"]
    lines.extend(f"  {process}: {', '.join(events) or 'nothing'}" for process, events in timelines.items())
    lines.extend(f"  {failure}" for failure in failures)
    facts = {"kind": "execution", **execution_json(execution), "timelines": timelines, "violated": instances}
    return Counterexample("\n".join(lines), facts, execution)


def _is_about_executions(theory: ir.Theory) -> bool:
    unary = {symbol.name for symbol in theory.symbols if [p.type for p in symbol.parameters] == [MESSAGE]}
    return unary >= set(_NEEDED)


def _occurrences(structure: Structure) -> list[_Occurrence]:
    found = [
        _Occurrence(int(structure.tables[clock][key]), rank, key[0], int(structure.tables[place][key]))
        for rank, (clock, relation, place) in enumerate(_CLOCKS)
        if clock in structure.tables and relation in structure.tables
        for key, happens in structure.tables[relation].items()
        if happens
    ]
    return sorted(found, key=lambda event: (event.time, event.rank, event.message))


def _event_text(event: _Occurrence, structure: Structure, names: Names) -> str:
    message = names.messages[event.message]
    match event.rank:
        case 0:
            receiver = names.processes[int(structure.tables["dst"][(event.message,)])]
            return f"causal-sends {message} to {receiver}"
        case 1:
            return f"network-sends {message}"
        case _:
            return f"delivers {message}"


def _execution(occurrences: Sequence[_Occurrence], structure: Structure, names: Names) -> Execution:
    events: list[Event] = []
    for event in occurrences:
        message = names.messages[event.message]
        if event.rank == 0:
            receiver = int(structure.tables["dst"][(event.message,)])
            events.append(Send(event.process, message, (receiver,)))
        elif event.rank == 2:
            events.append(Deliver(event.process, message))
    return Execution(structure.universe["process"], tuple(events))


def _failures(
    formulas: Sequence[ir.NamedFormula], structure: Structure, names: Names
) -> tuple[list[str], dict[str, dict[str, str]]]:
    lines: list[str] = []
    instances: dict[str, dict[str, str]] = {}
    for formula in formulas:
        instance = false_instance(formula, structure, names)
        if instance is not None:
            instances[formula.name] = instance
            lines.append(f"{formula.name} is false{instance_text(instance)}")
    return lines, instances
