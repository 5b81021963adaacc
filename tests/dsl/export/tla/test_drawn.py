"""TLC and the interpreter on protocols that nobody wrote: the same states, transitions, violations and faults."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.dsl.export.tla.test_tlc import needs_tlc, states, tlc
from tests.proofs import test_random_protocols, test_typed_explorations

from thence.dsl import ir
from thence.dsl.export.tla.expressions import Unsupported
from thence.dsl.export.tla.protocol import export_protocol
from thence.dsl.ir.observability import beyond_states
from thence.dsl.load import load_bytes
from thence.dsl.run import execute
from thence.dsl.run.identity_reuse import system_of
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation

Drawn: TypeAlias = tuple[ir.Protocol, ir.Workload]

OF_STEPS = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation")
MOST_STATES = 400


def specified(text: str) -> ir.Specification:
    found = load_bytes(Path("drawn.thence"), text.encode()).specification
    assert found is not None
    return found


def typed(seed: int) -> Drawn:
    """Terms and statements of every type that the export takes."""
    return test_typed_explorations.drawn(specified, seed, frozenset({"variables", "choices", "sums"}))


def plain(seed: int) -> Drawn:
    """Packets, timers, inputs, loss, duplication; most are what one would write."""
    return test_random_protocols.drawn(specified, seed)


def compare(protocol: ir.Protocol, workload: ir.Workload, folder: Path) -> str:
    """Fails where TLC finds something else; says what was compared."""
    protocol = replace(protocol, properties=tuple(dict.fromkeys((*protocol.properties, *OF_STEPS))))
    try:
        exported = export_protocol(protocol, workload, "drawn")
    except Unsupported:
        return "refused"
    asked = frozenset((*OF_STEPS, "delivered", "fault", *(formula.name for formula in protocol.formulas)))
    own = Interpretation(ExplorationRequest(system_of(protocol, workload), asked, limit=MOST_STATES)).run()
    if not own.complete:
        return "large"
    folder.mkdir()
    said = tlc(exported, folder, "-continue")
    invariants = [each for each in protocol.invariants if beyond_states(each) is None]
    broken = {each.name for each in invariants if each.name not in protocol.witnesses} & {*own.violations}
    ended = "0 states left on queue" not in said
    if "fault" in own.violations:
        assert "Assert evaluated to FALSE" in said, said
        return "faulty"
    if broken and ended:  # TLC goes on from no invariant that has no value, or is false whatever the state
        return "broken"
    distinct, transitions = states(said)
    assert distinct == own.states, said
    assert transitions == own.transitions or (protocol.timers and transitions > own.transitions), said
    seen = set(re.findall(r"(?:Invariant|Action property) (\w+) is violated", said))
    named = {name.title().replace("_", "") for name in own.violations} | {f"Invariant_{name}" for name in broken}
    assert seen <= named, said
    assert bool(seen) == bool(broken | ({*OF_STEPS} & {*own.violations}) | ({"Delivered"} & seen)), said
    return "violating" if seen else "alike"


@pytest.mark.long(but=("typed-5078", "plain-5000"))
@needs_tlc
@pytest.mark.parametrize("start", ["typed-5000", "typed-5052", "typed-5078", "plain-5000", "plain-5006", "plain-5026"])
def test_drawn_protocols(start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    draw: Callable[[int], Drawn] = typed if start.startswith("typed") else plain
    first, tally = int(start.partition("-")[2]), Counter[str]()
    for seed in range(first, first + 6):
        tally[compare(*draw(seed), tmp_path / str(seed))] += 1
    assert tally["large"] + tally["refused"] < 6, tally
