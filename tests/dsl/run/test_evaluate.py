"""Expressions: every operator, the windows of the sliding collections, and what has no value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thence.dsl.run.interpreter import Interpreter
from thence.dsl.run.values import Fault

Handle = Callable[..., Any]

STATE = """
n: nat
b: bool
S: set of nat
Q: queue of nat
O: option of nat
M: map nat to nat
MB: map nat to bool
PART: map nat to Entry
A: sliding array of nat = window(3)
W: sliding map of nat = window(3)
"""

SETUP = """
S := {1, 3}
Q.push(5)
Q.push(6)
O := some(4)
M[2] := 7
PART[1] := Entry(who: self, many: 2)
A.add(10)
A.add(11)
W.add(20)
W.add(21)
W.add(22)
W.remove(20)
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 - 4", 1),
        ("max(2, 3) + min(2, 3)", 5),
        ("if 1 < 2 then 7 else 8", 7),
        ("if 2 <= 1 then 7 else if 2 = 2 then 9 else 8", 9),
        ("S.size + Q.size + M.size + A.size + W.size", 9),
        ("Q.first", 5),
        ("O.value", 4),
        ("M[2] + M[3]", 7),
        ("PART[1].many", 2),
        ("A.first", 3),
        ("A.next", 5),
        ("A.peek", 10),
        ("A[4]", 11),
        ("W.first", 4),
        ("W.next", 6),
        ("count x in S. x > 1", 1),
        ("count x in S, y in Q. x < y", 4),
        ("count p: process. p = self", 1),
    ],
)
def test_numbers(handle: Handle, expression: str, value: int) -> None:
    assert handle(STATE, f"{SETUP}n := {expression}")["n"] == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("true and false", False),
        ("true or false", True),
        ("false implies false", True),
        ("true implies false", False),
        ("false iff false", True),
        ("true iff false", False),
        ("not (1 != 1)", True),
        ("2 > 1 and 2 >= 2 and 1 < 2", True),
        ("1 in S and 2 not in S", True),
        ("6 in Q", True),
        ("2 in M", True),
        ("3 in M", False),
        ("10 in A and 12 not in A", True),
        ("20 not in W and 21 in W", True),
        ("O is none", False),
        ("Q is not empty and W is not empty", True),
        ("MB[4]", False),
        ("m.src = self and m.dst != self", True),
        ("m.dst in m.dsts and m.dsts.size = 1", True),
        ("forall p: process. p = self or p in m.dsts", False),
        ("exists x in S. exists y in Q. x + 2 = y", True),
        ("forall k in M. M[k] = 7", True),
        ("forall x in W. x > 20", True),
        ("Entry(who: self, many: 2) = PART[1]", True),
        ("{1, 2, 1} = {2, 1}", True),
        ("forall x in S. forall y in S. x = y", False),
    ],
)
def test_truth(handle: Handle, expression: str, value: bool) -> None:
    result = handle(STATE, f"{SETUP}b := {expression}")["b"]
    assert result is value


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("n := n - 1", "below zero"),
        ("n := 3 - 2 - 2", "below zero"),
        ("n := PART[9].many", "does not have"),
        ("n := Q.first", "first of an empty queue"),
        ("n := O.value", "value of none"),
        ("n := A.peek", "peek of an empty"),
        ("n := A[3]", r"outside the window \[3, 3\)"),
        ("A.add(1)\nn := A[2]", r"index 2 is outside the window \[3, 4\)"),
        ("A.add(1)\nn := A[4]", r"index 4 is outside the window \[3, 4\)"),
    ],
)
def test_faults(handle: Handle, body: str, reason: str) -> None:
    with pytest.raises(Fault, match=reason):
        handle(STATE, body)


@pytest.mark.parametrize(
    "expression",
    [
        "b and Q.first = 1",
        "Q is not empty and Q.first = 1",
        "not (b implies not Q.first = 1)",
        "not (Q is empty or Q.first = 1)",
        "exists x in Q. PART[x].many = 1",
        "if Q is empty then b else Q.first = 1",
    ],
)
def test_connectives_read_no_further_than_needed(handle: Handle, expression: str) -> None:
    assert handle(STATE, f"b := {expression}")["b"] is False


def test_properties_read_every_process(specify: Callable[[str], Any]) -> None:
    protocol = specify(
        """
        protocol sample:
          network reliable, reordering
          message MSG(m: message) carries m
          state:
            n: nat
            M: map process to nat
          on causal_send(m):
            n := n + 1
            send MSG(m) to m.dst
          on receive MSG(m) from j:
            M[j] := M[j] + 1
            deliver m
          invariant equal: forall p: process, q: process. n@p = n@q
          invariant bounded: forall p: process. M@p[p] <= n@p
          invariant some_sender: exists p: process. n@p > 0 and (forall q: process. n@q <= n@p)
          property causal
        """
    ).protocols[0]
    interpreter = Interpreter(protocol, 3)
    assert interpreter.broken_invariants([(0, ()), (0, ()), (0, ())]) == (("some_sender", None),)
    assert interpreter.broken_invariants([(0, ()), (2, ()), (0, ((0, 1),))]) == (("equal", None),)
    assert interpreter.broken_invariants([(2, ()), (2, ((1, 3),)), (2, ())]) == (("bounded", None),)
