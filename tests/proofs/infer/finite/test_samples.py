"""Random runs go on to new states, and each sample comes with the run to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from thence.dsl import ir
from thence.proofs.infer.candidates.rows import rows_of
from thence.proofs.infer.candidates.vocabulary import shown_rows, vocabulary_of
from thence.proofs.infer.finite import samples as module
from thence.proofs.infer.finite.samples import FIRST, Sampler
from thence.proofs.logic.structure import Structure
from thence.proofs.machine.transitions import Action, step
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


def test_no_step_is_computed_twice(specify: Specify, pool: SolverPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two nodes all 256 states are soon known, and walks go on until none of sixty meets a new one."""
    computed = Counter[object]()

    def counted(action: Action, arguments: Sequence[int], state: Structure) -> Structure:
        computed[action.name, tuple(arguments), tuple(state.tables["heard"].values())] += 1
        return step(action, arguments, state)

    monkeypatch.setattr(module, "step", counted)
    (machine,) = specify(HEARING).machines
    sampler = Sampler(ProofSession(pool, Options(workers=1)), machine, {"node": 2}, 0)
    assert len(sampler.more(400, lambda: False).states) == 256
    assert set(computed.values()) == {1} and len(computed) <= 256 * 8


def test_what_runs_have_looked_at_is_what_their_first_states_show(specify: Specify, pool: SolverPool) -> None:
    (machine,) = specify(HEARING).machines
    shows = shown_rows(machine, vocabulary_of(machine, []))
    sampler = Sampler(ProofSession(pool, Options(workers=1)), machine, {"node": 3}, 0, shows)
    states = sampler.more(FIRST + 60, lambda: False).states
    assert len(states) > FIRST and shows
    for template, shown in sampler.shown.items():
        rows = rows_of(template)
        assert shown == set[int]().union(*(rows.shown_in(state, {}) for state in states[:FIRST]))
