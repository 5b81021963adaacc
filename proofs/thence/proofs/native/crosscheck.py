"""Both engines on one scope; they must find the same."""

from __future__ import annotations

import time
from dataclasses import replace

from thence.dsl.ir.properties import DELIVERED
from thence.dsl.run.actions import State
from thence.proofs.explore.exploration import Exploration, ExplorationRequest, Violation
from thence.proofs.explore.interpreted import Interpretation
from thence.proofs.fairness.fairness import is_decided_at_rest
from thence.proofs.native.engine import NativeEngine, Sample, why_not


class EnginesDisagree(Exception):
    """The interpreter and native code differ, a defect of one of them and no verdict; the message says how."""


def explore_with_both(request: ExplorationRequest) -> Exploration:
    """Explores by native code, and holds it against the interpreter.

    Compared are the sets of states, the numbers of states and transitions, the depth, and for each property whether
    it is violated and in how many steps; under a reduction, as much of that as it keeps. Neither stops at violations.
    An exploration that does not come to its end is incomplete, and not compared.

    Raises:
        EnginesDisagree: where anything differs.
        ValueError: where native code cannot take the scope.
    """
    reason = why_not(request.system)
    if reason is not None:
        raise ValueError(reason)
    if request.storage != "exact":
        raise ValueError("all states are compared, so all have to be stored")
    started = time.perf_counter()
    request = replace(request, stop_when_refuted=False)
    interpretation = Interpretation(request)
    expected = interpretation.run()
    if not expected.complete:
        return expected
    engine = NativeEngine(request)
    found = engine.run(Sample.of(request.system, interpretation.origins).capacity)
    expected.seconds = found.seconds = time.perf_counter() - started
    if not found.complete:
        return found
    differences = [*_differences(expected, found), *different_states(set(interpretation.origins), engine)]
    if differences:
        raise EnginesDisagree(f"{request.system.protocol.name}: {'; '.join(differences)}")
    found.engine, found.violations, found.undecided = "both", expected.violations, expected.undecided
    return found


def _differences(interpreted: Exploration, native: Exploration) -> list[str]:
    def facts(found: Exploration) -> dict[str, object]:
        violated = {name: _length(violation) for name, violation in sorted(found.violations.items())}
        counted = {} if native.reductions else {"states": found.states, "transitions": found.transitions}
        return {**counted, "depth": found.depth, "violations": violated}

    other = facts(native)
    return [
        f"{name}: {value} by the interpreter, {other[name]} by native code"
        for name, value in facts(interpreted).items()
        if value != other[name]
    ]


def _length(violation: Violation) -> int:
    """The steps of a run that is a shortest one; 0 for a fair run that is any one of those that starve something."""
    name, system = violation.finding.property, violation.system
    promised = name in {promise.name for promise in system.protocol.promises}
    is_shortest = not promised and (name != DELIVERED or is_decided_at_rest(system))
    return len(violation.steps) if is_shortest and not violation.cycle else 0


def different_states(interpreted: set[State], engine: NativeEngine) -> list[str]:
    """What speaks against this: the interpreter's states are the stored ones and their renamings."""
    assert engine.search is not None
    store = engine.search.store
    stored = {store.state(number) for number in store.numbers()}
    if engine.symmetry is not None:
        symmetry = engine.symmetry
        stored = {symmetry.state(state, each) for state in stored for each in symmetry.group}
    found = []
    if interpreted - stored:
        found.append(f"{len(interpreted - stored)} states only by the interpreter, as {min(interpreted - stored)}")
    if stored - interpreted:
        found.append(f"{len(stored - interpreted)} states only by native code, as {min(stored - interpreted)}")
    return found
