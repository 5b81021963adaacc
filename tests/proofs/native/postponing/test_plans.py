"""Which packets are silent: native code is told what is known, from the step on that refutes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from thence.dsl import ir
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import ExplorationRequest, Method
from thence.proofs.native.code.cells import SILENT
from thence.proofs.native.engine import NativeEngine, Sample
from thence.proofs.native.tables import StepTable

Specify: TypeAlias = Callable[[str], ir.Specification]

RELEASED = """
protocol released:
  message MSG(m: message) carries m
  message HINT()
  message NOTE()
  state:
    held: queue of message
  on causal_send(m):
    send MSG(m) to m.dst
    send HINT() to m.dst
    send NOTE() to m.dst
  on receive MSG(m) from j:
    held.push(m)
  on receive NOTE() from j:
    if held is not empty: send HINT() to j
  on receive HINT() from j:
    while held is not empty:
      let m = held.first
      deliver m
      held.pop()
  property causal, at_most_once
  eventually delivered under fair receive
"""
WORKLOAD = ir.Workload(2, (2, 1), ((1,), (0,)))
JUDGED = ("causal", "at_most_once", "no_creation", "delivered", "fault")


def silent_bits(table: StepTable) -> dict[str, set[bool]]:
    """What the array says of the packets of each kind."""
    found: dict[str, set[bool]] = {}
    for number in table.packets_noted:
        kind = table.system.packet(number).kind
        found.setdefault(kind, set()).add(bool(table.packets[number + 1] & SILENT))
    return found


def test_a_kind_that_delivers_is_not_silent(specify: Specify) -> None:
    """That a hint delivers shows only when one finds a message; then no hint counts as silent any more."""
    system = System(specify(RELEASED).protocols[0], WORKLOAD)
    engine = NativeEngine(ExplorationRequest(system, frozenset(JUDGED), reductions=frozenset({"delay"})))
    assert engine.run(Sample().capacity).complete
    assert engine.search is not None
    plans = engine.search.table.plans
    assert plans is not None
    assert plans.delivering == {"MSG", "HINT"}
    assert silent_bits(engine.search.table) == {"MSG": {False}, "HINT": {False}, "NOTE": {True}}


def test_verdicts_are_those_without_reductions(specify: Specify) -> None:
    protocol = specify(RELEASED).protocols[0]
    whole = explore(protocol, WORKLOAD, JUDGED, method=Method("interpreted"))
    reduced = explore(protocol, WORKLOAD, JUDGED, method=Method("both", reductions=["delay"]))
    assert reduced.reductions == ("delay",)
    assert reduced.violations.keys() == whole.violations.keys()


def test_bits_are_right_after_each_step(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits change with the step that refutes them, so nothing that ends the search in between leaves wrong ones."""
    entry = StepTable._entry

    def watched(self: StepTable, key: int) -> int:
        found = entry(self, key)
        assert self.plans is not None
        for number in self.packets_noted:
            assert bool(self.packets[number + 1] & SILENT) == self.plans.is_silent(number)
        return found

    monkeypatch.setattr(StepTable, "_entry", watched)
    system = System(specify(RELEASED).protocols[0], WORKLOAD)
    engine = NativeEngine(ExplorationRequest(system, frozenset(JUDGED), reductions=frozenset({"delay"})))
    assert engine.run(Sample().capacity).complete
