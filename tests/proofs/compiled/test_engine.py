"""Native code against the interpreter: the same states, transitions, depth and violations, over the whole library."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whence.dsl import execute, ir
from whence.dsl.load import library as library_files
from whence.dsl.load import load
from whence.dsl.system import System
from whence.proofs.compiled.engine import NativeEngine, Sample, why_not
from whence.proofs.explore import Interpretation, Request, Resources
from whence.proofs.scopes import properties_of

JUDGED = ("causal", "fifo", "csps", "sps", "at_most_once", "no_creation", "total_order", "delivered", "fault")
SMALL_ENOUGH = 1_500
"""States up to which both engines go."""

SUBJECTS = [path.stem for path in library_files()]


def workloads(specification: ir.Specification) -> list[tuple[str, ir.Protocol, ir.Workload]]:
    """Every protocol in every finite scope, and every mutant in what its expectations name."""
    by_name = {protocol.name: protocol for protocol in specification.protocols}
    found = [(scope.name, by_name[scope.protocol], scope.workload) for scope in specification.scopes]
    for mutant in specification.mutants:
        if isinstance(mutant.mutated, ir.Protocol):
            chosen = dict.fromkeys(expect.settings for expect in mutant.expects if expect.settings is not None)
            found += [(mutant.name, mutant.mutated, workload) for workload in chosen]
    return [known for known in found if not any(known[2].endless) and not known[2].prompt]


def ordered(protocol: ir.Protocol) -> ir.Protocol:
    """With `total_order` watched, as `explore` would have it."""
    return replace(protocol, properties=tuple(dict.fromkeys((*protocol.properties, "total_order"))))


def request_of(protocol: ir.Protocol, workload: ir.Workload, limit: int | None = None) -> Request:
    judged = frozenset({*properties_of(protocol), *JUDGED})
    return Request(System(protocol, workload), judged, limit=limit, resources=Resources(threads=1))


def interpreted(protocol: ir.Protocol, workload: ir.Workload) -> Interpretation:
    """In that workload, or with fewer messages, so that the interpreter comes to an end."""
    while True:
        interpretation = Interpretation(request_of(protocol, workload, SMALL_ENOUGH))
        if interpretation.run().complete:
            return interpretation
        most = workload.sends.index(max(workload.sends))
        fewer = tuple(sends - (process == most) for process, sends in enumerate(workload.sends))
        workload = replace(workload, sends=fewer)


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_same_as_the_interpreter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The set of states, the numbers of states and transitions, depth, what is violated and in how many steps."""
    monkeypatch.setattr(execute, "STEP_BUDGET", 500)
    specification = load(name).specification
    assert specification is not None
    seen = set()
    for label, protocol, workload in workloads(specification):
        interpretation = interpreted(ordered(protocol), workload)
        system, expected = interpretation.request.system, interpretation.result
        if (label, system.workload) in seen:
            continue
        seen.add((label, system.workload))
        assert why_not(system) is None
        engine = NativeEngine(replace(interpretation.request, limit=None), threads=1)
        found = engine.run(Sample.of(system, interpretation.origins).capacity)
        assert engine.search is not None
        states = [engine.search.state(number) for number in engine.search.numbers()]
        assert len(states) == found.states, label
        assert set(states) == interpretation.origins.keys(), label
        assert (found.complete, found.states, found.transitions, found.depth) == (
            True, expected.states, expected.transitions, expected.depth,
        ), label  # fmt: skip
        lengths = {known: len(violation.steps) for known, violation in expected.violations.items()}
        assert {known: len(violation.steps) for known, violation in found.violations.items()} == lengths, label
        layout = engine.search.layout
        assert [layout.decode(layout.encode(state)) for state in states] == states, label
