"""Formulas about packets in flight are shown as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.write.show import show_expression

TEXT = """
protocol hands:
  role first: process = 0
  message TOKEN(turn: nat, who: process)
  state:
    turns: nat
    friends: set of process
  on hand(p: process): send TOKEN(turns, p) to p
  on receive TOKEN(turn, p) from j: turns := turn
  invariant stated: {formula}

scope two of hands:
  processes 2
  hand 1 per process
"""


def body(formula: str) -> ir.Expr:
    loaded = load_bytes(Path("hands.thence"), TEXT.format(formula=formula).encode())
    assert loaded.specification is not None, [each.message for each in loaded.diagnostics]
    [invariant] = loaded.specification.protocols[0].invariants
    return invariant.body


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (
            "forall TOKEN(t, p) from a to b in flight. t <= turns@a and b = p",
            "forall TOKEN(turn, who) from sender to receiver in flight. turn <= turns@sender and receiver = who",
        ),
        ("exists TOKEN(...) in flight. true", "exists TOKEN(turn, who) in flight. true"),
        (
            "forall TOKEN(t, ...) in flight. exists TOKEN(u, ...) from q in flight. t < u or q = first",
            "forall TOKEN(turn, who) in flight. exists TOKEN(turn_2, who_2) from sender in flight."
            " turn < turn_2 or sender = first",
        ),
        (
            "forall turn: process. exists TOKEN(n, p) in flight, x in friends@p. n = 0 and x = turn",
            "forall turn. exists TOKEN(turn_2, who) in flight. exists x in friends@who. turn_2 = 0 and x = turn",
        ),
        (
            "forall TOKEN(t, ...) from p in flight. exists TOKEN(u, ...) in flight ahead. t < u or p = first",
            "forall TOKEN(turn, who) from sender in flight. exists TOKEN(turn_2, who_2) in flight ahead."
            " turn < turn_2 or sender = first",
        ),
    ],
)
def test_each_field_has_a_name_of_its_own(formula: str, shown: str) -> None:
    assert show_expression(body(formula)) == shown
    assert body(shown) == body(formula)
