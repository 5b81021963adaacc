"""Expressions as text: read again, every expression of the library is the same expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record, Type
from thence.dsl.load import library as files
from thence.dsl.text.parse import parse
from thence.dsl.write.show import show_expression


def guards(node: Any) -> Iterator[ir.Expr]:
    """The conditions and values of all statements and all named formulas, without what is inside them."""
    match node:
        case ir.NamedFormula(body=body) | ir.Update(value=body):
            yield body
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            yield condition
            yield from guards((then, otherwise))
        case ir.While(condition=condition, body=body):
            yield condition
            yield from guards(body)
        case ir.Assign(value=value) | ir.Let(value=value):
            yield value
        case tuple():
            for part in node:
                yield from guards(part)
        case ir.Link() | ir.Mutant() | ir.Theorem():
            return
        case _ if is_dataclass(node):
            for known in fields(node):
                yield from guards(getattr(node, known.name))


def replaced(text: str, expression: ir.Expr) -> str:
    """The text with the expression as `show_expression` writes it in the place where it stands, in brackets.

    A formula about actions (`when p delivers m: ...`) is a whole statement, and has none.
    """
    lines = text.split("\n")
    span = expression.span
    before = lines[: span.line - 1]
    head, tail = lines[span.line - 1][: span.column - 1], lines[span.end_line - 1][span.end_column - 1 :]
    shown = show_expression(expression)
    middle = f"{head}{shown if is_about_actions(expression) else f'({shown})'}{tail}"
    return "\n".join([*before, middle, *lines[span.end_line :]])


def is_about_actions(expression: ir.Expr) -> bool:
    return isinstance(expression, ir.Quantified) and any(
        isinstance(known.domain, ir.Acted) for known in expression.variables
    )


def subjects(text: str) -> str:
    """Without mutants, whose edits quote what is then written otherwise, and without scenarios of theirs."""
    blocks = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)
    return "".join(block for block in blocks if not block.startswith(("mutant ", "scenario ")))


def typed(text: str) -> ir.Specification:
    tree, faults = parse(text, "shown.thence")
    assert tree is not None, faults
    specification, found = elaborate(tree, "shown.thence")
    assert specification is not None, found
    return specification


def is_difference(expression: ir.Expr) -> bool:
    """In machines `a - b` is `if b <= a then a - b else 0`, whose difference, read again, becomes one anew."""
    return any(isinstance(node, ir.Arithmetic) and node.operator == "-" for node in nodes(expression))


@pytest.mark.long(but=("cykas_printed", "happens_before", "hybrid_basic_printed", "hybrid_multicast_printed"))
@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_read_again_it_is_the_same(path: Path) -> None:
    text = subjects(path.read_text(encoding="utf-8"))
    original = typed(text)
    expressions = [
        known
        for known in guards((original.machines, original.protocols, original.theories))
        if known.span.line and not is_difference(known)
    ]
    assert expressions
    for expression in expressions[:: max(1, len(expressions) // 12)]:
        again = typed(replaced(text, expression))
        shown = list(guards((again.machines, again.protocols, again.theories)))
        assert shown == list(guards((original.machines, original.protocols, original.theories)))


P, M = ir.Local(PROCESS, "p"), ir.Local(MESSAGE, "m")
A, B, C = (ir.Local(BOOL, name) for name in "abc")
ONE, TWO = ir.Literal_(NAT, 1), ir.Literal_(NAT, 2)
PAIR = Record("Pair", (("left", NAT), ("right", NAT)))


def both(operator: Any, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Connective(BOOL, operator, left, right)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (both("and", both("or", A, B), C), "(a or b) and c"),
        (both("or", both("and", A, B), C), "a and b or c"),
        (both("implies", A, both("implies", B, C)), "a implies b implies c"),
        (both("implies", both("implies", A, B), C), "(a implies b) implies c"),
        (ir.Not(BOOL, both("and", A, B)), "not (a and b)"),
        (ir.Not(BOOL, ir.Not(BOOL, A)), "not not a"),
        (ir.Not(BOOL, ir.Comparison(BOOL, "=", ONE, TWO)), "1 != 2"),
        (ir.Not(BOOL, ir.Comparison(BOOL, "<", ONE, TWO)), "not 1 < 2"),
        (ir.Arithmetic(NAT, "-", ONE, ir.Arithmetic(NAT, "-", TWO, ONE)), "1 - (2 - 1)"),
        (ir.Arithmetic(NAT, "-", ir.Arithmetic(NAT, "-", TWO, ONE), ONE), "2 - 1 - 1"),
        (ir.Arithmetic(NAT, "*", ir.Arithmetic(NAT, "+", ONE, TWO), TWO), "(1 + 2) * 2"),
        (ir.Arithmetic(NAT, "+", ir.Arithmetic(NAT, "*", ONE, TWO), TWO), "1 * 2 + 2"),
        (ir.Arithmetic(NAT, "*", ONE, ir.Arithmetic(NAT, "*", ONE, TWO)), "1 * (1 * 2)"),
        (ir.Arithmetic(NAT, "max", ONE, ir.Arithmetic(NAT, "+", ONE, TWO)), "max(1, 1 + 2)"),
        (both("and", A, ir.Quantified(BOOL, "forall", (ir.Bound(PROCESS, "p"),), B)), "a and (forall p. b)"),
        (ir.Quantified(BOOL, "exists", (ir.Bound(PROCESS, "p"),), both("and", A, B)), "exists p. a and b"),
        (ir.StateOf(NAT, "n", P), "n@p"),
        (ir.StateOf(NAT, "n", ir.Attribute(PROCESS, M, "src")), "n@(m.src)"),
        (ir.Construct(PAIR, (ONE, TWO)), "Pair(left: 1, right: 2)"),
        (ir.Conditional(NAT, A, ONE, TWO), "if a then 1 else 2"),
        (ir.Arithmetic(NAT, "+", ir.Conditional(NAT, A, ONE, TWO), ONE), "(if a then 1 else 2) + 1"),
        (ir.Member(BOOL, P, ir.SetOf(Collection("set", PROCESS), (P, P))), "p in {p, p}"),
        (ir.Some(Collection("option", NAT), ONE), "some(1)"),
        (ir.Literal_(BOOL, True), "true"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_only_the_brackets_that_are_needed(expression: ir.Expr, text: str) -> None:
    assert show_expression(expression) == text


@pytest.mark.parametrize(
    ("type_", "text"),
    [(NAT, "0"), (BOOL, "false"), (Collection("option", NAT), "none"), (Map(NAT, NAT), "empty")],
    ids=str,
)
def test_zeros(type_: Type, text: str) -> None:
    assert show_expression(ir.Zero(type_)) == text
