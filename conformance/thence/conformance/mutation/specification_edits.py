"""The faults that are put into protocols and machines, as edits of their text.

Where a fault can stand, and what fits there, is read off the typed IR, whose nodes know their place in the text. What
an edited text means is left to the front end: an edit that it refuses is no mutant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, Final, cast

from thence.conformance.mutation.edits import Edit, text_of
from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map
from thence.dsl.text.syntax import Span

OPERATORS: Final = {
    "skip statement": "an update, send, delivery, call, loop or return is left out",
    "skip initial value": "a variable starts from zero, or one later",
    "drop guard": "a condition is always true, or always false",
    "drop condition": "a part of a condition is left out",
    "negate condition": "a condition is turned round",
    "weaken comparison": "< for <=, = for <=, and so on",
    "discard merge": "of a maximum, minimum or sum, only one side is taken",
    "drop the absent": "a merge loses what the incoming side does not have",
    "drop metadata": "a packet takes an empty value along",
    "only the head": "a loop looks at the first element only",
    "swap process": "another process is meant",
    "swap arguments": "a relation is taken the other way round",
    "other quantifier": "exists for forall, or the other way round",
    "other branch": "a conditional value always takes one branch",
    "off by one": "a number is one larger",
}
"""Every operator, with its effect."""

_WEAKER: Final = {"<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",), "=": ("!=",), "!=": ("=",)}
_ORDERED: Final = {"=": ("<=", ">="), "!=": ("<", ">")}

_MOST_SWAPS = 2
"""Number of other processes that are put in one place."""


def protocol_edits(protocol: ir.Protocol, lines: list[str]) -> list[Edit]:
    """All single faults in the handlers, procedures and initial values of a protocol, in the text's order."""
    found: list[Edit] = []
    for variable in protocol.state:
        found += _initial(variable, lines)
    for handler in protocol.handlers:
        name = f"on {handler.event}" if handler.kind is None else f"on {handler.event} {handler.kind}"
        scope = [parameter.name for parameter in handler.parameters if parameter.type == PROCESS]
        messages = [parameter.name for parameter in handler.parameters if parameter.type == MESSAGE]
        names = [*([] if handler.sender is None else [handler.sender]), *scope]
        found += _Body(name, lines, protocol.delivery).block(handler.body, names, messages)
    for procedure in protocol.procedures:
        scope = [parameter.name for parameter in procedure.parameters if parameter.type == PROCESS]
        messages = [parameter.name for parameter in procedure.parameters if parameter.type == MESSAGE]
        found += _Body(f"procedure {procedure.name}", lines, protocol.delivery).block(procedure.body, scope, messages)
    return _proper(found, lines)


def machine_edits(machine: ir.Machine, lines: list[str]) -> list[Edit]:
    """All single faults in the transitions of a machine, in the text's order."""
    found: list[Edit] = []
    for transition in machine.transitions:
        body = _Body(f"transition {transition.name}", lines, machine.delivery)
        for require in transition.requires:
            found.append(Edit("drop guard", require.span, "pass", body.place))
            found += body.condition(require.body, [])
        for update in transition.updates:
            found.append(Edit("skip statement", update.span, "pass", body.place))
            found += body.expression(update.value, [])
    return _proper(found, lines)


def _proper(found: list[Edit], lines: list[str]) -> list[Edit]:
    """Each edit once, in the text's order, without those that change nothing or stand nowhere in the text."""
    kept = {
        (edit.span, edit.replacement): edit
        for edit in found
        if edit.span.line > 0 and edit.replacement != text_of(lines, edit.span)
    }
    return sorted(kept.values(), key=lambda edit: (edit.span.line, edit.span.column, edit.span.end_line,
                                                    edit.span.end_column, edit.operator, edit.replacement))  # fmt: skip


def _initial(variable: ir.StateVariable, lines: list[str]) -> Iterator[Edit]:
    if variable.initial.span.line and variable.type == NAT:
        text = text_of(lines, variable.initial.span)
        yield Edit("skip initial value", variable.initial.span, "0", f"state {variable.name}")
        yield Edit("skip initial value", variable.initial.span, f"{text} + 1", f"state {variable.name}")


