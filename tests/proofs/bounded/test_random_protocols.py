"""Bounded search on protocols that nobody wrote, with inputs, `when` and choices: what the interpreter finds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeAlias

import pytest
from tests.proofs.random_choices import with_choices
from tests.proofs.random_overlays import drawn_links, with_overlay
from tests.proofs.test_random_protocols import CONDITIONS, Draw

from thence.dsl import ir
from thence.dsl.ir.observability import OF_DELIVERIES, OF_NETWORK_SENDS
from thence.dsl.run import execute
from thence.dsl.run.execute import Delivered
from thence.dsl.run.system import System
from thence.proofs.bounded.search import search
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.scopes.untried import NO_STEP

Specify: TypeAlias = Callable[[str], ir.Specification]

JUDGED = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order", "fault", "linked", "own")

DEPTH = 4

INPUT = "  on ask(q: process, x: nat)"


def drawn(specify: Specify, seed: int) -> tuple[ir.Protocol, ir.Workload]:
    """A protocol with inputs and guards more often than not; a bounded search takes no sends inside deliveries."""
    draw, more = Draw(seed), Random(~seed)
    text = draw.text()
    if more.random() < 0.5:
        text = text.replace("on causal_send(m):", f"on causal_send(m) when {more.choice(CONDITIONS)}:", 1)
    if INPUT not in text:
        guard = more.choice(("", f" when {more.choice(CONDITIONS)}", " when q != self and x < 2"))
        body = more.choice(("S.add(q)", "if x > 0: n := x", "send CTL(self) to q"))
        text = re.sub(r"^  invariant linked", f"{INPUT}{guard}: {body}\n  invariant linked", text, flags=re.MULTILINE)
    if more.random() < 0.6:
        text = with_choices(text, seed)
    overlay = more.random() < 0.2
    if overlay:
        text = with_overlay(text, seed)
    (protocol,) = specify(text).protocols
    workload = replace(draw.workload(protocol), sending=ir.Finite())
    if overlay:
        workload = replace(workload, links=drawn_links(seed, workload.processes))
    return protocol, workload


def compare(
    protocol: ir.Protocol, workload: ir.Workload, seed: int, tally: Counter[str], judged: Sequence[str] = JUDGED
) -> None:
    """Fails where a bounded search differs from the interpreter."""
    properties = [*judged, *(["delivered"] if is_decided_at_rest(System(protocol, workload)) else [])]
    given = replace(protocol, properties=(*protocol.properties, "total_order"))
    interpretation = Interpretation(ExplorationRequest(System(given, workload), frozenset(properties), limit=1_500))
    expected = interpretation.run()
    if not expected.complete:
        return
    found = search(given, workload, properties, DEPTH, timeout_ms=600_000)
    undecided = {name: why for name, why in found.undecided.items() if "at fault" not in why}
    if any("than" in why for why in undecided.values()):
        tally["bounded"] += 1
        return
    if any("a set whose elements have" in why for why in undecided.values()):
        tally["unsupported"] += 1
        return
    cannot = {name for name, why in undecided.items() if "cannot be observed" in why or "a step is a fault" in why}
    idle = {name for name, why in undecided.items() if f"no run delivers a message within {DEPTH} steps" in why}
    still = {name for name, why in undecided.items() if why == NO_STEP}
    assert undecided.keys() == cannot | idle | still, (seed, undecided)
    if still:
        system = System(given, workload)
        start = system.initial()
        assert all(system.apply(start, each).state == start for each in system.enabled(start)), seed
        idle |= still & {*OF_DELIVERIES, *OF_NETWORK_SENDS}
    if {*OF_DELIVERIES}.intersection(properties) - cannot - found.violations.keys():
        assert bool(idle) != delivers(System(given, workload)), seed
        tally["idle"] += bool(idle)
    lengths = {name: len(each.steps) for name, each in expected.violations.items() if name not in cannot}
    shallow = {name: length for name, length in lengths.items() if length <= DEPTH}
    assert {name: len(each.steps) for name, each in found.violations.items()} == shallow, seed
    tally["compared"] += 1
    tally["refuted"] += len(shallow)
    tally["inputs"] += any(step.action.kind == "input" for each in found.violations.values() for step in each.steps)
    tally["choices"] += any(step.action.script != () for each in found.violations.values() for step in each.steps)
    tally["guarded"] += System(protocol, workload).interpreter.has_guard


def delivers(system: System) -> bool:
    """Whether a run of at most DEPTH steps delivers a message."""
    states = {system.initial()}
    for _ in range(DEPTH):
        outcomes = [system.apply(state, action) for state in states for action in system.enabled(state)]
        for outcome in outcomes:
            fault = any(finding.property == "fault" for finding in outcome.findings)
            if not fault and any(isinstance(each, Delivered) for each in outcome.emissions):
                return True
        states = {outcome.state for outcome in outcomes}
    return False


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("start", (*range(0, 80, 8), 144))
def test_bounded_search_finds_what_the_interpreter_does(
    specify: Specify, monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    tally = Counter[str]()
    for seed in range(start, start + 8):
        compare(*drawn(specify, seed), seed, tally)
    assert tally["compared"] and tally["refuted"], tally
