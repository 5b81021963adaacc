"""Statements as canonical lines.

What the source has on one line stays on one line: simple statements separated by `;`, and a body behind the `:` of
its header. A tree without places is printed one statement a line.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import assert_never

from thence.dsl.text import syntax
from thence.dsl.text.syntax import Expr, Node, Stmt
from thence.dsl.write.expressions import INDENT, WIDTH, Line, binders_text, lines_of, list_text, text_of, type_text

_COMPOUND = (syntax.If, syntax.While, syntax.For, syntax.Choose, syntax.Either)


class BareLines:
    """The lines of the source on which something without a node begins (see `syntax.File`)."""

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers = numbers

    def last_in(self, after: int, until: int) -> int:
        """The last one behind line `after`, up to `until`; 0 if there is none."""
        return max((number for number in self.numbers if after < number <= until), default=0)

    def first_in(self, after: int, until: int) -> int:
        """The first one behind line `after`, up to `until`; 0 if there is none."""
        return min((number for number in self.numbers if after < number <= until), default=0)


def starting_at(node: Node, lines: list[Line]) -> list[Line]:
    """The lines, of which the first comes from where the node starts."""
    first, *rest = lines
    span = node.span
    return [replace(first, start=span.line, column=span.column, end=max(first.end, span.line)), *rest]


def block_lines(statements: tuple[Stmt, ...], depth: int, bare: BareLines) -> list[Line]:
    """The statements of a block, each line of the source on a line."""
    lines: list[Line] = []
    position = 0
    while position < len(statements):
        count = _sharing_a_line(statements[position:])
        group = statements[position : position + count]
        position += count
        if count == 1:
            lines += _statement(group[0], depth, bare)
        else:
            text = "; ".join(_simple_text(statement) for statement in group)
            lines += starting_at(group[0], [Line(depth, text)])
    return lines


def with_body(header: list[Line], header_end: int, body: tuple[Stmt, ...], bare: BareLines) -> list[Line]:
    """A header (its last line without `:`) and its body, on the header's line if the source has it there."""
    depth = header[0].depth
    last = header[-1]
    text = _on_the_line(body, header_end)
    if text is not None and len(f"{last.text}: {text}") + INDENT * last.depth <= WIDTH:
        return [*header[:-1], replace(last, text=f"{last.text}: {text}")]
    return [*header[:-1], replace(last, text=f"{last.text}:"), *block_lines(body, depth + 1, bare)]


def _on_the_line(body: tuple[Stmt, ...], line: int) -> str | None:
    """A body as it stands behind the `:` of its header; None if the source does not have all of it on this line."""
    if not line or any(not statement.span.line == statement.span.end_line == line for statement in body):
        return None
    match body:
        case (
            (
                syntax.If(_, inner, ())
                | syntax.While(_, inner)
                | syntax.For(_, _, inner)
                | syntax.Choose(_, _, _, inner, ())
            ) as statement,
        ):
            header = _header_text(statement)
        case _ if any(isinstance(statement, _COMPOUND) for statement in body):
            return None
        case _:
            return "; ".join(_simple_text(statement) for statement in body)
    text = _on_the_line(inner, line)
    return None if text is None else f"{header}: {text}"


def change_text(change: syntax.Change) -> str:
    """The part of the subject that a change is of."""
    words = {"causal_send": "on causal_send", "receive": "on receive", "input": "on"}.get(change.event, change.event)
    return words if change.name is None else f"{words} {change.name.text}"


def edit_lines(edit: syntax.Edit, depth: int, bare: BareLines) -> list[Line]:
    """An edit of a mutant."""
    place, line = place_text(edit.place), edit.place.span.end_line
    match edit.action:
        case "drop":
            lines = [Line(depth, f"drop {place}")]
        case "header":
            lines = [Line(depth, f"replace {place} by {place_text(edit.body[0])}")]
        case "inside":
            inner = [line for each in edit.edits for line in edit_lines(each, depth + 1, bare)]
            return [*starting_at(edit, [Line(depth, f"inside {place}:")]), *inner]
        case "replace":
            lines = with_body([Line(depth, f"replace {place} by", line, line)], line, edit.body, bare)
        case "before" | "after":
            lines = with_body([Line(depth, f"{edit.action} {place}", line, line)], line, edit.body, bare)
        case _:
            assert_never(edit.action)
    return starting_at(edit, lines)


def place_text(place: Stmt) -> str:
    """A simple statement, or the header of another one."""
    if isinstance(place, syntax.Either):
        return "either"
    return _header_text(place) if isinstance(place, _COMPOUND) else _simple_text(place)


def _header_text(statement: syntax.If | syntax.While | syntax.For | syntax.Choose) -> str:
    match statement:
        case syntax.If(condition):
            return f"if {text_of(condition)}"
        case syntax.While(condition):
            return f"while {text_of(condition)}"
        case syntax.For(name, domain, _, ref):
            return f"for {'ref ' if ref else ''}{name.text} in {text_of(domain)}"
        case syntax.Choose(name, domain, condition):
            such = "" if condition is None else f" such that {text_of(condition)}"
            return f"choose {name.text} in {text_of(domain)}{such}"
        case _:
            assert_never(statement)


