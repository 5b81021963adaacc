"""Definitions: where they can stand, what they may read, and that they are what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from thence.dsl import ir
from thence.dsl.check.elaborate import elaborate
from thence.dsl.text.parse import parse

Specify = Callable[[str], ir.Specification]

PROTOCOL = """
protocol p:
  message MSG(m: message) carries m
  state:
    n: nat
    S: set of process
{definitions}
  on causal_send(m):
    n := n + 1
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    if {guard}: deliver m
  invariant stated: {stated}
"""


def codes(text: str) -> list[str]:
    tree, faults = parse(text, "t.thence")
    assert tree is not None, faults
    _, found = elaborate(tree, "t.thence")
    return [fault.code for fault in found if fault.code not in ("W0901", "W0907")]


def protocol(definitions: str = "", guard: str = "n > 0", stated: str = "forall p: process. n@p < 9") -> str:
    return PROTOCOL.format(definitions=definitions, guard=guard, stated=stated)


def with_file(definitions: str, *rest: str) -> str:
    return f"{definitions}\n\n{protocol(*rest)}"


@pytest.mark.parametrize(
    ("definition", "use", "written"),
    [
        ("def busy(): n > 0", "busy()", "n > 0"),
        ("def other(q): q != self and q in S", "other(j)", "j != self and j in S"),
        ("def most(a: nat, b: nat): if a < b then b else a", "most(n, most(1, 2)) = 2",
         "(if n < (if 1 < 2 then 2 else 1) then (if 1 < 2 then 2 else 1) else n) = 2"),
        ("def lone(q: process): forall r in S. r = q", "exists r in S. lone(r)", "exists r in S. forall x in S. x = r"),
    ],
)  # fmt: skip
def test_a_definition_is_its_expression(specify: Specify, definition: str, use: str, written: str) -> None:
    defined = specify(protocol(f"  {definition}", guard=use)).protocols[0]
    by_hand = specify(protocol(guard=written)).protocols[0]
    states = [condition(defined), condition(by_hand)]
    renamed = [replace(state, variables=()) if isinstance(state, ir.Quantified) else state for state in states]
    if "forall" not in written:
        assert states[0] == states[1]
    else:
        assert isinstance(renamed[0], ir.Quantified)
        names = [bound.name for node in states if isinstance(node, ir.Quantified) for bound in node.variables]
        assert names[0] == "r"


def condition(typed: ir.Protocol) -> ir.Expr:
    (statement,) = typed.handlers[1].body
    assert isinstance(statement, ir.If)
    return statement.condition


def test_a_definition_for_a_process(specify: Specify) -> None:
    asked = "forall p: process. not other@p(p)"
    (typed,) = specify(protocol("  def other(q): q != self and q in S", "other(j)", asked)).protocols
    (by_hand,) = specify(protocol(stated="forall p: process. not (p != p and p in S@p)")).protocols
    assert typed.invariants[0].body == by_hand.invariants[0].body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (protocol("  def busy(): n > 0", "busy()", "forall p: process. busy()"), ["E0421"]),
        (protocol("  def few(k: nat): k < 2", "few(n)", "forall p: process. few@p(n@p)"), ["E0421"]),
        (protocol("  def all_(k: nat): forall p: process. n@p = k", "all_(0)"), ["E0421"]),
        (protocol("  def busy(): n > 0", "busy@j()"), ["E0401"]),
        (protocol("  def x(a: nat): y(a)\n  def y(a: nat): x(a)", "x(1)"), ["E0420"]),
        (protocol("  def n(a: nat): a > 1", "n > 1"), ["E0209"]),
        (protocol("  def max(a: nat): a > 1", "n > 1"), ["E0212", "W0931"]),
        (protocol("  def one(a): a = a", "one(1)"), ["E0303"]),
        (protocol("  def one(a: nat): a + true", "one(1) = 1"), ["E0301"]),
        (protocol("  def one(a: nat): a > 1", "one(true)"), ["E0301"]),
        (protocol("  def one(a: nat): a > 1", "one"), ["E0311"]),
        (protocol("  def one(a: nat): a > 1\n  def one(b: nat): b > 2", "one(1)"), ["E0208"]),
        (protocol("", "one@j(1)"), ["E0207"]),
        (with_file("def one(a: nat): a > 1", "  def one(a: nat): a > 2", "one(n)"), ["E0208"]),
        (with_file("def busy(a: nat): n > a", "", "busy(1)"), ["E0201"]),
        (with_file("def unused(a: nat): nonsense(a)"), ["W0931"]),
        (with_file("def one(a: nat): a > 1\ndef two(a: nat): one(a + 1)", "", "two(n)"), []),
    ],
)
def test_diagnostics(text: str, expected: list[str]) -> None:
    assert sorted(codes(text)) == expected


def test_an_error_in_a_definition_of_the_file_is_said_once() -> None:
    twice = protocol("", "busy(1)").replace("protocol p", "protocol q")
    assert codes(f"def busy(a: nat): n > a\n\n{protocol('', 'busy(1)')}\n{twice}") == ["E0201"]


def test_machines_and_theories(specify: Specify) -> None:
    machine = """
