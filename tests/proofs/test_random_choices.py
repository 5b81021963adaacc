"""Protocols that choose: the engines agree on drawn ones, and `delivered` is what the definition says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.proofs.fairness.by_definition import Definition, TooLarge
from tests.proofs.fairness.random_protocols import random_text, random_workload
from tests.proofs.random_choices import with_choices
from tests.proofs.test_random_protocols import Draw, Specify, Tally, compare, keep_small

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.dsl.run.system import System
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import Exploration

LIVE = ("pass", "flag := not flag", "flag := true", "kept.clear()")


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", range(0, 60, 10))
def test_every_engine_finds_the_same(specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    keep_small(monkeypatch)
    tally = Tally()
    chosen = 0
    for seed in range(start, start + 10):
        draw = Draw(seed)
        (protocol,) = specify(with_choices(draw.text(), seed)).protocols
        chosen += protocol.chooses
        compare(protocol, draw.workload(protocol), tally, most=800)
    assert tally.compared and chosen > 5


LAZY = """
protocol lazy:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    kept: queue of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j: kept.push(m)
  periodically:
    either:
      while kept is not empty:
        deliver kept.first
        kept.pop()
    or: pass
  eventually delivered
"""


def test_a_timer_that_may_do_something_need_not(specify: Specify) -> None:
    """It fires again and again, and no choice is fair."""
    (protocol,) = specify(LAZY).protocols
    found = explore(protocol, ir.Workload(2, (1, 0), ((1,), (0,))), ["delivered"])
    assert found.complete and found.violations.keys() == {"delivered"}
    (always,) = specify(LAZY.replace("    or: pass\n", "    or: kept.clear()\n    or: deliver kept.first\n")).protocols
    assert explore(always, ir.Workload(2, (1, 0), ((1,), (0,))), ["fault"]).violations.keys() == {"fault"}


def said(found: Exploration) -> str:
    assert found.complete
    return "refuted" if found.violations else "unknown" if found.undecided else "holds"


def test_delivered_is_what_the_definition_says() -> None:
    """A run chooses as it likes: no choice is fair."""
    tally = Counter[str]()
    for seed in range(100):
        draw = Random(seed)
        text = with_choices(random_text(draw), seed, LIVE)
        loaded = load_bytes(Path("random.thence"), text.encode())
        assert loaded.specification is not None, text
        (protocol,), workload = loaded.specification.protocols, random_workload(draw)
        try:
            expected = Definition(System(protocol, workload), most=200).verdict()
        except TooLarge:
            continue
        assert said(explore(protocol, workload, ["delivered"])) == expected, seed
        tally[f"{expected}, {protocol.chooses}"] += 1
    assert tally["refuted, True"] > 10 and tally["holds, True"] > 2, tally
