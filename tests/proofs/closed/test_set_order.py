"""A closed set says what happens as loops visit sets in ascending order: where that matters, a reader is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.proofs.closed.making import Folder, checked, searched

from thence.api.closed_sets import results_of, text_of
from thence.dsl import ir
from thence.proofs.closed.check import Checked

FIRST = """
protocol first:
  message MSG(m: message) carries m
  state:
    near: set of process
    chosen: option of process
  on causal_send(m):
    near.add(self)
    near.add(m.dst)
    for z in near:
      if chosen = none: chosen := some(z)
    send MSG(m) to m.dst
  on receive MSG(m) from j: deliver m
  invariant lowest: forall p, q: process. chosen@p = some(q) implies forall r: process. q <= r
  property at_most_once
"""
WORKLOAD = ir.Workload(2, (1, 1), ((1,), (0,)))

EACH = FIRST.replace("if chosen = none: chosen := some(z)", "near.add(z)")
"""The loop does the same in any order."""


@pytest.mark.parametrize(("text", "by_order"), [(FIRST, "causal_send"), (EACH, None)])
def test_what_depends_on_the_order_is_said(tmp_path: Path, text: str, by_order: str | None) -> None:
    files = searched(text, WORKLOAD).files(["lowest", "at_most_once"])
    assert checked(files).by_order == by_order
    folder = Folder(tmp_path / "closed")
    folder.write(files)
    found = folder.confirm()
    assert found.fault is None and found.why_open is None
    assert ("ascending order: a step of causal_send" in text_of("here", found)) == (by_order is not None)
    expected = None if by_order is None else {"handler": by_order, "any_order": "unknown"}
    assert [each.facts.get("set_order") for each in results_of(found, 1.0)] == [expected] * 2


def test_of_two_parts_either_may_depend_on_it() -> None:
    one, other = Checked(1, 2, 3, "causal_send"), Checked(1, 1, 1)
    assert one + other == other + one == Checked(2, 3, 4, "causal_send")
    assert (other + other).by_order is None
