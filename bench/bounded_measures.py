"""Bounded model checking: a machine of any size, protocols in a scope; times, and the size of the circuit."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from thence.dsl import ir
from thence.dsl.load import load
from thence.proofs.bounded.machine import Reach, bounded_statements, check_machine
from thence.proofs.bounded.search import search
from thence.proofs.scopes.scopes import properties_of
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Verdict

REPEATS = 5


def specification(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None
    return found


def median_of(work: Callable[[], float]) -> float:
    return statistics.median(work() for _ in range(REPEATS))


def of_protocol(name: str, depth: int) -> str:
    """All that the protocol states, but for liveness where timers decide about it."""
    found = specification(name)
    protocol = found.protocols[0]
    workload = next(scope.workload for scope in found.scopes if scope.name == "two")
    timer = any(handler.event == "periodically" for handler in protocol.handlers)
    properties = [each for each in properties_of(protocol) if not (timer and each == "delivered")]
    gates = 0

    def work() -> float:
        nonlocal gates
        result = search(protocol, workload, properties, depth, timeout_ms=600_000)
        assert result.depth == depth and not result.violations and not result.undecided
        gates = result.gates
        return result.seconds

    return f"{median_of(work):.2f} s, {depth} steps, {gates:,} gates"


def of_machine(name: str, depth: int) -> str:
    """Every invariant and property of the file's first machine."""
    machine = specification(name).machines[0]
    stated = bounded_statements(machine)

    def work() -> float:
        started = time.perf_counter()
        with SolverPool(2) as pool:
            found = check_machine(ProofSession(pool, Options(timeout_ms=60_000)), machine, stated, Reach(depth))
        assert all(finding.verdict is Verdict.HOLDS for finding in found.values())
        return time.perf_counter() - started

    return f"{median_of(work):.2f} s, {depth} steps, {len(stated)} statements, any number of processes and messages"


MEASURES: dict[str, Callable[[], str]] = {
    "bmc-mf": lambda: of_protocol("mf", 6),
    "bmc-rst": lambda: of_protocol("rst", 5),
    "bmc-cykas": lambda: of_protocol("cykas", 5),
    "bmc-hybrid_basic": lambda: of_protocol("hybrid_basic", 5),
    "bmc-machine-buffers": lambda: of_machine("mf", 6),
    "bmc-machine-permits": lambda: of_machine("hybrid_basic", 6),
}
