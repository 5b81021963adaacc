"""How long solvers are asked about a link of which much is not proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from thence.dsl import ir
from thence.dsl.ir.types import MESSAGE
from thence.proofs.logic.formula import holds, local
from thence.proofs.logic.obligation import Obligation, Signature
from thence.proofs.refinement.prover import _HOPELESS, left_at_first
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.session import ProofSession

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
