"""Clauses chosen for an obligation by the states in which it fails.

An obligation that does not follow from a few clauses fails in some state. A clause that is false there *denies* this
state. The first such clause is taken, the next state is looked for, and so on, until no small state is left: a proof
rests on few clauses, however many there are. A state that no clause denies says that all of them are not enough. To
find a state takes some hundredths of a second, less than to ask a solver about all clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from thence.proofs.logic.formula import Unsupported
from thence.proofs.logic.obligation import Obligation
from thence.proofs.logic.structure import evaluate
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.finite_models import STEP_SIZES, Model, negated_obligation
from thence.proofs.solving.session import ProofSession

MOST_STATES = 24
"""So many states are denied, one after the other, for one obligation."""

STATE_MS = 100
"""Time limit of the search for a state in one universe."""

SMALL = STEP_SIZES[:6]
"""The universes in which a state is looked for."""

PROOF_MS = 500
"""Time limit of the first solver for the proof from the clauses that were chosen."""


@dataclass(frozen=True, slots=True)
class Denial:
    """What became of an obligation.

    Attributes:
        done: the answer about it with the clauses that were chosen; None where it was not asked.
        chosen: these clauses.
        is_open: whether there is a state in which it fails and no clause is false.
    """

    done: Discharge | None
    chosen: frozenset[str] = frozenset()
    is_open: bool = False


def denied(session: ProofSession, whole: Obligation, clause_of: Callable[[str], str], kept: Collection[str]) -> Denial:
    """The obligation with the clauses `kept` and those that deny the states in which it would fail.

    Args:
        whole: the obligation with all clauses, the simplest first.
        clause_of: the clause that a hypothesis says, or nothing.

    Raises: CrossCheckError where a solver and the evaluator disagree.
    """
    search = session.within(STATE_MS)
    clauses = [clause_of(each.name) for each in whole.hypotheses]
    chosen, denying = frozenset[str](), frozenset[str]()
    for _ in range(MOST_STATES):
        left = [at for at, name in enumerate(clauses) if not name or name in kept or name in chosen]
        smaller = whole.with_only(left)
        model = _state(search, smaller)
        if model is None:
            done = _proof(session, smaller)
            if not done.proved and len(denying) > len(chosen):
                more = [at for at, name in enumerate(clauses) if not name or name in kept or name in denying]
                larger = _proof(session, whole.with_only(more))
                return Denial(larger, denying) if larger.proved else Denial(done, chosen)
            return Denial(done, chosen)
        false = _false(whole, clauses, frozenset((*kept, *chosen)), model)
        if not false:
            return Denial(None, chosen, is_open=True)
        chosen |= {false[0]}
        denying |= frozenset(false)
    return Denial(None, chosen)


def _proof(session: ProofSession, obligation: Obligation) -> Discharge:
    quick = session.within(PROOF_MS).with_one_solver()
    (done,) = quick.discharge([obligation], look_for_models=False, groups=[""], core="first")
    return done


def _state(session: ProofSession, obligation: Obligation) -> Model | None:
    """A small state in which the obligation fails, if one is found."""
    try:
        return session.find_model(negated_obligation(obligation), SMALL, least=False).model
    except Unsupported:
        return None


def _false(whole: Obligation, clauses: list[str], known: frozenset[str], model: Model) -> list[str]:
    """The clauses besides those known that are false in a state, in their order."""
    return [
        name
        for name, each in zip(clauses, whole.hypotheses, strict=True)
        if name and name not in known and not evaluate(each.body, model.structure, model.environment)
    ]