def ready(m: message): forall a. before(a, m) implies {body}

machine p:
  def done(a: message): delivered(a)
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m) and ready(m)
  prove fifo
"""
    (typed,) = specify(machine.replace("{body}", "delivered(a)")).machines
    written = "(forall a. before(a, m) implies done(a))"
    text = machine.replace("{body}", "delivered(a)").replace("ready(m)\n", f"{written}\n")
    (own,) = specify(text).machines
    assert [one.body for one in typed.transitions[1].requires] == [one.body for one in own.transitions[1].requires]


def test_a_mutant_restates_a_definition(specify: Specify) -> None:
    text = protocol("  def early(): n > 0", "early()") + "\nmutant m of p:\n  def early(): true\n"
    (mutant,) = specify(text).mutants
    assert isinstance(mutant.mutated, ir.Protocol)
    assert condition(mutant.mutated) == ir.Literal_(condition(mutant.mutated).type, True)


THEORY = """
def {of_file}

theory order:
  sort node
  sort rank ordered
  function rank_of: node to rank
  relation edge: node, node
  def lower(a, b): {lower}
  inductive path(x, y):
    one: edge(x, y)
    more: exists z. path(x, z) and edge(z, y)
  property forward: forall a, b. path(a, b) implies rank_of(a) < rank_of(b)

theorem grows in order:
  prove forward
  by induction on path(a, b) claim: {claim}
"""


@pytest.mark.parametrize(
    ("of_file", "lower", "claim"),
    [
        ("unlike(a: node, b: node): a != b", "rank_of(a) < rank_of(b)", "lower(a, b) and unlike(a, b)"),
        ("unlike(a: node, b: node): a != b", "unlike(a, b) and rank_of(a) < rank_of(b)", "lower(a, b)"),
    ],
)
def test_the_claim_of_an_induction(specify: Specify, of_file: str, lower: str, claim: str) -> None:
    """It may use the definitions of its theory and of the file, also those that only a definition uses."""
    ((defined,),) = (each.inductions for each in specify(THEORY.format_map(locals())).theorems)
    written = "rank_of(a) < rank_of(b) and a != b" if "unlike" in claim else "a != b and rank_of(a) < rank_of(b)"
    ((by_hand,),) = (
        each.inductions for each in specify(THEORY.format(of_file=of_file, lower=lower, claim=written)).theorems
    )
    assert defined.parts[0].claims[0].body == by_hand.parts[0].claims[0].body


def test_a_fault_in_what_only_a_claim_uses_is_said_once() -> None:
    text = THEORY.format(
        of_file="odd(a: node): nobody(a)", lower="rank_of(a) < rank_of(b)", claim="odd(a) or lower(a, b)"
    )
    assert codes(text) == ["E0205"]
    assert codes(text.replace("def odd", "def edge").replace("odd(a) or", "edge(a, b) or")) == ["W0934"]
