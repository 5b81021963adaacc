"""Runs against goals: soon, or by the longer search that goes on beside the search for clauses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from thence.dsl import ir
from thence.proofs.infer.budget import Budget
from thence.proofs.infer.finite import goal_runs
from thence.proofs.infer.finite.goal_runs import GoalRuns
from thence.proofs.infer.search import inference
from thence.proofs.infer.search.inference import infer
from thence.proofs.infer.search.outcome import Limits
from thence.proofs.machine.universe import Fitting
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

Specify = Callable[[str], ir.Specification]

LAMPS = """
machine lamps:
  delivery off
  sort lamp
  relation on(l: lamp)
  relation seen(l: lamp)
  transition light(l: lamp):
    require not on(l)
    on(l) := true
  transition see(l: lamp):
    require on(l)
    seen(l) := true
  invariant few: forall a, b, c. seen(a) and seen(b) and seen(c) implies a = b or b = c or a = c
"""


@pytest.mark.parametrize("seconds", [goal_runs.HASTY_S, 0.0])
def test_a_run_is_found_soon_or_later(specify: Specify, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Two lamps are not enough. Without any time, the first search finds nothing, and the longer one does."""
    monkeypatch.setattr(goal_runs, "HASTY_S", seconds)
    (machine,) = specify(LAMPS).machines
    options = Options(workers=1)
    with solver_pool(options) as pool:
        fitting = Fitting(ProofSession(pool, options), machine)
        with GoalRuns(machine, [machine.invariants[0].body], Budget(100.0), fitting) as runs:
            clauses, soon = runs.wait()
            later = runs.violation()
    found = soon or later
    assert (soon is None) == (seconds == 0.0) and found is not None
    number, run = found
    assert number == 0 and len({lamp for action, lamp in run.steps if action.name == "see"}) == 3
    assert clauses.universe["message"] == (2 if soon is None else 3)  # runs of two lamps were searched in time


def test_the_answer_waits_for_the_longer_search(specify: Specify, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither random runs nor the first search find anything, and the search for clauses is stuck; it is refuted."""
    monkeypatch.setattr(goal_runs, "HASTY_S", 0.0)
    monkeypatch.setattr(inference, "STATES", 1)
    monkeypatch.setattr(inference, "few", lambda *_: [])
    (machine,) = specify(LAMPS).machines
    options = Options(workers=1)
    with solver_pool(options) as pool:
        found = infer(ProofSession(pool, options), machine, Limits(100.0), lambda _: None)
    assert found.refuted is not None and found.refuted.name == "few"
