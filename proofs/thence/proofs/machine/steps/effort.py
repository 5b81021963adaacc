"""What the first solver proves within a limited effort: attempts, of which the prover then makes proofs.

NOTE(as certified): several ways may lead to a proof, and the first one that is found is taken. On a busy machine that
may be another one, so a certificate that is checked again decides: what it has is proved, and no other way is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.smt import Written, smt_text
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.finite_models import STEP_SIZES, negated_obligation
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import EFFORT_A_MS, PATIENCE, Check

Shows: TypeAlias = Callable[[Sequence[Obligation]], bool]
"""Whether all of some claims are proved, as far as one looks."""

_SMALL = STEP_SIZES[:6]
"""Structures of one or two messages: most statements that are false are false in one of them."""

EFFORTS = (100_000, 3_000_000)
"""Limits on the search for a stage of a proof without deadlock, in the solver's own measure of effort, so that every
machine finds the same stages. The larger limit is tried where the smaller one finds no stage. Stages that can be proved
need 40,000 as a rule; most others are false, which Z3 finds out at no effort."""


def easy(session: ProofSession, obligations: Sequence[Obligation], effort: int, little: int = EFFORTS[0]) -> list[int]:
    """The positions of the obligations that the first solver proves within this effort.

    More than a little effort is not spent on what is false in a small structure: no effort proves that.
    """
    little = min(effort, little)
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
    options, asked, written = session.options, list(numbers), Written()
    checks = [
        Check(
            options.solvers[0],
            smt_text(obligations[number], written=written),
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


def attempt(session: ProofSession, limit_ms: int, *, look_for_models: bool = False) -> Shows:
    """Whether the first solver proves claims within the limit; or a certificate has them, see NOTE(as certified)."""
    if session.as_certified:
        return partial(_certified, session)
    return partial(all_proved, session.silent().within(limit_ms).with_one_solver(), look_for_models=look_for_models)


def _certified(session: ProofSession, claims: Sequence[Obligation]) -> bool:
    """Whether the certificate that is checked again has all claims, and some solver has proved each."""
    memory, options = session.pool.memory, session.options
    assert memory is not None
    for claim in claims:
        text = smt_text(claim)
        asked = (Check.within(solver, text, options.timeout_ms, options.seed) for solver in options.solvers)
        answers = [answer for answer in map(memory.recall, asked) if answer is not None]
        if not claim.by_frame and all(answer.status != "unsat" for answer in answers):
            return False
    return True


def proof_within(session: ProofSession, claim: Obligation, limit_ms: int) -> tuple[Discharge, ...]:
    """The claim, discharged; nothing where an `attempt` does not show it within the limit."""
    shown = attempt(session, limit_ms)((claim,))
    return session.discharge((claim,), look_for_models=False) if shown else ()


def all_proved(session: ProofSession, claims: Sequence[Obligation], *, look_for_models: bool = True) -> bool:
    return all(each.proved for each in session.discharge(claims, look_for_models=look_for_models))
