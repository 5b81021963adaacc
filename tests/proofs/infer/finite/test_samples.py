"""Random runs go on to new states, and each sample comes with the run to it."""

from __future__ import annotations

from collections.abc import Callable

from thence.dsl import ir
from thence.proofs.infer.finite.samples import Sampler
from thence.proofs.prove import SolverPool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

Specify = Callable[[str], ir.Specification]

HEARING = """
machine hearing:
  delivery off
  sort node
  relation heard(n: node, m: node, k: node)
  transition hear(n: node, m: node, k: node):
    heard(n, m, k) := true
  invariant nothing: forall n, m, k. heard(n, m, k) or not heard(n, m, k)
"""


def test_a_walk_does_not_stay_where_most_steps_change_nothing(specify: Specify, pool: SolverPool) -> None:
    """The first walk reaches most of the 27 facts; all that is heard is heard again for nothing."""
    (machine,) = specify(HEARING).machines
    samples = Sampler(ProofSession(pool, Options(workers=1)), machine, {"node": 3}, 0).more(30, lambda: False)
    deepest = max(range(len(samples.states)), key=lambda number: sum(samples.states[number].tables["heard"].values()))
    assert sum(samples.states[deepest].tables["heard"].values()) >= 24
    run = samples.run_to(deepest)
    assert len(run.steps) == sum(samples.states[deepest].tables["heard"].values())
    assert run.states()[-1].tables == samples.states[deepest].tables
