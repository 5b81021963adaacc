"""Expressions as text: read again, every expression of the library and of what is drawn is the same expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.proofs.machine.against_execution.drawn_machines import drawn_machine
from tests.proofs.test_random_protocols import Draw
from tests.proofs.typed_protocols import drawn_protocol

from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, MESSAGE, NAT, PROCESS, Collection, Map, Record, Type
from thence.dsl.load import library as files
from thence.dsl.text.parse import parse
from thence.dsl.text.syntax import Span
from thence.dsl.write.show import show_expression


def expressions(node: Any) -> Iterator[ir.Expr]:
    """The expressions of a tree that stand in no other one, in the order of the tree.

    Without places; without what is not as it is written: mutants, denials of `reachable` formulas, definitions.
    """
    match node:
        case ir.Expression():
            yield node
        case tuple():
            for part in node:
                yield from expressions(part)
        case ir.Mutant() | ir.Theorem() | ir.Definition() | ir.Ref() | ir.Promise() | ir.LeadsTo():
            return
        case ir.Assign(value=value) | ir.Update(value=value):
            yield value
        case ir.Mutate(arguments=arguments):
            yield from arguments
        case ir.For(domain=domain, body=body, ref=ref):
            yield from () if domain is None or ref else (domain,)
            yield from expressions(body)
        case ir.Protocol(witnesses=witnesses, invariants=invariants):
            denials = tuple(each for each in invariants if each.name in witnesses)
            yield from expressions(tuple(part for part in parts(node) if part is not invariants))
            yield from expressions(tuple(each for each in invariants if each not in denials))
        case _ if is_dataclass(node):
            yield from expressions(parts(node))


def parts(node: Any) -> tuple[Any, ...]:
    return tuple(getattr(node, known.name) for known in fields(node))


def replaced(text: str, found: Iterable[ir.Expr]) -> str:
    """The text with each expression as `show_expression` writes it in the place where it stands, in brackets.

    A formula about actions (`when p delivers m: ...`) is a whole statement, and has none.
    """
    lines = text.split("\n")
    for expression in sorted(found, key=lambda each: begin(each.span), reverse=True):
        span = expression.span
        head, tail = lines[span.line - 1][: span.column - 1], lines[span.end_line - 1][span.end_column - 1 :]
        shown = show_expression(expression)
        middle = f"{head}{shown if is_about_actions(expression) else f'({shown})'}{tail}"
        lines[span.line - 1 : span.end_line] = [middle, *[""] * (span.end_line - span.line)]
    return "\n".join(lines)


def begin(span: Span) -> tuple[int, int]:
    return span.line, span.column


def apart(found: Iterable[ir.Expr]) -> Iterator[ir.Expr]:
    """Those that are in the text, and in no other one's place."""
    end = (0, 0)
    for expression in sorted(found, key=lambda each: begin(each.span)):
        if begin(expression.span) >= end and expression.span.line:
            yield expression
            end = (expression.span.end_line, expression.span.end_column)


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


def speaks_of_packets(expression: ir.Expr) -> bool:
    """In a link the names of packets, which are those of the protocol's fields, may be names of the machine, too."""
    return any(isinstance(node, ir.InFlight) for node in nodes(expression))


def read_again(text: str) -> int:
    """Holds a specification against the same with all expressions as they are shown; how many they are."""
    original = typed(text)
    logical = (original.machines, original.theories, original.links)
    in_links = {*map(id, expressions(original.links))}
    fit = [each for each in expressions(logical) if not is_difference(each)]
    fit = [each for each in fit if id(each) not in in_links or not speaks_of_packets(each)]
    shown = [*apart((*fit, *expressions(original.protocols)))]
    again = typed(replaced(text, shown))
    for part in ("machines", "theories", "protocols", "links"):
        assert [*expressions(getattr(again, part))] == [*expressions(getattr(original, part))]
    return len(shown)


@pytest.mark.long(but=("chandy_lamport", "happens_before", "hybrid_basic_printed", "tree"))
@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_read_again_it_is_the_same(path: Path) -> None:
    assert read_again(subjects(path.read_text(encoding="utf-8")))


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 40, 4))
def test_what_is_drawn_is_the_same_when_read_again(start: int) -> None:
    for seed in range(start, start + 4):
        for text in (drawn_protocol(seed, 5, 5), Draw(seed).text(), drawn_machine(seed)):
            assert read_again(text)


TELLING = """
protocol p:
  network reliable, reordering
  message MSG(m: message) carries m
  state: n: nat; S: set of process; L: option of process; H: set of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
"""


@pytest.mark.parametrize(
    ("formula", "typed_there"),
    [
        ("forall p, q: process. n@p <= n@q", False),
        ("forall p, q: process. p = q implies n@q = 0", False),
        ("forall p: process. exists q: process. q = p and n@q = 0", False),
        ("forall p: process. forall q: process. n@p = 0 and p in S@q", False),
        ("forall p, q: process. p = q or n@p = 0", False),
        ("forall p, q: process. p = q", True),
        ("forall p: process, x in S@p. x = p", False),
        ("(count p: process. true) > 1", True),
        ("forall p: process. (count q: process. true) > n@p", True),
        ("forall p: process. L@p = some(p)", False),
        ("forall p, q: process. L@p = some(q)", True),
        ("forall p, q: process. n@p = 0 and q in {q}", True),
        ("forall p: process. p in {p}", True),
        ("forall p: process. (exists q in S@p. q = p) and (exists q: process. q = q)", True),
    ],
)
def test_types_of_bound_variables(formula: str, typed_there: bool) -> None:
    """Where the use does not tell them, and only there; a type is that of the names before it, too."""
    text = f"{TELLING}  invariant i: {formula}\n"
    (protocol,) = typed(text).protocols
    assert (": process" in show_expression(protocol.invariants[0].body)) == typed_there
    assert read_again(text)


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
        (both("and", A, ir.Quantified(BOOL, "forall", (ir.Bound(PROCESS, "p"),), B)), "a and (forall p: process. b)"),
        (ir.Quantified(BOOL, "exists", (ir.Bound(PROCESS, "p"),), both("and", A, B)), "exists p: process. a and b"),
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