def _sharing_a_line(statements: tuple[Stmt, ...]) -> int:
    """The number of statements, from the first on, that are simple and share a line of the source."""
    count = 0
    line = statements[0].span.line
    for statement in statements:
        span = statement.span
        if isinstance(statement, _COMPOUND) or not (span.line == span.end_line == line) or line == 0:
            break
        count += 1
    width = len("; ".join(_simple_text(statement) for statement in statements[:count]))
    return max(count, 1) if width <= WIDTH else 1


def _statement(statement: Stmt, depth: int, bare: BareLines) -> list[Line]:
    match statement:
        case syntax.If():
            lines = _if(statement, "", depth, statement.span.column, bare)
        case syntax.While(condition, body):
            header = lines_of("while ", condition, depth, hang=2)
            lines = with_body(header, condition.span.end_line, body, bare)
        case syntax.For(name, domain, body, ref):
            header = lines_of(f"for {'ref ' if ref else ''}{name.text} in ", domain, depth, hang=2)
            lines = with_body(header, domain.span.end_line, body, bare)
        case syntax.Choose():
            lines = _choose(statement, depth, bare)
        case syntax.Either(branches):
            lines = _either(statement, branches, depth, bare)
        case _:
            prefix, expr = _parts(statement)
            lines = [Line(depth, prefix)] if expr is None else lines_of(prefix, expr, depth)
    return starting_at(statement, lines)


def _if(statement: syntax.If, prefix: str, depth: int, column: int, bare: BareLines) -> list[Line]:
    """An `if` at a column with its `else`s; `prefix` is `else ` for one that is the whole of an `otherwise`."""
    condition, then, otherwise = statement.condition, statement.then, statement.otherwise
    header = lines_of(f"{prefix}if ", condition, depth, hang=2)
    first, *rest = starting_at(statement, with_body(header, condition.span.end_line, then, bare))
    lines = [replace(first, column=column), *rest]
    match otherwise:
        case ():
            return lines
        case (syntax.If() as nested,):
            return lines + _if(nested, "else ", depth, column, bare)
        case _:
            return lines + _further("else", then, otherwise, Line(depth, "", column=column), bare)


def _further(word: str, before: tuple[Stmt, ...], body: tuple[Stmt, ...], place: Line, bare: BareLines) -> list[Line]:
    """A further body of a statement, under a line of one word, at the depth and column of `place`."""
    start = bare.last_in(before[-1].span.end_line, body[0].span.line)
    return with_body([replace(place, text=word, start=start, end=start)], start, body, bare)


def _choose(statement: syntax.Choose, depth: int, bare: BareLines) -> list[Line]:
    domain, condition = statement.domain, statement.condition
    prefix = f"choose {statement.name.text} in "
    if condition is not None:
        prefix, domain = f"{prefix}{text_of(domain)} such that ", condition
    header = lines_of(prefix, domain, depth, hang=2)
    lines = with_body(header, domain.span.end_line, statement.body, bare)
    if not statement.otherwise:
        return lines
    place = Line(depth, "", column=statement.span.column)
    return lines + _further("else", statement.body, statement.otherwise, place, bare)


def _either(
    statement: syntax.Either, branches: tuple[tuple[Stmt, ...], ...], depth: int, bare: BareLines
) -> list[Line]:
    line, place = statement.span.line, Line(depth, "", column=statement.span.column)
    lines = with_body([replace(place, text="either", start=line, end=line)], line, branches[0], bare)
    for before, branch in pairwise(branches):
        lines += _further("or", before, branch, place, bare)
    return lines


def _simple_text(statement: Stmt) -> str:
    prefix, expr = _parts(statement)
    return prefix if expr is None else prefix + text_of(expr)


def _parts(statement: Stmt) -> tuple[str, Expr | None]:
    """A simple statement: its text up to the expression that it ends with, and that expression."""
    match statement:
        case syntax.Let(name, value, ref):
            return f"{'ref' if ref else 'let'} {name.text} = ", value
        case syntax.Var(name, type_, value):
            return f"var {name.text}{'' if type_ is None else f': {type_text(type_)}'} = ", value
        case syntax.Assign(place, value, binders):
            each = f"forall {binders_text(binders)}: " if binders else ""
            return f"{each}{text_of(place)} := ", value
        case syntax.Mutate(place, method, arguments):
            return f"{text_of(syntax.FieldAccess(place, method))}({list_text(arguments)})", None
        case syntax.Call(procedure, arguments):
            return f"{procedure.text}({list_text(arguments)})", None
        case syntax.Return():
            return "return", None
        case syntax.Pass():
            return "pass", None
        case syntax.Send(kind, arguments, to):
            return f"send {kind.text}({list_text(arguments)}) to ", to
        case syntax.Deliver(message):
            return "deliver ", message
        case syntax.Require(condition):
            return "require ", condition
        case syntax.If() | syntax.While() | syntax.For() | syntax.Choose() | syntax.Either():
            raise AssertionError("not a simple statement")
        case _:
            assert_never(statement)
