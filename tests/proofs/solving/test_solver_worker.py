"""The process that solvers run in: its limits count its own processor time."""

from __future__ import annotations

from itertools import combinations
from threading import Event
from typing import Any

import pytest

from thence.proofs.certificate.alethe_worker import proof_of
from thence.proofs.certificate.instances.worker import instances_used
from thence.proofs.infer.finite.worker import Solvers
from thence.proofs.solving import solver_worker
from thence.proofs.solving.solver_worker import answer, interrupted_after

SITS = [[f"p{pigeon}_{hole}" for hole in range(6)] for pigeon in range(7)]
"""Seven pigeons do not fit into six holes. To find that takes solvers more than a millisecond."""

NAMES = [name for row in SITS for name in row]

ASSERTIONS = [
    *(f"(or {' '.join(row)})" for row in SITS),
    *(f"(not (and {one} {other}))" for hole in zip(*SITS, strict=True) for one, other in combinations(hole, 2)),
]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The processor time of this process: one number, which only the test changes."""
    now = [0.0]
    monkeypatch.setattr(solver_worker.time, "process_time", lambda: now[0])
    return now


def test_a_block_is_interrupted_once_its_processor_time_is_over(clock: list[float]) -> None:
    said = Event()
    with interrupted_after(1.0, said.set) as is_late:
        assert not said.wait(10 * solver_worker.LOOK_S) and not is_late()
        clock[0] = 1.0
        assert said.wait(60.0) and is_late()
    said.clear()
    assert not said.wait(10 * solver_worker.LOOK_S)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_a_question_that_gets_no_processor_is_not_given_up(name: str) -> None:
    declared = "".join(f"(declare-const {each} Bool)" for each in NAMES)
    text = f"(set-logic ALL){declared}{''.join(f'(assert {each})' for each in ASSERTIONS)}(check-sat)"
    request = {"id": 1, "solver": name, "text": text, "seed": 0, "timeout_ms": 1}
    assert answer(request)["status"] == "unsat"


@pytest.mark.usefixtures("clock")
def test_a_search_that_gets_no_processor_is_not_given_up() -> None:
    request = searched(timeout_ms=1)
    assert (request["status"], request["models"]) == ("done", {})


def test_a_search_whose_time_is_over_asks_nothing_more() -> None:
    assert searched(timeout_ms=0) == {"id": 1, "status": "unknown", "reason": "timeout", "models": {}}


def searched(timeout_ms: int) -> dict[str, Any]:
    stage = {"assertions": ASSERTIONS, "goals": {"goal": NAMES[0]}}
    constants = dict.fromkeys(NAMES, "Bool")
    return answer(
        {"id": 1, "constants": constants, "stages": [stage], "minimise": [], "timeout_ms": timeout_ms, "seed": 0}
    )


@pytest.mark.usefixtures("clock")
def test_a_finite_problem_that_gets_no_processor_is_not_given_up() -> None:
    asked = {"solver": 1, "constants": dict.fromkeys(NAMES, "Bool"), "assertions": ASSERTIONS, "assume": []}
    assert Solvers().answer({"id": 1, **asked, "values": [], "timeout_ms": 1})["status"] == "unsat"


@pytest.mark.usefixtures("clock")
def test_proofs_that_get_no_processor_are_not_given_up() -> None:
    declared = "".join(f"(declare-const {each} Bool)" for each in NAMES)
    hard = "".join(f"(assert {each})" for each in ASSERTIONS)
    pigeons = f"(set-logic UF){declared}{hard}(check-sat)"
    assert "assume" in (proof_of(pigeons, timeout_ms=1) or "")
    sort = "(declare-sort S 0)(declare-fun f (S) Bool)(declare-const a S)"
    every = "(assert (forall ((x S)) (! (f x) :qid every :pattern ((f x)))))(assert (not (f a)))"
    assert instances_used(f"{declared}{hard.replace('p6_5', 'false')}{sort}{every}", timeout_ms=1, seed=0)
