"""Statements: control flow, the changes of every collection against plain models, emissions, guards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl.run import execute
from thence.dsl.run.execute import Delivered, Sent
from thence.dsl.run.values import Fault, Message

Handle = Callable[..., Any]

STATE = """
n: nat
S: set of nat
Q: queue of nat
M: map nat to nat
A: sliding array of nat = window(2)
W: sliding map of nat = window(2)
SO: set of option of nat
SS: set of set of nat
"""

OPERATIONS = st.lists(st.tuples(st.sampled_from(["add", "remove", "clear"]), st.integers(0, 3)), max_size=12)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(OPERATIONS)
def test_sliding_map_against_a_model(handle: Handle, operations: list[tuple[str, int]]) -> None:
    """Indices are given out in order and never again; an element has one index."""
    following, entries = 2, dict[int, int]()
    lines = []
    for method, item in operations:
        if method == "add" and item not in entries.values():
            entries[following] = item
            following += 1
        elif method == "remove":
            entries = {index: known for index, known in entries.items() if known != item}
        elif method == "clear":
            entries.clear()
        lines.append(f"W.{method}({'' if method == 'clear' else item})")
    lines += ["send NOTE(W.first) to self", "send NOTE(W.next) to self", "send NOTE(W.size) to self"]
    done = handle(STATE, "\n".join(lines))
    assert done["W"] == (following, tuple(sorted(entries.items())))
    assert done.notes == [min(entries, default=following), following, len(entries)]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(OPERATIONS)
def test_sliding_array_against_a_model(handle: Handle, operations: list[tuple[str, int]]) -> None:
    first, items = 2, list[int]()
    lines = []
    for method, item in operations:
        if method == "add":
            items.append(item)
        elif method == "remove":
            if not items:
                continue
            first += 1
            items.pop(0)
        else:
            first += len(items)
            items.clear()
        lines.append(f"A.{method}({item if method == 'add' else ''})")
    done = handle(STATE, "\n".join([*lines, "send NOTE(A.first) to self", "send NOTE(A.next) to self"]))
    assert done["A"] == (first, tuple(items))
    assert done.notes == [first, first + len(items)]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["push", "remove", "pop"]), st.integers(0, 2)), max_size=12))
def test_queue_against_a_model(handle: Handle, operations: list[tuple[str, int]]) -> None:
    items, lines = list[int](), []
    for method, item in operations:
        if method == "push":
            items.append(item)
        elif method == "remove":
            if item in items:
                items.remove(item)
        elif not items:
            continue
        else:
            items.pop(0)
        lines.append(f"Q.{method}({'' if method == 'pop' else item})")
    assert handle(STATE, "\n".join([*lines, "pass"]))["Q"] == tuple(items)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(OPERATIONS)
def test_sets_and_maps_against_models(handle: Handle, operations: list[tuple[str, int]]) -> None:
    members, mapped, lines = set[int](), dict[int, int](), []
    for number, (method, item) in enumerate(operations, 1):
        match method:
            case "add":
                members.add(item)
                mapped[item] = number
                lines += [f"S.add({item})", f"M[{item}] := {number}"]
            case "remove":
                members.discard(item)
                mapped.pop(item, None)
                lines += [f"S.remove({item})", f"M.remove({item})"]
            case _:
                members.clear()
                mapped.clear()
                lines += ["S.clear()", "M.clear()"]
    lines += ["for x in S: send NOTE(x) to self", "for k in M: send NOTE(M[k]) to self"]
    done = handle(STATE, "\n".join(lines))
    assert (done["S"], done["M"]) == (frozenset(members), tuple(sorted(mapped.items())))
    assert done.notes == [*sorted(members), *[value for _, value in sorted(mapped.items())]]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("Q.pop()", "pop of an empty queue"),
        ("A.remove()", "remove from an empty sliding array"),
        ("while true: n := n + 1", "more than 100 loop iterations"),
        ("for p in process:\n  while n < 50: n := n + 1\n  n := 0", "more than 100 loop iterations"),
    ],
)
def test_faults(handle: Handle, monkeypatch: pytest.MonkeyPatch, body: str, reason: str) -> None:
    monkeypatch.setattr(execute, "STEP_BUDGET", 100)
    with pytest.raises(Fault, match=reason):
        handle(STATE, body)


def test_return_leaves_every_loop_of_its_procedure_and_no_other(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        for p in process:
          search(3)
          send NOTE(100) to self
        if n > 0:
          for x in Q:
            while true:
              if x = 2: return
              send NOTE(x) to self
              n := 0
              Q.push(7)
              if n = 0: return
        send NOTE(200) to self
        """,
        """
        procedure search(limit: nat):
          for x in {1, 2, 3, 4}:
            for y in {1, 2, 3, 4}:
              if x + y = limit + 2:
                n := n + x
                Q.push(y)
                return
              send NOTE(x + y) to self
          send NOTE(300) to self
        """,
    )
    # Each search: 1+1, 1+2, 1+3 and stops at 1+4; then the handler returns within its own nested loops, before MSG.
    assert done.notes == [2, 3, 4, 100, 2, 3, 4, 100, 2, 3, 4, 100, 4]
    assert (done["n"], done["Q"]) == (0, (4, 4, 4, 7))
    assert not [sent for sent in done.emissions if isinstance(sent, Sent) and sent.kind == "MSG"]


