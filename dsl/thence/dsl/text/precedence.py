"""From the flat chain of a formula to its tree.

From loose to tight: `leads to`, `iff`, `implies` (to the right), `or`, `and`, `not`, comparison with `in` and `is`
(no chaining), `+` and `-`, `*`. Quantifiers and `if then else` reach as far right as they can, so in a chain
they only ever stand last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from thence.dsl.text.lines import Word, span_of
from thence.dsl.text.syntax import Binary, BinaryOperator, Expr, IsTest, Not, Span

Report: TypeAlias = Callable[[str, str, Span, str], None]
"""Called with code, message, place and note of a fault."""

LEVELS: dict[BinaryOperator, int] = {
    "leads to": 0,
    "iff": 1, "implies": 2, "or": 3, "and": 4, "=": 6, "!=": 6, "<": 6, "<=": 6, ">": 6, ">=": 6, "in": 6,
    "not in": 6, "+": 7, "-": 7, "*": 8,
}  # fmt: skip
NOT_LEVEL = 5
COMPARISON_LEVEL = 6

_OPERATORS: dict[str, BinaryOperator] = {str(operator): operator for operator in LEVELS}


def span_over(first: Span, last: Span) -> Span:
    """From the start of the one to the end of the other."""
    return Span(first.line, first.column, last.end_line, last.end_column)


def tree_of(chain: list[Word | Expr], report: Report) -> Expr:
    """The tree of a chain of operands and operator words, as the grammar's `expr` has it."""
    operands: list[Expr] = []
    pending: list[tuple[int, BinaryOperator | None, Word]] = []  # level, operator (None: `not`), its word
    compared = False  # the last operand is a finished `is` test
    expects_operand = True
    position = 0

    def reduce_above(level: int) -> None:
        while pending and pending[-1][0] > level:
            _, operator, word = pending.pop()
            right = operands.pop()
            if operator is None:
                operands.append(Not(right, span=span_over(span_of(word), right.span)))
            else:
                left = operands.pop()
                operands.append(Binary(operator, left, right, span=span_over(left.span, right.span)))

    def no_chaining(word: Word) -> None:
        if compared or (pending and pending[-1][0] == COMPARISON_LEVEL):
            note = "write `a < b and b < c`, or put parentheses around one comparison"
            report("E0121", "comparisons do not chain", span_of(word), note)

    while position < len(chain):
        item = chain[position]
        position += 1
        if not isinstance(item, Word):
            operands.append(item)
            expects_operand, compared = False, False
        elif expects_operand:
            if pending and pending[-1][0] > NOT_LEVEL:
                before = pending[-1][2]
                report(
                    "E0133",
                    f"`not` right after `{before}`",
                    span_of(item),
                    f"`not` binds less tightly than `{before}`: put parentheses around `not ...`",
                )
            pending.append((NOT_LEVEL, None, item))
        elif item == "is":
            reduce_above(COMPARISON_LEVEL)
            no_chaining(item)
            negated = chain[position] == "not"
            what = chain[position + negated]
            assert isinstance(what, Word)
            position += 1 + negated
            target = operands.pop()
            span = span_over(target.span, span_of(what))
            operands.append(IsTest(target, "empty" if what == "empty" else "none", negated, span=span))
            compared = True
        else:
            text = {"not": "not in", "leads": "leads to"}.get(item, str(item))
            position += text in ("not in", "leads to")
            operator = _OPERATORS[text]
            level = LEVELS[operator]
            reduce_above(level if operator == "implies" or level == COMPARISON_LEVEL else level - 1)
            if level >= COMPARISON_LEVEL and (compared or level == COMPARISON_LEVEL):
                no_chaining(item)
            pending.append((level, operator, item))
            expects_operand, compared = True, False
    reduce_above(-1)
    (tree,) = operands
    return tree
