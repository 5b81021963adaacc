"""Types as written, to types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from thence.dsl.check.terms.environment import PROTOCOL_TYPES, declare
from thence.dsl.ir.types import Collection, Map, Record, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.foreign import TYPES, hint
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span


def resolve_type(written: syntax.TypeExpr, known: Mapping[str, Type | None], reporter: Reporter) -> Type | None:
    """The type that is meant; None where that has been reported."""
    match written:
        case syntax.NamedType(name=name):
            if name in known:
                return known[name]
            if name in PROTOCOL_TYPES and "process" in known:
                reporter.error("E0313", written.span, f"type `{name}` is not available here")
                return None
            reporter.error(
                "E0202", written.span, f"unknown type `{name}`", *(did_you_mean(name, known) or hint(TYPES, name))
            )
            return None
        case syntax.CollectionType(kind=kind, item=item):
            item_type = resolve_type(item, known, reporter)
            return None if item_type is None else Collection(kind, item_type)
        case syntax.MapType(key=key, value=value):
            key_type = resolve_type(key, known, reporter)
            value_type = resolve_type(value, known, reporter)
            return None if key_type is None or value_type is None else Map(key_type, value_type)
        case _:
            assert_never(written)


def resolve_sort(
    written: syntax.TypeExpr, known: Mapping[str, Type | None], reporter: Reporter, where: str
) -> Type | None:
    """The type that is meant, in a theory or machine, which have no collections and records."""
    if isinstance(written, syntax.NamedType):
        if written.name in ("bool", "nat") and written.name not in known:
            reporter.error("E0313", written.span, f"type `{written.name}` is not available {where}")
            return None
        return resolve_type(written, known, reporter)
    reporter.error(
        "E0313",
        written.span,
        f"a collection type is not available {where}",
        "write a relation instead: `relation waits(m: message, x: message)` is a set of messages for each message",
    )
    return None


def _names_in(written: syntax.TypeExpr) -> set[str]:
    match written:
        case syntax.NamedType(name=name):
            return {name}
        case syntax.CollectionType(item=item):
            return _names_in(item)
        case syntax.MapType(key=key, value=value):
            return _names_in(key) | _names_in(value)
        case _:
            assert_never(written)


def resolve_records(declarations: Sequence[syntax.RecordDecl], reporter: Reporter) -> dict[str, Type | None]:
    """All named types of a protocol: the built-in ones and its records, which may refer to one another in any order."""
    types: dict[str, Type | None] = dict(PROTOCOL_TYPES)
    declared: dict[str, Span] = {}
    waiting = {
        record.name.text: record for record in declarations if declare(record.name, "record", declared, reporter)
    }
    while waiting:
        ready = [
            record
            for record in waiting.values()
            if not any(_names_in(field.type) & waiting.keys() for field in record.fields if field.type is not None)
        ]
        if not ready:
            _report_cycle(waiting, types, reporter)
            return types
        for record in ready:
            del waiting[record.name.text]
            types[record.name.text] = _record(record, types, reporter)
    return types


def _report_cycle(waiting: Mapping[str, syntax.RecordDecl], types: dict[str, Type | None], reporter: Reporter) -> None:
    """The remaining records contain one another, or a record that does."""
    for name, record in waiting.items():
        types[name] = None
        if name in _reachable(name, waiting):
            reporter.error(
                "E0312",
                record.name.span,
                f"record `{name}` contains itself",
                "a value would have no end; refer to the other record by a number or a process",
            )


def _reachable(name: str, records: Mapping[str, syntax.RecordDecl]) -> set[str]:
    seen: set[str] = set()
    frontier = [name]
    while frontier:
        record = records.get(frontier.pop())
        for field in record.fields if record is not None else ():
            fresh = (_names_in(field.type) if field.type is not None else set()) - seen
            seen |= fresh
            frontier.extend(fresh)
    return seen


def _record(record: syntax.RecordDecl, types: Mapping[str, Type | None], reporter: Reporter) -> Record | None:
    labels: dict[str, Span] = {}
    fields: list[tuple[str, Type]] = []
    complete = True
    for field in record.fields:
        if not declare(field.name, "field", labels, reporter):
            complete = False
            continue
        type_ = resolve_parameter(field, types, reporter, f"field of record `{record.name.text}`")
        if type_ is None:
            complete = False
        else:
            fields.append((field.name.text, type_))
    return Record(record.name.text, tuple(fields)) if complete else None


def resolve_parameter(
    parameter: syntax.Parameter, types: Mapping[str, Type | None], reporter: Reporter, role: str
) -> Type | None:
    """The type of a parameter that has to be written; `role` says what it is a parameter of."""
    if parameter.type is None:
        reporter.error(
            "E0303",
            parameter.name.span,
            f"`{parameter.name.text}` needs a type: it is a {role}",
            f"write `{parameter.name.text}: TYPE`",
        )
        return None
    return resolve_type(parameter.type, types, reporter)