class _Body:
    """The faults in one handler, procedure or transition."""

    def __init__(self, place: str, lines: list[str], delivery: ir.MachineDelivery) -> None:
        self.place = place
        self._lines = lines
        self._ends = ("src", "dst") if delivery == "unicast" else ("src",)

    def _edit(self, operator: str, span: Span, replacement: str) -> Edit:
        return Edit(operator, span, replacement, self.place)

    # --- statements --------------------------------------------------------------------------

    def block(self, statements: tuple[ir.Stmt, ...], processes: list[str], messages: list[str]) -> Iterator[Edit]:
        """Of the statements, one after the other. `processes` and `messages` are the names that stand for one."""
        known, sent = list(processes), list(messages)
        for statement in statements:
            yield from self._statement(statement, known, sent)
            if isinstance(statement, ir.Let) and statement.value.type == PROCESS:
                known.append(statement.name)
            elif isinstance(statement, ir.Let) and statement.value.type == MESSAGE:
                sent.append(statement.name)

    def _statement(self, statement: ir.Stmt, processes: list[str], messages: list[str]) -> Iterator[Edit]:
        if not isinstance(statement, ir.Let | ir.Ref | ir.Var):
            yield self._edit("skip statement", statement.span, "pass")
        names = [*processes, *(f"{message}.{end}" for message in messages for end in self._ends), "self"]
        match statement:
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                yield from self.condition(condition, names)
                yield from self.block(then, processes, messages)
                yield from self.block(otherwise, processes, messages)
            case ir.While(condition=condition, body=body):
                yield self._edit("only the head", self._keyword(statement.span, "while"), "if")
                yield from self.condition(condition, names)
                yield from self.block(body, processes, messages)
            case ir.For(name=name, variable=variable, domain=domain, body=body):
                if domain is not None:
                    yield from self.expression(domain, names)
                within = [*processes, name] if variable == PROCESS else processes
                also = [*messages, name] if variable == MESSAGE else messages
                yield from self.block(body, within, also)
            case ir.Choose(name=name, variable=variable, condition=condition, body=body, otherwise=otherwise):
                within = [*processes, name] if variable == PROCESS else processes
                also = [*messages, name] if variable == MESSAGE else messages
                if condition is not None:
                    yield from self.condition(condition, [*names, name] if variable == PROCESS else names)
                yield from self.block(body, within, also)
                yield from self.block(otherwise, processes, messages)
            case ir.Either(branches=branches):
                for branch in branches:
                    yield from self.block(branch, processes, messages)
            case ir.Send(arguments=arguments, to=to):
                for argument in arguments:
                    if (zero := _zero(argument)) is not None:
                        yield self._edit("drop metadata", argument.span, zero)
                    yield from self.expression(argument, names)
                yield from self.expression(to, names)
            case _:
                for child in _expressions(statement):
                    yield from self.expression(child, names)

    def _keyword(self, span: Span, word: str) -> Span:
        """The keyword with which the statement begins; the whole of it where it does not."""
        end = replace(span, end_line=span.line, end_column=span.column + len(word))
        return end if text_of(self._lines, end) == word else span

    # --- expressions -------------------------------------------------------------------------

    def condition(self, condition: ir.Expr, names: list[str]) -> Iterator[Edit]:
        """The edits of a guard and of its parts."""
        text = text_of(self._lines, condition.span)
        yield self._edit("drop guard", condition.span, "true")
        yield self._edit("drop guard", condition.span, "false")
        yield self._edit("negate condition", condition.span, f"not ({text})")
        yield from self.expression(condition, names)

    def expression(self, expression: ir.Expr, names: list[str]) -> Iterator[Edit]:
        """The edits of an expression and of its parts."""
        text = text_of(self._lines, expression.span) if expression.span.line else ""
        match expression:
            case ir.Connective(operator=operator, left=left, right=right):
                for side in (right,) if operator == "implies" else (left, right):
                    if operator != "iff":
                        yield self._part("drop condition", expression, side)
            case ir.Comparison(left=left, right=right):
                yield from self._comparison(expression, left, right)
            case ir.Arithmetic(left=left, right=right):
                for side in (left, right):
                    yield self._part("discard merge", expression, side)
                    if expression.operator == "max":
                        incoming = text_of(self._lines, side.span)
                        lost = f"(if {incoming} = 0 then 0 else {text})"
                        yield self._edit("drop the absent", expression.span, lost)
            case ir.Literal_(value=bool() as value):
                yield self._edit("negate condition", expression.span, "false" if value else "true")
            case ir.Literal_():
                yield self._edit("off by one", expression.span, f"({text} + 1)")
            case ir.Conditional(then=then, otherwise=otherwise):
                for side in (then, otherwise):
                    yield self._part("other branch", expression, side)
            case ir.Quantified(kind="forall" | "exists" as kind):
                span = self._keyword(expression.span, kind)
                other = "exists" if kind == "forall" else "forall"
                yield self._edit("other quantifier", span, other if span != expression.span else text)
            case ir.Apply(arguments=(first, second, *_)) if first.type == second.type and first != second:
                yield from self._swapped(first, second)
            case ir.Apply(symbol="src" | "dst" as end):
                other = "dst" if end == "src" else "src"
                yield self._edit("swap process", self._keyword(expression.span, end), other)
            case ir.Local() | ir.SelfProcess() | ir.Attribute() if expression.type == PROCESS and names:
                others = [name for name in names if name != text]
                for other in others[:_MOST_SWAPS]:
                    yield self._edit("swap process", expression.span, other)
            case _:
                pass
        for child in _expressions(expression):
            yield from self.expression(child, names)

    def _part(self, operator: str, whole: ir.Expr, side: ir.Expr) -> Edit:
        """One side of an operator in place of the whole, in brackets as the context may bind closer."""
        return self._edit(operator, whole.span, f"({text_of(self._lines, side.span)})")

    def _comparison(self, whole: ir.Expr, left: ir.Expr, right: ir.Expr) -> Iterator[Edit]:
        """The text has the sides in its own order: `a > b` is the comparison `b < a`."""
        first, second = sorted((left.span, right.span), key=lambda span: (span.line, span.column))
        if first.end_line != second.line or not first.line:
            return
        between = Span(first.end_line, first.end_column, second.line, second.column)
        written = text_of(self._lines, between)
        sign = written.strip(" ()")
        others = (*_WEAKER.get(sign, ()), *(_ORDERED.get(sign, ()) if left.type == NAT else ()))
        for other in others:
            yield self._edit("weaken comparison", between, written.replace(sign, other))

    def _swapped(self, first: ir.Expr, second: ir.Expr) -> Iterator[Edit]:
        spans = sorted((first.span, second.span), key=lambda span: (span.line, span.column))
        if spans[0].line and spans[0].line == spans[1].end_line:
            whole = Span(spans[0].line, spans[0].column, spans[1].end_line, spans[1].end_column)
            between = Span(spans[0].end_line, spans[0].end_column, spans[1].line, spans[1].column)
            one, other, middle = (text_of(self._lines, span) for span in (*spans, between))
            yield self._edit("swap arguments", whole, f"{other}{middle}{one}")


def _zero(expression: ir.Expr) -> str | None:
    """The zero of the expression's type as text; None where it has none, or no name."""
    match expression.type:
        case type_ if type_ == NAT:
            return "0"
        case type_ if type_ == BOOL:
            return "false"
        case Collection("option"):
            return "none"
        case Collection() | Map():
            return "empty"
        case _:
            return None


def _expressions(node: Any) -> Iterator[ir.Expr]:
    """The expressions right below a node."""
    for field in fields(node):
        value = getattr(node, field.name)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, ir.Expression):
                yield cast(ir.Expr, one)
            elif isinstance(one, ir.Bound) and one.domain is not None:
                yield one.domain
