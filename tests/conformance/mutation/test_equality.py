"""Equality in a scope, by local steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.conformance.mutation.equality import StepRecord
from thence.conformance.mutation.mutants import Mutant, meaning, specification_mutants
from thence.dsl import ir
from thence.dsl.load import load, load_bytes
from thence.dsl.run.identity_reuse import system_of
from thence.proofs.engines import explore
from thence.proofs.explore.exploration import ExplorationRequest, Method
from thence.proofs.explore.interpreted import Interpretation


def recorded(protocol: ir.Protocol, workload: ir.Workload) -> StepRecord:
    system = system_of(protocol, workload)
    assert Interpretation(ExplorationRequest(system, frozenset())).run().complete
    return StepRecord(system)


def mutants_of(name: str) -> list[tuple[Mutant, ir.Protocol]]:
    loaded = load(name)
    assert loaded.specification is not None
    found = []
    for mutant in specification_mutants(loaded, loaded.specification.protocols[0]):
        changed = meaning(mutant)
        if changed is not None:
            found.append((mutant, changed.protocols[0]))
    return found


@pytest.mark.long(but=("cykas",))
@pytest.mark.parametrize("name", ["mf", "cykas"])
def test_what_is_equal_has_the_same_states_and_what_is_different_has_not_or_does_something_else(name: str) -> None:
    """Held against the exploration, which counts the states of both."""
    specification = load(name).specification
    assert specification is not None
    protocol = specification.protocols[0]
    workload = next(scope.workload for scope in specification.scopes if scope.name == "one")
    record = recorded(protocol, workload)
    assert record.likeness(protocol) == "same states"
    properties = ("causal", "fifo", "delivered", "at_most_once")
    mine = explore(protocol, workload, properties, method=Method("interpreted"))
    seen = set()
    for mutant, mutated in mutants_of(name):
        likeness = record.likeness(mutated)
        seen.add(likeness)
        theirs = explore(mutated, workload, properties, limit=5_000, method=Method("interpreted"))
        if likeness == "same states":
            assert (theirs.states, theirs.transitions) == (mine.states, mine.transitions), mutant.diff
        if likeness != "different":
            assert not theirs.violations, mutant.diff
        if theirs.violations or (theirs.states, theirs.transitions) != (mine.states, mine.transitions):
            assert likeness != "same states", mutant.diff
        if theirs.violations:
            assert likeness == "different", mutant.diff
    assert {"same states", "different"} <= seen


def test_other_states_and_the_same_events() -> None:
    """A variable that is kept and never read."""
    text = """protocol echo:
  network reliable, reordering

  message MSG(m: message) carries m

  state:
    SEEN: nat

  on causal_send(m):
    send MSG(m) to m.dst

  on receive MSG(m) from i:
    SEEN := SEEN + 1
    deliver m

  property at_most_once
"""
    protocol, mutated = read(text), read(text.replace("SEEN + 1", "SEEN + 2"))
    workload = ir.Workload(2, (1, 1), ((1,), (0,)))
    record = recorded(protocol, workload)
    assert record.likeness(mutated) == "same events"
    assert record.likeness(read(text.replace("    deliver m\n", ""))) == "different"
    assert record.likeness(read(text.replace("SEEN + 1", "SEEN - 1"))) == "different", "it is at fault"


def read(text: str) -> ir.Protocol:
    found = load_bytes(Path("echo.thence"), text.encode())
    assert found.specification is not None, found.diagnostics
    return found.specification.protocols[0]