def test_else_if_chains(handle: Handle) -> None:
    body = """
    for x in {0, 1, 2, 3}:
      if x = 0: send NOTE(10) to self
      else if x = 1:
        send NOTE(11) to self
      else if x = 2: pass
      else: send NOTE(13) to self
    """
    assert handle(STATE, body).notes == [10, 11, 13]


def test_a_loop_is_over_the_elements_at_its_start(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        Q.push(1)
        Q.push(2)
        Q.push(3)
        for x in Q:
          Q.remove(x)
          if x = 1: Q.push(9)
          send NOTE(x) to self
        S := {4, 5}
        for x in S: S := {x}
        """,
    )
    assert (done.notes, done["Q"], done["S"]) == ([1, 2, 3], (9,), frozenset({5}))


def test_sets_of_options_and_of_sets_are_gone_through_in_order(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        SO := {some(3), none, some(1)}
        for x in SO:
          if x is none: send NOTE(0) to self
          else: send NOTE(x.value) to self
        SS := {{8}, {1}, {8, 1}, {3}}
        for s in SS:
          for x in s: send NOTE(10 + x) to self
        """,
    )
    assert done.notes == [0, 1, 3, 11, 11, 18, 13, 18]


def test_a_variable_lives_to_the_end_of_its_block(handle: Handle) -> None:
    """Each time that its line is reached there is a new one; a change inside of a block is seen behind it."""
    done = handle(
        STATE,
        """var c = 1
for x in {3, 4}:
  var inner = c
  inner := inner * x
  c := c + inner
var kept: set of nat = S
kept.add(c)
ref same = kept
same.add(9)
Q.push(c)
if 9 in kept: Q.push(kept.size)
if S is empty: Q.push(7)""",
    )
    assert done["Q"] == (20, 2, 7)


def test_sums_and_products(handle: Handle) -> None:
    done = handle(
        STATE,
        """M[2] := 5; M[3] := 1; Q.push(4); Q.push(4)
n := 2 * (sum k in M. M[k] * k) + 1
Q.push(sum x in Q. x)
Q.push(sum x in S. 1)
Q.push(sum x in {1, 2}, y in {1, 2}. x * y)""",
    )
    assert done["n"] == 27
    assert done["Q"] == (4, 4, 8, 0, 9)


def test_locals_of_a_procedure_are_its_own(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        let x = 1
        ref r = M[1]
        bump(x + 4)
        r := r + x
        """,
        """
        procedure bump(k: nat):
          let x = k + 1
          M[1] := x
        """,
    )
    assert done["M"] == ((1, 7),)


def test_emissions_keep_their_order_and_the_values_of_their_moment(handle: Handle) -> None:
    done = handle(STATE, "n := 4\nsend NOTE(n) to self\nn := 5\ndeliver m\nsend NOTE(n) to m.dst")
    message = Message(0, 0, (1,))
    assert done.emissions == (
        Sent("NOTE", (4,), 0),
        Delivered(message),
        Sent("NOTE", (5,), 1),
        Sent("MSG", (message,), 1),
    )


def test_guards_say_what_was_evaluated(handle: Handle) -> None:
    done = handle(
        STATE,
        """
        Q.push(3)
        while Q is not empty and n < 9:
          if Q.first in S or n + 1 > 9: return
          send NOTE(n) to self
          Q.pop()
        if Q is not empty and Q.first = 3: return
        """,
    )
    outcomes = [(guard.outcome, guard.emitted) for guard in done.guards]
    assert outcomes == [(True, 0), (False, 0), (False, 1), (False, 1)]
    shown = [{text: value for text, value, _ in guard.values} for guard in done.guards]
    assert shown[0] == {"Q": (3,), "n": 0}
    assert shown[1] == {"Q.first": 3, "S": frozenset(), "n + 1": 1}
    # What has no value is left out, rather than spoiling the report.
    assert shown[3] == {"Q": ()}
