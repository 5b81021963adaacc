"""The outline of a file: its declarations with their parts, and the stretches that can be folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from thence.dsl.text import syntax
from thence.dsl.text.syntax import Span
from thence.lsp.analysis import Analysis
from thence.lsp.naming.members import parameters_text
from thence.lsp.naming.symbols import SymbolKind


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of an outline: `span` is the whole of it, `name_span` where its name stands."""

    name: str
    kind: SymbolKind
    detail: str
    span: Span
    name_span: Span
    parts: tuple[Entry, ...] = ()


def outline(analysis: Analysis) -> tuple[Entry, ...]:
    """The declarations of a file, in its order."""
    return tuple(_declaration(one) for one in analysis.tree.declarations)


def _declaration(declaration: syntax.TopLevel) -> Entry:
    name, span = declaration.name, declaration.span
    detail, kind = _told(declaration)
    place = name.span if _inside(name.span, span) else span
    parts = sorted(_parts(declaration), key=lambda part: (part.span.line, part.span.column))
    return Entry(name.text or "?", kind, detail, span, place, tuple(parts))


def _told(declaration: syntax.TopLevel) -> tuple[str, SymbolKind]:
    match declaration:
        case syntax.Theory():
            return "theory", "theory"
        case syntax.Theorem(theory=theory):
            return f"theorem in {theory.text}", "theorem"
        case syntax.Machine():
            return "machine", "machine"
        case syntax.Protocol():
            return "protocol", "protocol"
        case syntax.Scope(protocol=of):
            return f"scope of {of.text}", "scope"
        case syntax.Conforms():
            return "link", "statement"
        case syntax.Mutant(subject=of):
            return f"mutant of {of.text}", "mutant"
        case syntax.Scenario(protocol=of):
            return f"scenario of {of.text}", "scenario"
        case syntax.Definition():
            return "def", "definition"


def _parts(declaration: syntax.TopLevel) -> Iterator[Entry]:
    match declaration:
        case syntax.Theory():
            for sorts in declaration.sorts:
                yield from (_entry(name, "sort", "sort", name.span) for name in sorts.names)
            yield from _symbols(declaration)
            yield from _formulas("axiom", declaration.axioms)
            yield from _formulas("property", declaration.properties)
            yield from _definitions(declaration)
            for inductive in declaration.inductives:
                yield _entry(inductive.name, "relation", "inductive", inductive.span)
        case syntax.Machine():
            for sorts in declaration.sorts:
                yield from (_entry(name, "sort", "sort", name.span) for name in sorts.names)
            yield from _symbols(declaration)
            yield from _definitions(declaration)
            yield from _formulas("axiom", declaration.axioms)
            yield from _machine_parts(declaration)
        case syntax.Protocol():
            for record in declaration.records:
                yield _entry(record.name, "record", "record", record.span)
            for kind in declaration.messages:
                yield _entry(kind.name, "packet kind", "message", kind.span)
            yield from _definitions(declaration)
            yield from _protocol_parts(declaration)
        case syntax.Mutant():
            yield from _definitions(declaration)
            yield from _protocol_parts(declaration)
            yield from (_entry(one.name, "transition", "transition", one.span) for one in declaration.transitions)
            yield from _formulas("stable", declaration.stable)
        case _:
            return


def _symbols(declaration: syntax.Theory | syntax.Machine) -> Iterator[Entry]:
    for functions in declaration.functions:
        yield from (_entry(name, "function", "function", name.span) for name in functions.names)
    for relations in declaration.relations:
        yield from (_entry(name, "relation", "relation", name.span) for name in relations.names)


def _definitions(
    declaration: syntax.Theory | syntax.Machine | syntax.Protocol | syntax.Mutant,
) -> Iterator[Entry]:
    for definition in declaration.definitions:
        yield _entry(definition.name, "definition", "def", definition.span)


def _machine_parts(machine: syntax.Machine) -> Iterator[Entry]:
    for transition in machine.transitions:
        yield _entry(transition.name, "transition", "transition", transition.span)
    yield from _formulas("invariant", machine.invariants)
    yield from _formulas("stable", machine.stable)
    yield from _formulas("reachable", machine.reachable)
    yield from _formulas("eventually", machine.eventual)


def _protocol_parts(protocol: syntax.Protocol | syntax.Mutant) -> Iterator[Entry]:
    for value in protocol.values:
        yield _entry(value.name, "named value", value.keyword, value.span)
    for variable in protocol.state:
        yield _entry(variable.name, "state variable", "state", variable.span)
    for handler in protocol.handlers:
        yield _handler(handler)
    for procedure in protocol.procedures:
        yield _entry(procedure.name, "procedure", "procedure", procedure.span)
    yield from _formulas("invariant", protocol.invariants)
    yield from _formulas("reachable", protocol.reachable)
    yield from _formulas("at rest", protocol.rest)
    yield from _formulas("eventually", (promise.formula for promise in protocol.promises))


def _handler(handler: syntax.Handler) -> Entry:
    """A handler; an input and a timer that has a name are found under this name."""
    first = Span(handler.span.line, handler.span.column, handler.span.line, handler.span.column + 1)
    if handler.kind is None:
        kind: SymbolKind = "timer" if handler.event == "periodically" else "handler"
        return Entry(handler.event, kind, kind, handler.span, first)
    place = handler.kind.span if _inside(handler.kind.span, handler.span) else first
    match handler.event:
        case "input":
            detail = f"input {parameters_text(handler.parameters)}".strip()
            return Entry(handler.kind.text, "input", detail, handler.span, place)
        case "periodically":
            return Entry(handler.kind.text, "timer", "timer", handler.span, place)
        case _:
            return Entry(f"{handler.event} {handler.kind.text}", "handler", "handler", handler.span, place)


def _formulas(keyword: str, formulas: Iterable[syntax.Formula]) -> Iterator[Entry]:
    for formula in formulas:
        yield _entry(formula.name, "statement", keyword, formula.span)


def _entry(name: syntax.Name, kind: SymbolKind, detail: str, span: Span) -> Entry:
    place = name.span if _inside(name.span, span) else Span(span.line, span.column, span.line, span.column)
    return Entry(name.text or detail, kind, detail, span, place)


def _inside(inner: Span, outer: Span) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    return begins and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def folds(analysis: Analysis) -> tuple[tuple[int, int], ...]:
    """The first and last line of each stretch that can be folded: blocks, by their indentation, as they are written."""
    found: list[tuple[int, int]] = []
    open_lines: list[int] = []
    line = last = 1
    for word in analysis.reading.words:
        if word.type == "INDENT":
            open_lines.append(line)
        elif word.type == "DEDENT":
            if open_lines:
                found.append((open_lines.pop(), last))
        else:
            last = word.end_line
            if word.type != "NEWLINE":
                line = word.line
                if word.type == "DOC" and word.end_line > word.line:
                    found.append((word.line, word.end_line))
    return tuple(sorted({(first, end) for first, end in found if end > first}))
