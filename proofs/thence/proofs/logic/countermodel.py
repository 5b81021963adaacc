"""Finite models for readers: counterexamples, and names for the elements of a structure.

Names are the file's own; messages are m1, m2, ... in the order of their causal sends, processes p0, p1, ....
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, PROCESS, Sort, Type
from thence.proofs.logic.formula import free_locals, outer_foralls
from thence.proofs.logic.structure import Structure, Table, Value, beyond_window, violations
from thence.spec.diagram import Highlight, draw_svg, draw_text, highlight_of
from thence.spec.events import Deliver, Event, Execution, Input, Receive, Send
from thence.spec.oracle import first_finding


@dataclass(frozen=True, slots=True)
class Counterexample:
    """For a reader (`text`), for a program (`facts`, JSON values), and as an execution where it is one."""

    text: str
    facts: Mapping[str, Any]
    execution: Execution | None = None

    def drawn(self) -> str:
        """The text, with the space-time diagram below it where there is an execution."""
        if self.execution is None or not self.execution.events:
            return self.text
        return f"{self.text}\n\n{draw_text(self.execution, self._highlight())}"

    def picture(self) -> str:
        """The space-time diagram as SVG; empty where there is no execution."""
        if self.execution is None or not self.execution.events:
            return ""
        return draw_svg(self.execution, self._highlight())

    def _highlight(self) -> Highlight | None:
        found = None if self.execution is None else first_finding(self.execution)
        return None if found is None else highlight_of(found)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of the elements of a structure."""

    messages: Mapping[int, str]
    processes: Mapping[int, str]

    def of(self, value: Value, type_: Type) -> str:
        if type_ == MESSAGE:
            return self.messages[int(value)]
        if type_ == PROCESS:
            return self.processes[int(value)]
        if isinstance(type_, Sort):
            return f"{type_.name}{value}"
        return str(value).lower()

    def ordered(self, symbol: ir.Symbol, table: Table) -> list[tuple[tuple[int, ...], Value]]:
        """The cells of a symbol, by the names of their elements."""
        ranks = {name: rank for rank, name in enumerate((*self.messages.values(), *self.processes.values()))}

        def place(key: tuple[int, ...]) -> list[int]:
            named = (self.of(item, parameter.type) for item, parameter in zip(key, symbol.parameters, strict=True))
            return [ranks.get(name, item) for name, item in zip(named, key, strict=True)]

        return sorted(table.items(), key=lambda cell: place(cell[0]))

    def arguments(self, variables: Iterable[ir.Variable], values: Mapping[str, Value]) -> dict[str, str]:
        """The values of the variables, by their names in the file."""
        return {variable.name: self.of(values[variable.name], variable.type) for variable in variables}


def names_of(structure: Structure, order: Sequence[int] = ()) -> Names:
    """Messages in the given order first, then the rest."""
    rest = [message for message in range(structure.universe.get("message", 0)) if message not in order]
    messages = {message: f"m{number}" for number, message in enumerate([*order, *rest], 1)}
    return Names(messages, {process: f"p{process}" for process in range(structure.universe.get("process", 0))})


def fact_lines(symbols: Iterable[ir.Symbol], structure: Structure, names: Names) -> list[str]:
    """Every true fact and every function value, as the file would write it; values that are false or 0 are left out."""
    lines: list[str] = []
    for symbol in symbols:
        for key, value in names.ordered(symbol, structure.tables[symbol.name]):
            if value is not False and (value != 0 or isinstance(symbol.result, Sort)):
                lines.append(fact(symbol, key, value, names))
    return lines


def fact(symbol: ir.Symbol, key: tuple[int, ...], value: Value, names: Names) -> str:
    """`delivered(m1)`, `not delivered(m1)`, `src(m1) = p0`."""
    arguments = (names.of(item, parameter.type) for item, parameter in zip(key, symbol.parameters, strict=True))
    application = f"{symbol.name}({', '.join(arguments)})" if key else symbol.name
    if symbol.result == BOOL:
        return application if value else f"not {application}"
    return f"{application} = {names.of(value, symbol.result)}"


def changes(symbols: Iterable[ir.Symbol], before: Structure, after: Structure, names: Names) -> list[str]:
    """The facts and values that differ after a step."""
    return [
        fact(symbol, key, value, names)
        for symbol in symbols
        for key, value in names.ordered(symbol, _all_cells(before, after, symbol))
        if value != before.tables[symbol.name].get(key, beyond_window(symbol.result))
    ]


def _all_cells(before: Structure, after: Structure, symbol: ir.Symbol) -> dict[tuple[int, ...], Value]:
    """The table after a step, with the cells that only the table before has: they are zero now. NOTE(numbers)."""
    earlier = dict.fromkeys(before.tables[symbol.name], beyond_window(symbol.result))
    return {**earlier, **after.tables[symbol.name]}


def false_instance(formula: ir.NamedFormula, structure: Structure, names: Names) -> dict[str, str] | None:
    """The first instance of a closed formula that is false in the structure, with the elements' names."""
    if free_locals(formula.body):
        return None
    variables, _ = outer_foralls(formula.body)
    instance = next(iter(violations(formula, structure)), None)
    return None if instance is None else names.arguments(variables, instance)


def instance_text(instance: Mapping[str, str]) -> str:
    """` for a = m1, b = m2`, or nothing."""
    listed = ", ".join(f"{name} = {value}" for name, value in instance.items())
    return f" for {listed}" if listed else ""


def event_json(event: Event) -> dict[str, Any]:
    """A JSON object of one event."""
    match event:
        case Send():
            return {
                "event": "send",
                "process": event.process,
                "message": event.message,
                "destinations": list(event.destinations),
            }
        case Receive():
            return {"event": "receive", "process": event.process, "message": event.message, "sender": event.sender}
        case Deliver():
            return {"event": "deliver", "process": event.process, "message": event.message}
        case Input():
            arguments = list(event.arguments)
            return {"event": "input", "process": event.process, "input": event.name, "arguments": arguments}


def execution_json(execution: Execution) -> dict[str, Any]:
    """A JSON object of an execution."""
    return {"processes": execution.processes, "events": [event_json(event) for event in execution.events]}
