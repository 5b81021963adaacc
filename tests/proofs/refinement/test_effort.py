"""How long solvers are asked about a link of which much is not proved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import pytest
from tests.proofs.refinement.post import POST

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE
from thence.proofs.logic.formula import holds, local
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.machine.prover import proved_set
from thence.proofs.refinement.prover import _HOPELESS, left_at_first, prove_link
from thence.proofs.solving.discharge import Discharge, Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import PATIENCE, Answer, Check, SolverPool, SolverRequest, Worker
from thence.spec.verdict import Verdict

X = ir.Variable("x", MESSAGE)
OPEN = Obligation("open", Signature((MESSAGE,), (), ()), (), ir.NamedFormula("sent", holds("sent", local(X))), (X,))


@dataclass
class Blind:
    """In the place of a session: proves nothing, and keeps how many solvers were asked, how long and about how much."""

    asked: list[tuple[int, int, int]] = field(default_factory=list)
    solvers: int = 2
    limit_ms: int = 10_000

    def within(self, limit_ms: int) -> Blind:
        return replace(self, limit_ms=limit_ms)

    def with_one_solver(self) -> Blind:
        return replace(self, solvers=1)

    def discharge(self, obligations: Sequence[Obligation], *, look_for_models: bool) -> list[Discharge]:
        assert not look_for_models
        self.asked.append((self.solvers, self.limit_ms, len(obligations)))
        return list(map(Discharge, obligations))


@pytest.mark.parametrize(
    ("number", "asked"),
    [(3, [(1, 500, 3), (2, 500, 3), (1, 2_000, 3)]), (_HOPELESS + 1, [(1, 500, _HOPELESS + 1)])],
)
def test_where_much_is_left_nothing_is_asked_for_long(number: int, asked: list[tuple[int, int, int]]) -> None:
    session = Blind()
    left = left_at_first(cast(ProofSession, session), [OPEN] * number)
    assert len(left) == number and session.asked == asked


@pytest.mark.parametrize(
    ("was", "becomes", "fails"),
    [
        ("implies m in read@p", "iff m in read@p", "keeps has_read"),
        ("if m not in read:\n      read.add(m)\n      deliver m", "deliver m", "not delivered(m)"),
    ],
)
def test_what_fails_in_a_finite_state_is_not_asked_about_for_long(
    specify: Callable[[str], ir.Specification], monkeypatch: pytest.MonkeyPatch, was: str, becomes: str, fails: str
) -> None:
    (link,) = specify(POST.replace(was, becomes)).links
    in_vain, ask = list[int](), Worker.ask

    def noted(worker: Worker, request: SolverRequest) -> Answer:
        answer = ask(worker, request)
        if isinstance(request, Check) and answer.status != "unsat":
            in_vain.append(request.timeout_ms)
        return answer

    monkeypatch.setattr(Worker, "ask", noted)
    options = Options(workers=1)
    with SolverPool(options.workers) as pool:
        session = ProofSession(pool, options)
        assessment = prove_link(session, link, proved_set(session, link.machine))
    assert assessment.verdict is Verdict.UNKNOWN and fails in assessment.text
    assert 0 < max(in_vain) < options.timeout_ms * PATIENCE
