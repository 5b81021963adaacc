"""Expressions that make values: zeros, windows, records, sets."""

from __future__ import annotations

from thence.dsl import ir
from thence.dsl.check.terms.checker import Checker
from thence.dsl.check.terms.environment import UNKNOWN, Expected, Unknown, a, listed
from thence.dsl.check.terms.queries import can_be_empty
from thence.dsl.ir.types import NAT, Collection, Record
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.syntax import Span


def make_zero(checker: Checker, expr: syntax.Nothing | syntax.Empty, expected: Expected, word: str) -> ir.Expr | None:
    """`none` or `empty`, of the type that the context asks for."""
    if isinstance(expected, Unknown):
        return None
    if expected is None:
        checker.reporter.error(
            "E0304",
            expr.span,
            f"the type of `{word}` cannot be found out here",
            "only what it is compared with or assigned to tells it",
        )
        return None
    is_option = isinstance(expected, Collection) and expected.kind == "option"
    if is_option if word == "none" else can_be_empty(expected):
        return ir.Zero(expected, span=expr.span)
    what = "an option without a value" if word == "none" else "a collection without elements"
    checker.reporter.error("E0301", expr.span, f"`{word}` is {what}, but {a(expected)} is expected")
    return None


def make_window(checker: Checker, expr: syntax.Apply, expected: Expected) -> ir.Expr | None:
    """`window(n)`: an empty sliding array or map whose next index is n."""
    start = checker.arguments("`window`", expr.arguments, (ir.Variable("start", NAT),), expr.span)
    if start is None or isinstance(expected, Unknown):
        return None
    match expected:
        case Collection("sliding array" | "sliding map"):
            return ir.Apply(expected, "window", start, span=expr.span)
        case None:
            checker.reporter.error("E0304", expr.span, "the type of this `window` cannot be found out here")
        case _:
            checker.reporter.error(
                "E0301", expr.span, f"`window` is an empty sliding array or map, but {a(expected)} is expected"
            )
    return None


def make_record(checker: Checker, expr: syntax.Construct) -> ir.Expr | None:
    """`Rec(field: e, ...)`: every field once, in any order."""
    name = expr.record.text
    record = checker.vocabulary.types.get(name)
    if not isinstance(record, Record):
        for field in expr.fields:
            checker.infer(field.value, UNKNOWN)
        if name not in checker.vocabulary.types or record is not None:
            checker.reporter.error(
                "E0211",
                expr.record.span,
                f"there is no record `{name}`",
                *did_you_mean(name, checker.vocabulary.records),
            )
        return None
    values: dict[str, ir.Expr | None] = {}
    for field in expr.fields:
        label = field.name.text
        type_ = record.field(label)
        if type_ is None:
            labels = [known for known, _ in record.fields]
            checker.reporter.error(
                "E0307",
                field.name.span,
                f"record `{name}` has no field `{label}`",
                *did_you_mean(label, labels),
                f"its fields are {listed(labels)}",
            )
        elif label in values:
            checker.reporter.error("E0307", field.name.span, f"field `{label}` is given twice")
        if type_ is None:
            checker.check(field.value, UNKNOWN, "")
        else:
            values[label] = checker.check(field.value, type_, f"field `{label}` of record `{name}` is {a(type_)}")
    missing = [label for label, _ in record.fields if label not in values]
    if missing:
        if all(record.field(field.name.text) is not None for field in expr.fields):
            checker.reporter.error(
                "E0307",
                expr.span,
                f"record `{name}` lacks {listed(missing)} here",
                "every field is given, in any order",
            )
        return None
    ordered = [values[label] for label, _ in record.fields]
    complete = tuple(value for value in ordered if value is not None)
    return ir.Construct(record, complete, span=expr.span) if len(complete) == len(ordered) else None


def make_set(checker: Checker, items: tuple[syntax.Expr, ...], expected: Expected, span: Span) -> ir.Expr | None:
    """`{a, b}`."""
    known: Expected = UNKNOWN if isinstance(expected, Unknown) else None
    if isinstance(expected, Collection) and expected.kind == "set":
        known = expected.item
    found: list[ir.Expr | None] = []
    for item in items:
        value = (
            checker.infer(item)
            if known is None
            else checker.check(item, known, f"the elements of this set are `{known}`")
        )
        found.append(value)
        if known is None:
            known = UNKNOWN if value is None else value.type
    complete = tuple(item for item in found if item is not None)
    if len(complete) != len(found):
        return None
    return ir.SetOf(Collection("set", complete[0].type), complete, span=span)
