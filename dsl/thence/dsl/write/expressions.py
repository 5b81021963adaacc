"""Expressions and types as canonical text, with no more parentheses than the grammar needs.

`text_of` gives one line. `lines_of` breaks a formula before its connectives where it is too long for a
line, or where its writer broke it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from thence.dsl.text import syntax
from thence.dsl.text.precedence import COMPARISON_LEVEL, LEVELS, NOT_LEVEL
from thence.dsl.text.syntax import ActionPattern, Binder, Expr, PacketPattern, TypeExpr
from thence.spec.value import record

WIDTH = 120
INDENT = 2

_CONNECTIVES = ("leads to", "iff", "implies", "or", "and")


@record(frozen=True, slots=True)
class Line:
    """A line of the output: its depth, and from which lines of the source, and column, it comes (0: unknown)."""

    depth: int
    text: str
    start: int = 0
    end: int = 0
    column: int = 0
    top: bool = False


def type_text(type_: TypeExpr) -> str:
    """A type as text."""
    match type_:
        case syntax.NamedType(name):
            return name
        case syntax.CollectionType(kind, item):
            return f"{kind} of {type_text(item)}"
        case syntax.MapType(key, value):
            return f"map {type_text(key)} to {type_text(value)}"
        case _:
            assert_never(type_)


def _in_flight(kind: str, packet: PacketPattern) -> str:
    arguments = ", ".join([*(name.text for name in packet.parameters), *["..."] * packet.rest])
    sender = "" if packet.sender is None else f" from {packet.sender.text}"
    receiver = "" if packet.receiver is None else f" to {packet.receiver.text}"
    return f"{kind}({arguments}){sender}{receiver} in flight{' ahead' if packet.ahead else ''}"


def _action(action: ActionPattern) -> str:
    arguments = ", ".join([*(name.text for name in action.parameters), *["..."] * action.rest])
    what = arguments if action.kind is None else f"{action.kind.text}({arguments})"
    sender = "" if action.sender is None else f" from {action.sender.text}"
    return f"{action.process.text} {action.verb} {what}{sender}"


def _opening(kind: str, binders: tuple[Binder, ...]) -> str:
    """A quantifier as far as its formula."""
    return f"{kind} {binders_text(binders)}{':' if kind == 'when' else '.'} "


def binders_text(binders: tuple[Binder, ...]) -> str:
    """The variables of a quantifier; a type that several in a row share is written once."""
    texts: list[str] = []
    for index, binder in enumerate(binders):
        following = binders[index + 1] if index + 1 < len(binders) else None
        if binder.packet is not None:
            texts.append(_in_flight(binder.name.text, binder.packet))
        elif binder.action is not None:
            texts.append(_action(binder.action))
        elif binder.ahead:
            texts.append(f"{binder.name.text} ahead")
        elif binder.domain is not None:
            texts.append(f"{binder.name.text} in {text_of(binder.domain)}")
        elif binder.type is None or (following is not None and following.type == binder.type):
            texts.append(binder.name.text)
        else:
            texts.append(f"{binder.name.text}: {type_text(binder.type)}")
    return ", ".join(texts)


def text_of(expr: Expr, level: int = 0, last: bool = True) -> str:
    """An expression on one line.

    `level` is how tightly it must bind to stand where it does; `last` says that nothing of the same
    formula follows, so that a quantifier, which reaches as far right as it can, needs no parentheses.
    """
    match expr:
        case syntax.Number(value):
            return str(value)
        case syntax.Truth(value):
            return "true" if value else "false"
        case syntax.Nothing():
            return "none"
        case syntax.Empty():
            return "empty"
        case syntax.Variable(name):
            return name
        case syntax.FieldAccess(target, field):
            return f"{_postfix(target)}.{field.text}"
        case syntax.IndexAccess(target, key):
            return f"{_postfix(target)}[{text_of(key)}]"
        case syntax.Apply(function, arguments, process):
            whose = "" if process is None else _at_text(process)
            return f"{function.text}{whose}({list_text(arguments)})"
        case syntax.Construct(record, values):
            fields = ", ".join(f"{value.name.text}: {text_of(value.value)}" for value in values)
            return f"{record.text}({fields})"
        case syntax.SetDisplay(items):
            return "{" + list_text(items) + "}"
        case syntax.At(variable, process):
            return f"{variable.text}{_at_text(process)}"
        case _ if _needs_parentheses(expr, level, last):
            return f"({text_of(expr)})"
        case syntax.Not(operand):
            return f"not {text_of(operand, _under_not(operand), last)}"
        case syntax.IsTest(target, what, negated):
            return f"{text_of(target, COMPARISON_LEVEL + 1, False)} is {'not ' if negated else ''}{what}"
        case syntax.Binary(operator, left, right):
            before, behind = _operand_levels(operator)
            return f"{text_of(left, before, False)} {operator} {text_of(right, behind, last)}"
        case syntax.Conditional(condition, then, otherwise):
            return f"if {text_of(condition)} then {text_of(then)} else {text_of(otherwise)}"
        case syntax.Quantified(kind, binders, body):
            return f"{_opening(kind, binders)}{text_of(body)}"
        case _:
            assert_never(expr)


def _at_text(process: Expr) -> str:
    """`@p`: whose state is meant."""
    return f"@{text_of(process)}" if isinstance(process, syntax.Variable) else f"@({text_of(process)})"


def list_text(items: tuple[Expr, ...]) -> str:
    """Arguments, separated by commas."""
    return ", ".join(text_of(item) for item in items)


def lines_of(prefix: str, expr: Expr, depth: int, suffix: str = "", hang: int = 1) -> list[Line]:
    """A formula between prefix and suffix, on as many lines as it takes; the later ones `hang` levels deeper."""
    return _Breaker(depth, hang).lines(prefix, expr, suffix)


def _postfix(expr: Expr) -> str:
    """An expression in front of `.` or `[`."""
    match expr:
        case syntax.Not() | syntax.IsTest() | syntax.Binary() | syntax.Conditional() | syntax.Quantified():
            return f"({text_of(expr)})"
        case _:
            return text_of(expr)


def _under_not(operand: Expr) -> int:
    """`not (a = b)` keeps its parentheses, which it could do without, as it is misread without them."""
    compared = isinstance(operand, syntax.IsTest | syntax.Binary)
    return COMPARISON_LEVEL + 1 if compared else NOT_LEVEL


def _operand_levels(operator: syntax.BinaryOperator) -> tuple[int, int]:
    """The binding strengths that the left and the right operand need."""
    level = LEVELS[operator]
    if level == COMPARISON_LEVEL:
        return level + 1, level + 1
    return (level + 1, level) if operator == "implies" else (level, level + 1)


def _needs_parentheses(expr: Expr, level: int, last: bool) -> bool:
    match expr:
        case syntax.Quantified():
            return not last or level > COMPARISON_LEVEL + 1  # `n * (sum p: process. k@p)`
        case syntax.Conditional():
            return not last
        case syntax.Not():
            return level > NOT_LEVEL
        case syntax.IsTest():
            return level > COMPARISON_LEVEL
        case syntax.Binary(operator):
            return level > LEVELS[operator]
        case _:
            return False


class _Breaker:
    """Breaks one formula; `depth` is that of its first line."""

    def __init__(self, depth: int, hang: int) -> None:
        self.depth = depth
        self.hang = hang
        self.done: list[Line] = []

    def lines(self, prefix: str, expr: Expr, suffix: str) -> list[Line]:
        self.piece(prefix, expr, suffix, 0, True, self.depth, self.depth + self.hang)
        return self.done

    def piece(self, prefix: str, expr: Expr, suffix: str, level: int, last: bool, depth: int, deeper: int) -> None:
        """Put out `prefix expr suffix`: a line at `depth`, and where it must be broken more lines at `deeper`."""
        span = expr.span
        flat = f"{prefix}{text_of(expr, level, last)}{suffix}"
        fits = len(flat) + INDENT * depth <= WIDTH and span.line == span.end_line
        if fits or not _breakable(expr):
            self.done.append(Line(depth, flat, span.line, span.end_line, span.column))
            return
        if _needs_parentheses(expr, level, last):
            self.piece(prefix + "(", expr, ")" + suffix, 0, True, depth, deeper)
            return
        match expr:
            case syntax.Quantified(kind, binders, body):
                self.piece(f"{prefix}{_opening(kind, binders)}", body, suffix, 0, True, depth, deeper)
            case syntax.Not(operand):
                self.piece(f"{prefix}not ", operand, suffix, _under_not(operand), last, depth, deeper)
            case syntax.Conditional(condition, then, otherwise):
                self.piece(f"{prefix}if ", condition, "", 0, True, depth, deeper)
                self.piece("then ", then, "", 0, True, deeper, deeper + 1)
                self.piece("else ", otherwise, suffix, 0, last, deeper, deeper + 1)
            case syntax.Binary(operator, left, right) if operator in _CONNECTIVES:
                self.chain(prefix, expr, suffix, last, depth, deeper)
            case syntax.Binary(operator, left, right):
                before_level, behind_level = _operand_levels(operator)
                before = f"{prefix}{text_of(left, before_level, False)} {operator} "
                self.piece(before, right, suffix, behind_level, last, depth, deeper)
            case _:
                raise AssertionError(f"not breakable: {expr}")

    def chain(self, prefix: str, expr: syntax.Binary, suffix: str, last: bool, depth: int, deeper: int) -> None:
        """The operands of a connective: those that its writer has on one line together, else one a line."""
        pieces = _chain(expr)
        written_broken = expr.span.line != expr.span.end_line
        for index, (operand, level) in enumerate(pieces):
            final = index == len(pieces) - 1
            behind, rightmost = (suffix, last) if final else ("", False)
            if index == 0:
                self.piece(prefix, operand, behind, level, rightmost, depth, deeper)
                continue
            before = f"{expr.operator} "
            if written_broken and operand.span.line == pieces[index - 1][0].span.end_line:
                above = self.done[-1]
                single = operand.span.line == operand.span.end_line
                text = text_of(operand, level, rightmost) + behind if single else _head(operand, level, rightmost)
                if len(f"{above.text} {before}{text}") + INDENT * above.depth <= WIDTH:
                    at = len(self.done) - 1
                    self.done.pop()
                    joined = f"{above.text} {before}"
                    self.piece(joined, operand, behind, level, rightmost, above.depth, deeper + 1)
                    self.done[at] = replace(self.done[at], start=above.start, column=above.column)
                    continue
            self.piece(before, operand, behind, level, rightmost, deeper, deeper + 1)


def _breakable(expr: Expr) -> bool:
    """Whether a formula has a place to break before."""
    match expr:
        case syntax.Conditional():
            return True
        case syntax.Quantified(_, _, body):
            return _breakable(body)
        case syntax.Not(operand):
            return _breakable(operand)
        case syntax.Binary(operator, _, right):
            return operator in _CONNECTIVES or _breakable(right)
        case _:
            return False


def _head(expr: Expr, level: int, last: bool) -> str:
    """The first line of a formula that is broken wherever it can be."""
    if not _breakable(expr):
        return text_of(expr, level, last)
    if _needs_parentheses(expr, level, last):
        return f"({_head(expr, 0, True)}"
    match expr:
        case syntax.Quantified(kind, binders, body):
            return f"{_opening(kind, binders)}{_head(body, 0, True)}"
        case syntax.Not(operand):
            return f"not {_head(operand, _under_not(operand), last)}"
        case syntax.Conditional(condition):
            return f"if {_head(condition, 0, True)}"
        case syntax.Binary(operator, left, right) if operator not in _CONNECTIVES:
            before, behind = _operand_levels(operator)
            return f"{text_of(left, before, False)} {operator} {_head(right, behind, last)}"
        case syntax.Binary():
            operand, operand_level = _chain(expr)[0]
            return _head(operand, operand_level, False)
        case _:
            raise AssertionError(f"not breakable: {expr}")


def _chain(expr: syntax.Binary) -> list[tuple[Expr, int]]:
    """The operands of a chain of one connective, each with the level that it must bind at."""
    operator = expr.operator
    before, behind = _operand_levels(operator)
    operands: list[tuple[Expr, int]] = []
    rest: Expr = expr
    if operator == "implies":
        while isinstance(rest, syntax.Binary) and rest.operator == operator:
            operands.append((rest.left, before))
            rest = rest.right
        return [*operands, (rest, behind)]
    while isinstance(rest, syntax.Binary) and rest.operator == operator:
        operands.append((rest.right, behind))
        rest = rest.left
    return [(rest, before), *reversed(operands)]
