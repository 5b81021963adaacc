"""Both engines on one scope; they must find the same."""

from __future__ import annotations

import time
from dataclasses import replace

from whence.dsl.system import State
from whence.proofs.compiled.engine import NativeEngine, Sample, why_not
from whence.proofs.compiled.memory import processors
from whence.proofs.explore import Exploration, Interpretation, Request


class EnginesDisagree(Exception):
    """The interpreter and native code differ: a defect of one of them, and no verdict. The message says in what."""


def explore_with_both(request: Request) -> Exploration:
    """Explores by native code, and holds it against the interpreter.

    Compared are the sets of states, the numbers of states and transitions, the depth, and for each property whether
    it is violated and in how many steps; under a reduction not the numbers, and all states that the stored ones
    stand for. Both explore everything, whatever is refuted. An exploration that did not come to its end is not
    compared, and incomplete.

    Raises:
        EnginesDisagree: where anything differs.
        ValueError: where native code cannot take the scope.
    """
    reason = why_not(request.system)
    if reason is not None:
        raise ValueError(reason)
    started = time.perf_counter()
    request = replace(request, stop_when_refuted=False)
    interpretation = Interpretation(request)
    expected = interpretation.run()
    if not expected.complete:
        return expected
    engine = NativeEngine(request, request.resources.threads or processors())
    found = engine.run(Sample.of(request.system, interpretation.origins).capacity)
    expected.seconds = found.seconds = time.perf_counter() - started
    if not found.complete:
        return found
    assert engine.search is not None
    stored = [engine.search.state(number) for number in engine.search.numbers()]
    symmetry = engine.symmetry
    group = [] if symmetry is None else symmetry.group
    states = {*stored, *(symmetry.state(state, each) for each in group for state in stored if symmetry is not None)}
    differences = [*_differences(expected, found), *_different_states(set(interpretation.origins), states)]
    if differences:
        raise EnginesDisagree(f"{request.system.protocol.name}: {'; '.join(differences)}")
    found.engine, found.violations = "both", expected.violations
    return found


def _differences(interpreted: Exploration, native: Exploration) -> list[str]:
    def facts(found: Exploration) -> dict[str, object]:
        violated = {name: len(violation.steps) for name, violation in sorted(found.violations.items())}
        counted = {} if native.reductions else {"states": found.states, "transitions": found.transitions}
        return {**counted, "depth": found.depth, "violations": violated}

    other = facts(native)
    return [
        f"{name}: {value} by the interpreter, {other[name]} by native code"
        for name, value in facts(interpreted).items()
        if value != other[name]
    ]


def _different_states(interpreted: set[State], native: set[State]) -> list[str]:
    found = []
    if interpreted - native:
        found.append(f"{len(interpreted - native)} states only by the interpreter, as {min(interpreted - native)}")
    if native - interpreted:
        found.append(f"{len(native - interpreted)} states only by native code, as {min(native - interpreted)}")
    return found
