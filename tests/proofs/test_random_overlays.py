"""Drawn protocols on drawn overlays: all engines find the same, and so does the overlay in plain expressions."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from thence.dsl import ir
from thence.dsl.ir.overlay import spelled_out
from thence.dsl.run import execute
from thence.dsl.run.scoped import in_scope
from thence.dsl.run.system import System
from thence.proofs.bounded.search import search
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation

from .random_overlays import drawn_links, with_overlay
from .test_random_protocols import Draw, Specify, Tally, compare, keep_small


def drawn(specify: Specify, seed: int) -> tuple[ir.Protocol, ir.Workload]:
    draw = Draw(seed)
    (protocol,) = specify(with_overlay(draw.text(), seed)).protocols
    workload = draw.workload(protocol)
    return protocol, replace(workload, links=drawn_links(seed, workload.processes))


@pytest.mark.long(but=("0",), share=2)
@pytest.mark.parametrize("start", range(0, 160, 8))
def test_every_engine_finds_the_same(specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    keep_small(monkeypatch)
    tally = Tally()
    for seed in range(start, start + 8):
        compare(*drawn(specify, seed), tally)
    assert tally.compared and tally.in_files


@pytest.mark.long(but=("0",), share=2)
@pytest.mark.parametrize("start", range(0, 320, 40))
def test_an_overlay_is_what_it_is_spelled_out_to(specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    """The same states and violations; so a packet to another than a neighbor is a fault in both, or in neither."""
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    compared = faulty = 0
    for seed in range(start, start + 40):
        protocol, workload = drawn(specify, seed)
        plain = spelled_out(in_scope(protocol, workload), workload.processes)
        assert not plain.network.overlay
        first, second = (
            Interpretation(ExplorationRequest(System(one, scope), judged_of(protocol), limit=400))
            for one, scope in ((protocol, workload), (plain, replace(workload, links=(), constants=())))
        )
        expected, found = first.run(), second.run()
        if expected.complete:
            compared += 1
            assert (found.states, found.transitions, found.depth) == (
                expected.states, expected.transitions, expected.depth
            ), seed  # fmt: skip
            assert found.violations.keys() == expected.violations.keys(), seed
            faulty += "fault" in found.violations and "neighbor" in expected.violations["fault"].finding.detail
    assert compared > 10 and faulty


def judged_of(protocol: ir.Protocol) -> frozenset[str]:
    return frozenset(("causal", "at_most_once", "fault", *(formula.name for formula in protocol.formulas)))


FLOOD = """
protocol flood:
  delivery broadcast
  network reordering, overlay
  message MSG(m: message) carries m
  state:
    seen: set of message
  on causal_send(m):
    seen.add(m)
    for p in neighbors: send MSG(m) to p
  on receive MSG(m) from j:
    if m in seen: return
    seen.add(m)
    deliver m
    for p in {further}:
      if p != j: send MSG(m) to p
  property causal, at_most_once
"""


@pytest.mark.parametrize("further", ["neighbors", "process"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_bounded_search_finds_the_same(specify: Specify, further: str, size: int) -> None:
    """Some graphs of three processes with so many links, each a few steps deep."""
    (protocol,) = specify(FLOOD.format(further=further)).protocols
    workload = ir.Workload(3, (1, 1, 0), ((1, 2), (0, 2), (0, 1)), groups=(((1, 2),), ((0, 2),), ((0, 1),)))
    judged = ("causal", "at_most_once", "fault")
    faults = 0
    for shift in range(3):
        links = tuple(sorted((sorted(permutations(range(3), 2)) * 2)[shift : shift + size]))
        scope = replace(workload, links=links)
        interpretation = Interpretation(ExplorationRequest(System(protocol, scope), frozenset(judged)))
        expected = {name for name, each in interpretation.run().violations.items() if len(each.steps) <= 4}
        found = search(protocol, scope, judged, 4)
        assert all("no run delivers a message" in why for why in found.undecided.values())
        assert found.violations.keys() == expected
        faults += "fault" in expected
        if "fault" in expected:
            assert "not a neighbor" in found.violations["fault"].finding.detail
    assert bool(faults) == (further == "process")
