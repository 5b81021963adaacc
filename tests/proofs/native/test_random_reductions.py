"""Reductions keep the verdicts of protocols that nobody wrote: random small edits of the library's, by the hundred.

What a reduced search stores has to cover every state that the interpreter reaches, too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from thence.conformance.mutation.mutants import Mutant, meaning, specification_mutants
from thence.dsl import ir
from thence.dsl.check.workload import all_choices
from thence.dsl.load import load
from thence.dsl.run import execute
from thence.dsl.run.system import System
from thence.proofs.explore.exploration import ExplorationRequest, Resources
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.explore.reductions import AUTOMATIC, REDUCTIONS
from thence.proofs.native.crosscheck import different_states
from thence.proofs.native.engine import NativeEngine, Sample, explore_natively
from thence.proofs.scopes.scopes import properties_of

FILES = ("client_server", "cykas", "fifo", "hybrid_basic", "hybrid_optimal", "ks", "mf", "newtop", "rst", "ses")
WANTED_OF_EACH = 22
MOST_STATES = 400
SENDS = ((2, 1), (1, 1, 1))
JUDGED = frozenset(("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "delivered", "fault"))


@dataclass(slots=True)
class Tally:
    """How many were compared, how many of these violate something, and how many were left with fewer states."""

    compared: int = 0
    violating: int = 0
    smaller: int = 0


def _mutants(name: str) -> Iterator[ir.Protocol]:
    """Edits of the file's protocols that mean something, in an order that is random and always the same."""
    loaded = load(name)
    assert loaded.specification is not None
    edits: list[Mutant] = []
    for protocol in loaded.specification.protocols:
        edits += specification_mutants(loaded, protocol)
    random.Random(name).shuffle(edits)
    for edit in edits:
        found = meaning(edit)
        if found is not None and found.protocols:
            yield found.protocols[0]


def _workload(protocol: ir.Protocol, sends: tuple[int, ...]) -> ir.Workload:
    count = len(sends)
    destinations = tuple(tuple(q for q in range(count) if q != p) for p in range(count))
    groups = () if protocol.delivery == "unicast" else all_choices(count, protocol.delivery, False)
    return ir.Workload(count, sends, destinations, groups=groups)


def _compared(protocol: ir.Protocol, workload: ir.Workload, tally: Tally) -> None:
    judged = JUDGED | {*properties_of(protocol)}
    request = ExplorationRequest(System(protocol, workload), judged, limit=MOST_STATES, resources=Resources(threads=1))
    interpretation = Interpretation(request)
    expected = interpretation.run()
    if not expected.complete:
        return
    reducing = ExplorationRequest(request.system, judged, resources=request.resources, reductions=frozenset(REDUCTIONS))
    engine = NativeEngine(reducing)
    found = engine.run(Sample().capacity)
    assert found.complete
    assert found.violations.keys() == expected.violations.keys()
    assert different_states(set(interpretation.origins), engine) == []
    tally.compared += 1
    tally.violating += bool(expected.violations)
    tally.smaller += found.states < expected.states


@pytest.mark.long(but=("mf",))
@pytest.mark.parametrize("name", FILES)
def test_random_mutants(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All reductions together, against the interpreter: more than 200 mutants in all."""
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    tally = Tally()
    for at, protocol in enumerate(_mutants(name)):
        if tally.compared == WANTED_OF_EACH:
            break
        _compared(protocol, _workload(protocol, SENDS[at % len(SENDS)]), tally)
    assert tally.compared == WANTED_OF_EACH
    assert tally.violating
    assert tally.smaller


@pytest.mark.parametrize("name", ["cykas", "hybrid_basic", "mf"])
def test_random_mutants_in_as_few_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the automatic reductions counterexamples are as short as without: they are looked for again."""
    monkeypatch.setattr(execute, "STEP_BUDGET", 200)
    compared = 0
    for protocol in _mutants(name):
        request = ExplorationRequest(System(protocol, _workload(protocol, (2, 1))), JUDGED, limit=MOST_STATES)
        expected = Interpretation(request).run()
        if not expected.complete or not expected.violations:
            continue
        reducing = ExplorationRequest(
            request.system, JUDGED, resources=Resources(threads=1), reductions=frozenset(AUTOMATIC)
        )
        found = explore_natively(reducing)
        lengths = {violated: len(violation.steps) for violated, violation in expected.violations.items()}
        assert {violated: len(violation.steps) for violated, violation in found.violations.items()} == lengths
        assert all(violation.shortest for violation in found.violations.values())
        compared += 1
        if compared == 8:
            break
    assert compared == 8
