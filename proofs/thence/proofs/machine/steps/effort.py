"""What the first solver proves within a limited effort: attempts, of which the prover then makes proofs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import smt_text
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.finite_models import STEP_SIZES, negated_obligation
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import EFFORT_A_MS, PATIENCE, Check

_SMALL = STEP_SIZES[:6]
"""Structures of one or two messages: most statements that are false are false in one of them."""

EFFORTS = (200_000, 3_000_000)
"""Limits on the search for a stage of a proof without deadlock, in the solver's own measure of effort, so that every
machine finds the same stages. The larger limit is tried where the smaller one finds no stage."""


def easy(session: ProofSession, obligations: Sequence[Obligation], effort: int) -> list[int]:
    """The positions of the obligations that the first solver proves within this effort.

    The larger effort is not spent on what is false in a small structure: no effort proves that.
    """
    little = min(effort, EFFORTS[0])
    proved = _proved_within(session, obligations, range(len(obligations)), little)
    if little < effort:
        left = [number for number in range(len(obligations)) if number not in proved]
        open_ones = [number for number in left if not _false_somewhere(session, obligations[number])]
        proved |= _proved_within(session, obligations, open_ones, effort)
    return sorted(proved)


def _proved_within(
    session: ProofSession, obligations: Sequence[Obligation], numbers: Iterable[int], effort: int
) -> set[int]:
    """Those of these positions whose obligation the first solver proves within this effort."""
    options, asked = session.options, list(numbers)
    checks = [
        Check(
            options.solvers[0],
            smt_text(obligations[number]),
            options.timeout_ms * PATIENCE,
            options.seed,
            effort=min(effort, options.timeout_ms * EFFORT_A_MS[options.solvers[0]]),
        )
        for number in asked
    ]
    return {asked[position] for position, answer in session.pool.answers(checks) if answer.status == "unsat"}


def _false_somewhere(session: ProofSession, obligation: Obligation) -> bool:
    """Whether a small finite structure is found in which the obligation is false, as evaluation confirms."""
    try:
        found = session.find_model(negated_obligation(obligation), _SMALL, least=False)
    except Unsupported:
        return False
    return found.model is not None


def proof_within(session: ProofSession, claim: Obligation, limit_ms: int) -> tuple[Discharge, ...]:
    """The claim, discharged; nothing where the first solver does not prove it within the limit."""
    first = session.silent().within(limit_ms).with_one_solver()
    proved = all_proved(first, (claim,), look_for_models=False)
    return session.discharge((claim,), look_for_models=False) if proved else ()


def all_proved(session: ProofSession, claims: Sequence[Obligation], *, look_for_models: bool = True) -> bool:
    return all(each.proved for each in session.discharge(claims, look_for_models=look_for_models))
