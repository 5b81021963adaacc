"""A solver process that is lost is an error with a reason, never an answer."""

from __future__ import annotations

import os
import signal

import pytest

from thence.proofs.bounded.circuit import Circuit
from thence.proofs.bounded.sat import SatSolver, SolverLost, Undecided


def test_a_killed_process() -> None:
    circuit = Circuit()
    literal = circuit.fresh()
    with SatSolver(circuit) as solver:
        assert solver.solve([literal], [], 5_000) is not None
        os.kill(solver.process_id, signal.SIGKILL)
        with pytest.raises(SolverLost, match="died"):
            solver.solve([literal], [], 5_000)


def test_the_time_limit() -> None:
    circuit = Circuit()
    holes, pigeons = 11, 12
    sits = [[circuit.fresh() for _ in range(holes)] for _ in range(pigeons)]
    for row in sits:
        circuit.require(circuit.disj(row))
    for hole in range(holes):
        for one in range(pigeons):
            for other in range(one):
                circuit.require(circuit.disj((-sits[one][hole], -sits[other][hole])))
    with SatSolver(circuit) as solver:
        found = solver.solve([], [], 200)
        assert isinstance(found, Undecided) and found.reason
        assert solver.impossible([sits[0][0]], 200) == frozenset()
